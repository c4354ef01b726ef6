package agentsim

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/goliathfs/goliathfs/agentsim/internal/archive"
)

// GoldenFile is a file of the stores at the end of a replay, as a golden has it.
type GoldenFile struct {
	Path         string
	Content      string
	Conversation string // of a store per conversation, "" for the default one
	Shared       bool   // it is in a store that all conversations share
	Seeded       bool   // it is as the scenario seeded it, and too large to repeat: Content is ""
}

// goldenMark is how every golden starts.
const goldenMark = "What scenario "

const conversationMark = " of conversation "

// GoldenFiles returns the files that a golden shows, in its order.
func GoldenFiles(golden []byte) ([]GoldenFile, error) {
	comment, entries, err := archive.Parse(golden)
	if err == nil && !strings.HasPrefix(comment, goldenMark) {
		err = fmt.Errorf("it does not start with %q", goldenMark)
	}
	if err != nil {
		return nil, fmt.Errorf("this is no golden: %w", err)
	}
	var files []GoldenFile
	for _, e := range entries {
		name, ok := strings.CutPrefix(e.Name, "file ")
		if !ok {
			continue
		}
		path, conversation, perConversation := strings.Cut(name, conversationMark+`"`)
		f := GoldenFile{Content: e.Text, Shared: !perConversation}
		if perConversation {
			if f.Conversation, err = strconv.Unquote(`"` + conversation); err != nil {
				return nil, fmt.Errorf("the entry %q names no conversation: %w", e.Name, err)
			}
		}
		if f.Path = path; strings.HasPrefix(path, `"`) {
			if f.Path, err = strconv.Unquote(path); err != nil {
				return nil, fmt.Errorf("the entry %q names no path: %w", e.Name, err)
			}
		}
		if len(f.Content) < len(seededMark)+32 && strings.HasPrefix(f.Content, seededMark) {
			f.Content, f.Seeded = "", true
		}
		files = append(files, f)
	}
	return files, nil
}

// seededMark begins the text that stands for a large seed.
const seededMark = "As it was seeded: "
