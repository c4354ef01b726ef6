package agenttool

import (
	"context"
	"strings"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
	"github.com/goliathfs/goliathfs/vfs/revision"
)

// What the tools that change files have in common.

// writable checks a path to be changed. It refuses a read-only place before
// anything else is looked at: a model that is first sent to read the file again
// learns in the end that it cannot be changed.
func (c *call) writable(ctx context.Context, path string) (string, error) {
	clean, err := c.file(path)
	if err != nil {
		return "", err
	}
	route, err := vfs.RouteOf(ctx, c.b, clean)
	if err == nil && !route.Writable {
		err = vfs.ErrReadOnly
	}
	if err != nil { // perhaps it cannot be reached: then another path is the wrong way out
		return "", c.fail(ctx, clean, err)
	}
	return clean, nil
}

// change checks the arguments of a tool that changes an existing file.
func (c *call) change(ctx context.Context, path string, rev vfs.Revision) (string, error) {
	clean, err := c.writable(ctx, path)
	if err == nil && rev == "" {
		err = refuse(codes.InvalidArgument, "revision is empty, send the revision that a read of %s shows", clean)
	}
	return clean, err
}

// replace writes, once it is sure that the result fits the budget: refusing
// after the write would look as if nothing had been written.
func (c *call) replace(ctx context.Context, path, content string, expected vfs.Revision) (Result, error) {
	out := &WriteOutput{Path: path, Revision: vfs.Revision(strings.Repeat("0", revision.Len))}
	if err := c.fits(out.text(), path); err != nil {
		return Result{}, err
	}
	info, err := vfs.Write(ctx, c.b, path, content, expected)
	switch CodeOf(err) {
	case "":
	case codes.Conflict:
		return Result{}, &Error{codes.Conflict, c.whyConflict(ctx, path, expected), err}
	case codes.NotText:
		return Result{}, &Error{codes.NotText, "the new content of " + path + " is not valid UTF-8, send text", err}
	default:
		return Result{}, c.fail(ctx, path, err)
	}
	out.Revision = info.Revision
	return c.single(out)
}

func (c *call) whyConflict(ctx context.Context, path string, expected vfs.Revision) string {
	_, err := vfs.Stat(ctx, c.b, path)
	switch {
	case expected == "":
		return path + " exists already, read it and send its revision to replace it, or choose another path"
	case CodeOf(err) == codes.NotFound:
		return path + " does not exist any more, omit the revision to create it"
	}
	return path + " is at another revision, read it again and use the revision it has now"
}

// fits refuses a result that would exceed the budget.
func (c *call) fits(text, path string) error {
	n, err := c.tokens(text)
	if err == nil && n > c.budget {
		err = refuse(codes.BudgetTooSmall, "a result of %d tokens cannot name %s, tell the user to raise the budget", c.budget, path)
	}
	return err
}
