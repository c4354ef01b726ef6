package replay

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goliathfs/goliathfs/agentsim/internal/scenario"
	"github.com/goliathfs/goliathfs/vfs"
)

// Unmet is an expectation that does not hold.
type Unmet struct {
	Message string
	Looked  string // what the expectation looked in
	Title   string // of Looked; "" means that it looked in that
}

// Error returns the message.
func (u *Unmet) Error() string { return u.Message }

// CheckParts looks in a text for what it must contain and lack. What says which
// text it is, option how scenario.yaml names the expectation.
func CheckParts(what, option, text string, contains, lacks scenario.Texts) error {
	for _, part := range contains {
		if !strings.Contains(text, part) {
			return &Unmet{Message: fmt.Sprintf("%s does not contain %q, as %s.contains asks", what, part, option), Looked: text}
		}
	}
	for _, part := range lacks {
		if strings.Contains(text, part) {
			return &Unmet{Message: fmt.Sprintf("%s contains %q, where %s.lacks asks that it does not", what, part, option), Looked: text}
		}
	}
	return nil
}

// CheckText compares a text with what is expected of it.
func CheckText(what, option, text string, want scenario.Text) error {
	if want.Text != nil && text != *want.Text {
		return &Unmet{Message: fmt.Sprintf("%s is %q where %s is %q", what, clip(text), option, clip(*want.Text)), Looked: text}
	}
	return CheckParts(what, option, text, want.Contains, want.Lacks)
}

// clip shortens a text for a sentence; what it looked in is shown below it.
func clip(text string) string {
	const most = 200
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// CheckFiles compares the files that a conversation sees with what is expected
// of them.
func (w *World) CheckFiles(ctx context.Context, conversation string, want map[string]scenario.FileText) error {
	if len(want) == 0 {
		return nil
	}
	view, err := w.View(ctx, conversation)
	if err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(want)) {
		expected := want[path]
		f, err := vfs.Read(ctx, view, path)
		switch missing := errors.Is(err, vfs.ErrNotFound); {
		case err != nil && !missing:
			return expected.Pos.At(fmt.Errorf("expect.files: %w", err))
		case missing && expected.Absent:
			continue
		case missing:
			return &Unmet{Message: fmt.Sprintf("there is no file %s, where expect.files names its text", path)}
		case expected.Absent:
			return &Unmet{Message: fmt.Sprintf("the file %s is there, where expect.files says absent", path), Looked: f.Content}
		}
		text := scenario.Text{Text: expected.Text, Contains: expected.Contains, Lacks: expected.Lacks}
		if err := CheckText("the file "+path, "expect.files", f.Content, text); err != nil {
			return err
		}
	}
	return nil
}
