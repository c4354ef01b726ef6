package agenttool

import "github.com/goliathfs/goliathfs/vfs"

// Result is what one call gives.
type Result[O Output] struct {
	Output O
	Text   string // what the model sees
	Tokens int    // of Text, by the counter in force
}

// Output is the structured result of a tool: GlobOutput, GrepOutput,
// ReadOutput, WriteOutput or DeleteOutput. Its JSON has the field order that the
// model sees.
type Output interface {
	// Next returns the cursor of the next page, "" when there is none.
	Next() string
}

// GlobInput are the arguments of glob.
type GlobInput struct {
	Pattern string
	Cursor  string // "" for the first page
}

// GrepInput are the arguments of grep.
type GrepInput struct {
	Pattern       string
	Path          string // "" for everything below the root
	CaseSensitive bool   // the JSON argument is its opposite, ignoreCase
	Cursor        string // "" for the first page
}

// ReadInput are the arguments of readFile.
type ReadInput struct {
	Path   string
	Offset *int   // zero-based line; nil for the start
	Limit  *int   // lines; nil for the default
	Cursor string // "" for a new read
}

// WriteInput are the arguments of writeFile.
type WriteInput struct {
	Path     string
	Content  string
	Revision *vfs.Revision // nil to create
}

// EditInput are the arguments of editFile.
type EditInput struct {
	Path     string
	Revision vfs.Revision
	OldText  string
	NewText  string
}

// DeleteInput are the arguments of deleteFile.
type DeleteInput struct {
	Path     string
	Revision vfs.Revision
}

// GlobMatch is one file that glob found.
type GlobMatch struct {
	Path     string       `json:"path"`
	Revision vfs.Revision `json:"revision"`
}

// GlobOutput is a page of glob.
type GlobOutput struct {
	Matches    []GlobMatch `json:"matches"`
	NextCursor *string     `json:"nextCursor"`
}

// GrepMatch is one line that grep found.
type GrepMatch struct {
	Path     string       `json:"path"`
	Revision vfs.Revision `json:"revision"`
	Line     int          `json:"line"`    // one-based
	Excerpt  string       `json:"excerpt"` // at most 100 code points around the first hit
}

// GrepOutput is a page of grep.
type GrepOutput struct {
	Matches    []GrepMatch `json:"matches"`
	NextCursor *string     `json:"nextCursor"`
	// Skipped names files that could not be searched, such as one whose bytes are
	// not text.
	Skipped []string `json:"skipped,omitempty"`
}

// ReadOutput is an excerpt of a file.
type ReadOutput struct {
	Path       string       `json:"path"`
	Revision   vfs.Revision `json:"revision"`
	Line       int          `json:"line"`      // one-based line of the first character
	Continued  bool         `json:"continued"` // the excerpt starts inside that line
	Content    string       `json:"content"`
	NextCursor *string      `json:"nextCursor"`
}

// WriteOutput is the result of writeFile and editFile.
type WriteOutput struct {
	Path     string       `json:"path"`
	Revision vfs.Revision `json:"revision"`
}

// DeleteOutput is the result of deleteFile.
type DeleteOutput struct {
	Path    string `json:"path"`
	Deleted bool   `json:"deleted"` // always true
}

// Next implements Output.
func (o *GlobOutput) Next() string { return deref(o.NextCursor) }

// Next implements Output.
func (o *GrepOutput) Next() string { return deref(o.NextCursor) }

// Next implements Output.
func (o *ReadOutput) Next() string { return deref(o.NextCursor) }

// Next implements Output: a write has one page.
func (o *WriteOutput) Next() string { return "" }

// Next implements Output: a delete has one page.
func (o *DeleteOutput) Next() string { return "" }

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
