package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/internal/reason"
	"github.com/goliathfs/goliathfs/internal/regular"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// draft is a file of this machine in which a person edits. It is in a folder of its
// own, among what the user's programs keep, so that it outlives this process.
type draft struct{ name string }

// newDraft makes a draft of the file at a path, with a name that an editor knows it by.
func newDraft(path, content string) (*draft, error) {
	dir, err := draftDir()
	if err != nil {
		return nil, fmt.Errorf("there is no place for the text to edit: %w", reason.Of(err))
	}
	d := &draft{filepath.Join(dir, draftName(path))}
	if err := os.WriteFile(d.name, []byte(content), 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("the text to edit cannot be written to %s: %w", d.name, reason.Of(err)), os.RemoveAll(dir))
	}
	return d, nil
}

// draftDir makes a folder that no one else looks into.
func draftDir() (string, error) {
	state, err := stateDir()
	if err == nil {
		state = filepath.Join(state, "edits")
		err = os.MkdirAll(state, 0o700)
	}
	if err != nil {
		state = "" // the folder for temporary files
	}
	return os.MkdirTemp(state, "edit-")
}

// mostDraftName is how many bytes of a name an editor needs to see.
const mostDraftName = 100

// draftName returns the last segment of a path as a name that means nothing to a
// program but the kind of the file: names that editors obey begin with a dot.
func draftName(path string) string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-", r) {
			return r
		}
		return '_'
	}, vpath.Base(path))
	for len(name) > mostDraftName { // its end tells its kind
		_, size := utf8.DecodeRuneInString(name)
		name = name[size:]
	}
	if name = strings.TrimLeft(name, ".-"); name == "" {
		return "text"
	}
	return name
}

// edit runs the editor, a command of the shell, and waits for its end.
func (d *draft) edit(cmd *cobra.Command, editor string) error {
	err := runProgram(cmd, editor, d.name)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return fmt.Errorf("the editor %q failed (%v), so nothing was written: set VISUAL or EDITOR to one that works", editor, exit)
	}
	return err
}

// read returns the text that the editor has left.
func (d *draft) read() (string, error) {
	info, err := os.Stat(d.name)
	if err != nil {
		return "", err
	}
	if info.Size() > maxStdin {
		return "", fmt.Errorf("%s is longer than %d bytes, make it shorter", d.name, maxStdin)
	}
	data, err := regular.Read(d.name)
	return string(data), err
}

// discard removes the draft and what the editor has left beside it.
func (d *draft) discard() { _ = os.RemoveAll(filepath.Dir(d.name)) } // what stays harms no one
