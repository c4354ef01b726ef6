package agenttool

import (
	"context"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
)

// WriteFile is the name of the tool that creates or replaces a file.
const WriteFile = "writeFile"

type writeTool struct{}

func (writeTool) spec() spec {
	return spec{WriteFile, "Create a file, or replace one whose current revision is given.", true, []param{
		{"path", "string", "Absolute path of the file.", true},
		{"content", "string", "The whole new content.", true},
		{"revision", "string", "The file's current revision; omit it to create a file.", false},
	}, writeOutputSchema}
}

// WriteOutput is the result of writeFile and editFile.
type WriteOutput struct {
	Path     string       `json:"path"`
	Revision vfs.Revision `json:"revision"`
}

const writeOutputSchema = `{"type":"object","properties":{` + fileProps + `},"required":["path","revision"]}`

// Next implements Output: a write has one page.
func (o *WriteOutput) Next() string { return "" }

// Files implements Output.
func (o *WriteOutput) Files() []File { return []File{{o.Path, o.Revision}} }

// Clone implements Output.
func (o *WriteOutput) Clone() Output { c := *o; return &c }

func (o *WriteOutput) text() string { return string(append(appendFile(nil, o.Path, o.Revision), '}')) }

func (writeTool) run(ctx context.Context, c *call, a args) (Result, error) {
	path, err := c.writable(ctx, a.str("path"))
	if err != nil {
		return Result{}, err
	}
	expected, given := a.revision()
	if given && expected == "" {
		return Result{}, refuse(codes.InvalidArgument, "revision is empty, omit it to create %s or send the revision that a read of it shows", path)
	}
	return c.replace(ctx, path, a.str("content"), expected)
}
