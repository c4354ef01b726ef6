package golden

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/goliathfs/goliathfs/agentsim/internal/archive"
)

// File is a file of the stores at the end of a replay, as a golden has it.
type File struct {
	Path         string
	Content      string
	Conversation string // of a store per conversation, "" for the default one
	Shared       bool   // it is in a store that all conversations share
	Seeded       bool   // it is as the scenario seeded it, and too large to repeat: Content is ""
}

// goldenMark is how every golden starts.
const goldenMark = "What scenario "

const (
	fileMark         = "file "
	conversationMark = " of conversation "
)

// Files returns the files that a golden shows, in its order.
func Files(golden []byte) ([]File, error) {
	comment, entries, err := archive.Parse(golden)
	if err == nil && !strings.HasPrefix(comment, goldenMark) {
		err = fmt.Errorf("it does not start with %q", goldenMark)
	}
	if err != nil {
		return nil, fmt.Errorf("this is no golden: %w", err)
	}
	var files []File
	for _, e := range entries {
		name, ok := strings.CutPrefix(e.Name, fileMark)
		if !ok {
			continue
		}
		path, conversation, perConversation := strings.Cut(name, conversationMark+`"`)
		f := File{Content: e.Text, Shared: !perConversation}
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

// AddFile adds a file as the stores hold it at the end. The conversation is that
// of a store per conversation, nil for one that all share; a large file that is
// as it was seeded is not repeated.
func (t *Transcript) AddFile(path, content string, conversation *string, seeded bool) {
	name := fileMark + archive.Word(path)
	if conversation != nil {
		name += fmt.Sprintf("%s%+q", conversationMark, *conversation)
	}
	if seeded && len(content) > maxSeedShown {
		content = fmt.Sprintf("%s%d bytes.\n", seededMark, len(content))
	}
	t.Add(name, content)
}

// maxSeedShown is the greatest size, in bytes, of an unchanged seed that a
// golden repeats.
const maxSeedShown = 2048
