package transfer

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/goliathfs/goliathfs/vfs"
)

// Kind says how a file differs.
type Kind string

// The kinds.
const (
	Same    Kind = "same"
	Changed Kind = "changed"
	OnlyA   Kind = "only-a"
	OnlyB   Kind = "only-b"
	Unread  Kind = "unread" // one side cannot be read; see Change.Reason
)

// Change is how one file differs.
type Change struct {
	Path   string
	Kind   Kind
	A, B   string // contents, "" on the side that lacks the file
	Reason string // of Unread
}

// Diff calls fn for every file of two stores but those to skip, nil for none, in order,
// and ends with the first error of fn, of a listing or of ctx.
func Diff(ctx context.Context, a, b vfs.Backend, skip func(path string) bool, fn func(Change) error) error {
	for p, err := range pairs(ctx, a, b, skip) {
		if err != nil {
			return err
		}
		change, err := compare(ctx, a, b, p)
		if err != nil {
			return err
		}
		if err := fn(change); err != nil {
			return err
		}
	}
	return nil
}

func compare(ctx context.Context, a, b vfs.Backend, p pair) (Change, error) {
	c := Change{Path: p.path}
	contentA, errA := read(ctx, a, p.a)
	contentB, errB := read(ctx, b, p.b)
	if err := errors.Join(errA, errB); err != nil {
		if ctx.Err() != nil {
			return c, ctx.Err()
		}
		first := errA
		if first == nil {
			first = errB
		}
		c.Kind, c.Reason = Unread, Reason(first)
		return c, nil
	}
	c.A, c.B = contentA, contentB
	switch {
	case p.b == nil:
		c.Kind = OnlyA
	case p.a == nil:
		c.Kind = OnlyB
	case contentA == contentB:
		c.Kind = Same
	default:
		c.Kind = Changed
	}
	return c, nil
}

func read(ctx context.Context, b vfs.Backend, info *vfs.Info) (string, error) {
	if info == nil {
		return "", nil
	}
	f, err := vfs.Read(ctx, b, info.Path)
	return f.Content, err
}

// Unified returns the change as a unified diff, nil when the contents are equal.
func (c Change) Unified() []byte {
	nameA, nameB := "a"+c.Path, "b"+c.Path
	switch c.Kind {
	case OnlyA:
		nameB = "/dev/null"
	case OnlyB:
		nameA = "/dev/null"
	}
	text := diff.Diff(nameA, []byte(c.A), nameB, []byte(c.B))
	if !strings.Contains(c.Path, " ") {
		return text
	}
	// A name ends at a blank for patch, unless a TAB stands behind it.
	for _, line := range []string{"--- " + nameA + "\n", "+++ " + nameB + "\n"} {
		text = bytes.Replace(text, []byte(line), []byte(strings.TrimSuffix(line, "\n")+"\t\n"), 1)
	}
	return text
}

// Lines returns how many lines B has that A has not, and the reverse.
func (c Change) Lines() (added, removed int) {
	text := c.Unified()
	if i := bytes.Index(text, []byte("\n@@")); i >= 0 {
		text = text[i:]
	}
	return bytes.Count(text, []byte("\n+")), bytes.Count(text, []byte("\n-"))
}
