package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/internal/reason"
	"github.com/goliathfs/goliathfs/internal/regular"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/leftout"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

// goldenScheme names the files that a golden shows, for diff alone.
const goldenScheme = "golden:"

// errSeeded is why a golden leaves a file out.
var errSeeded = errors.New("the golden does not repeat it, it is as the scenario seeds it")

// openGolden returns the files of golden:FILE or golden:FILE?conversation=ID, and
// what the golden does not repeat.
func openGolden(raw string) (vfs.Backend, []leftout.Entry, error) {
	name, query, hasQuery := strings.Cut(strings.TrimPrefix(raw, goldenScheme), "?")
	conversation, isConversation := strings.CutPrefix(query, "conversation=")
	if name == "" || hasQuery && !isConversation {
		return nil, nil, usagef("%q is no golden, write golden:FILE or golden:FILE?conversation=ID", raw)
	}
	data, err := regular.Read(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, fmt.Errorf("there is no golden %s, name the file of one", name)
	case errors.Is(err, syscall.EISDIR):
		return nil, nil, fmt.Errorf("%s is a directory, name the golden of one scenario in it", name)
	case err != nil:
		return nil, nil, fmt.Errorf("the golden %s cannot be read, name another one or look at its rights: %w", name, reason.Of(err))
	}
	found, err := agentsim.GoldenFiles(data)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	files := map[string]string{}
	var seeded []leftout.Entry
	for _, f := range found {
		switch {
		case !f.Shared && f.Conversation != conversation:
		case f.Seeded:
			seeded = append(seeded, leftout.Entry{Path: f.Path, Err: errSeeded})
		default:
			files[f.Path] = f.Content
		}
	}
	b, err := memfs.New(files, nil)
	return b, seeded, err
}
