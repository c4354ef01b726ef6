package agenttool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// file checks a path argument that must name a file inside the root.
func (c *call) file(path string) (string, error) {
	clean, err := vpath.CleanFile(path)
	if err != nil {
		return "", badPath(path, err)
	}
	return clean, c.inside(clean)
}

func (c *call) inside(path string) error {
	if !vpath.Within(path, c.opts.Root) {
		return refuse(codes.OutsideRoot, "%s is outside %s, use a path at or below that", path, c.opts.Root)
	}
	return nil
}

func badPath(path string, err error) error {
	return &Error{codes.InvalidPath, fmt.Sprintf("%s is no usable path (%s), send an absolute path such as /notes/today.md", quoted(path), cause(err)), err}
}

// quoted shortens what a model sent for a message, so that a message stays one.
func quoted(sent string) string {
	if r := []rune(sent); len(r) > 60 {
		sent = string(r[:60]) + "…"
	}
	return fmt.Sprintf("%q", sent)
}

// read returns a file whose content is text.
func (c *call) read(ctx context.Context, path string) (vfs.File, error) {
	f, err := vfs.Read(ctx, c.b, path)
	if err == nil && !utf8.ValidString(f.Content) {
		err = vfs.ErrNotText
	}
	if err != nil {
		return vfs.File{}, c.fail(ctx, path, err)
	}
	return f, nil
}

// fail turns an error about one file into what a model can act on.
func (c *call) fail(ctx context.Context, path string, err error) error {
	var message string
	code := codes.Code(vfs.Code(err))
	switch code {
	case codes.NotFound:
		message = c.missing(ctx, path)
	case codes.Conflict:
		message = path + " is at another revision, read it again and use the revision it has now"
	case codes.ReadOnly:
		message = path + " cannot be changed, write to another path"
	case codes.NotText:
		message = path + " is not text, choose another file"
	case codes.TooLarge:
		message = path + " is larger than the store allows, split it into several files"
	case codes.Canceled:
		message = "the call was canceled, do not go on"
	case codes.InvalidPath:
		return badPath(path, err)
	case codes.InvalidArgument:
		message = fmt.Sprintf("%s was refused (%s), change the arguments", path, cause(err))
	default:
		code = codes.Store
		message = fmt.Sprintf("the store failed on %s (%s), try once more, then tell the user", path, cause(err))
	}
	return &Error{code, message, err}
}

// cause returns the words of an error without operation and path, on one line.
func cause(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}

// missing says why a file may not be where the model looked.
func (c *call) missing(ctx context.Context, path string) string {
	page, err := vfs.List(ctx, c.b, path, vfs.ListOptions{Limit: 1})
	if err == nil && len(page.Files) > 0 {
		return path + " is a directory, find the files below it with glob"
	}
	for _, form := range []norm.Form{norm.NFC, norm.NFD} {
		other := form.String(path)
		if other == path {
			continue
		}
		if _, err := vfs.Stat(ctx, c.b, other); err == nil {
			return fmt.Sprintf("there is no file at %s spelled this way, but one of the same look whose accents are encoded otherwise, copy its path from glob", path)
		}
	}
	return "there is no file at " + path + ", find the right path with glob"
}
