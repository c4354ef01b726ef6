package agentsim

import (
	"github.com/goliathfs/goliathfs/agentsim/internal/golden"
	"github.com/goliathfs/goliathfs/agentsim/internal/library"
)

// Difference is the first thing in which a transcript and its golden differ.
type Difference struct {
	Step   string   // the step, as the golden names it
	Before []string // the steps before it, which agree
	Later  int      // how many steps after it differ too
	// Text is for people: what was expected and what came, as a unified
	// difference with invisible characters made visible.
	Text string
}

// Compare compares a golden's bytes with the bytes of a replay's
// Transcript.Golden. It returns nil when they say the same, and an error when
// the golden cannot be read.
func Compare(want, got []byte) (*Difference, error) {
	d, err := golden.Compare(want, got)
	return (*Difference)(d), err
}

// ReadGolden returns the bytes of a golden file. The error of one that is not
// there matches fs.ErrNotExist and says how to write it.
func ReadGolden(path string) ([]byte, error) { return library.ReadGolden(path) }

// WriteGolden writes a golden file and the directories above it, and reports
// whether it changed: a checkout with CRLF line ends says the same. A reader and
// an interrupted run see the old one or the new one.
func WriteGolden(path string, data []byte) (changed bool, err error) {
	return library.WriteGolden(path, data)
}

// GoldenFile is a file of the stores at the end of a replay, as a golden has it.
type GoldenFile struct {
	Path         string
	Content      string
	Conversation string // of a store per conversation, "" for the default one
	Shared       bool   // it is in a store that all conversations share
	Seeded       bool   // it is as the scenario seeded it, and too large to repeat: Content is ""
}

// GoldenFiles returns the files that a golden shows, in its order.
func GoldenFiles(data []byte) ([]GoldenFile, error) {
	files, err := golden.Files(data)
	var out []GoldenFile
	for _, f := range files {
		out = append(out, GoldenFile(f))
	}
	return out, err
}
