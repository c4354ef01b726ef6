package agenttool

import (
	"strings"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/revision"
)

func (c *call) writeFile(in WriteInput) (Result[*WriteOutput], error) {
	path, err := c.writable(in.Path)
	if err != nil {
		return Result[*WriteOutput]{}, err
	}
	var expected vfs.Revision
	if in.Revision != nil {
		if expected = *in.Revision; expected == "" {
			return Result[*WriteOutput]{}, refuse(CodeInvalidArgument, "revision is empty, omit it to create %s or send the revision that a read of it shows", path)
		}
	}
	return c.replace(path, in.Content, expected)
}

func (c *call) deleteFile(in DeleteInput) (Result[*DeleteOutput], error) {
	var none Result[*DeleteOutput]
	path, err := c.change(in.Path, in.Revision)
	if err != nil {
		return none, err
	}
	out := &DeleteOutput{Path: path, Deleted: true}
	if err := c.fits(out.text(), path); err != nil {
		return none, err
	}
	if err := vfs.Remove(c.ctx, c.b, path, in.Revision); err != nil {
		return none, c.fail(path, err)
	}
	return single(c, out)
}

// writable checks a path to be changed. It refuses a read-only place before
// anything else is looked at: a model that is first sent to read the file again
// learns in the end that it cannot be changed.
func (c *call) writable(path string) (string, error) {
	clean, err := c.file(path)
	if err != nil {
		return "", err
	}
	route, err := vfs.RouteOf(c.ctx, c.b, clean)
	if err == nil && !route.Writable {
		err = vfs.ErrReadOnly
	}
	if err != nil { // perhaps it cannot be reached: then another path is the wrong way out
		return "", c.fail(clean, err)
	}
	return clean, nil
}

// change checks the arguments of a tool that changes an existing file.
func (c *call) change(path string, rev vfs.Revision) (string, error) {
	clean, err := c.writable(path)
	if err == nil && rev == "" {
		err = refuse(CodeInvalidArgument, "revision is empty, send the revision that a read of %s shows", clean)
	}
	return clean, err
}

// replace writes, once it is sure that the result fits the budget: refusing
// after the write would look as if nothing had been written.
func (c *call) replace(path, content string, expected vfs.Revision) (Result[*WriteOutput], error) {
	out := &WriteOutput{Path: path, Revision: vfs.Revision(strings.Repeat("0", revision.Len))}
	if err := c.fits(out.text(), path); err != nil {
		return Result[*WriteOutput]{}, err
	}
	info, err := vfs.Write(c.ctx, c.b, path, content, expected)
	switch CodeOf(err) {
	case "":
	case CodeConflict:
		return Result[*WriteOutput]{}, &Error{CodeConflict, c.whyConflict(path, expected), err}
	case CodeNotText:
		return Result[*WriteOutput]{}, &Error{CodeNotText, "the new content of " + path + " is not valid UTF-8, send text", err}
	default:
		return Result[*WriteOutput]{}, c.fail(path, err)
	}
	out.Revision = info.Revision
	return single(c, out)
}

func (c *call) whyConflict(path string, expected vfs.Revision) string {
	_, err := vfs.Stat(c.ctx, c.b, path)
	switch {
	case expected == "":
		return path + " exists already, read it and send its revision to replace it, or choose another path"
	case CodeOf(err) == CodeNotFound:
		return path + " does not exist any more, omit the revision to create it"
	}
	return path + " is at another revision, read it again and use the revision it has now"
}

// fits refuses a result that would exceed the budget.
func (c *call) fits(text, path string) error {
	n, err := c.tokens(text)
	if err == nil && n > c.budget {
		err = refuse(CodeBudgetTooSmall, "a result of %d tokens cannot name %s, tell the user to raise the budget", c.budget, path)
	}
	return err
}
