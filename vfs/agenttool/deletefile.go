package agenttool

import (
	"context"

	"github.com/goliathfs/goliathfs/vfs"
)

// DeleteFile is the name of the tool that deletes a file.
const DeleteFile = "deleteFile"

type deleteTool struct{}

func (deleteTool) spec() spec {
	return spec{DeleteFile, "Delete one file.", true, []param{
		{"path", "string", "Absolute path of the file.", true},
		{"revision", "string", "The file's current revision.", true},
	}, `{"type":"object","properties":{"path":{"type":"string"},"deleted":{"type":"boolean"}},"required":["path","deleted"]}`}
}

// DeleteOutput is the result of deleteFile.
type DeleteOutput struct {
	Path    string `json:"path"`
	Deleted bool   `json:"deleted"` // always true
}

// Next implements Output: a delete has one page.
func (o *DeleteOutput) Next() string { return "" }

// Files implements Output: a file that is gone has no revision.
func (o *DeleteOutput) Files() []File { return nil }

// Clone implements Output.
func (o *DeleteOutput) Clone() Output { c := *o; return &c }

func (o *DeleteOutput) text() string {
	return string(append(appendString([]byte(`{"path":`), o.Path), `,"deleted":true}`...))
}

func (deleteTool) run(ctx context.Context, c *call, a args) (Result, error) {
	rev, _ := a.revision()
	path, err := c.change(ctx, a.str("path"), rev)
	if err != nil {
		return Result{}, err
	}
	out := &DeleteOutput{Path: path, Deleted: true}
	if err := c.fits(out.text(), path); err != nil {
		return Result{}, err
	}
	if err := vfs.Remove(ctx, c.b, path, rev); err != nil {
		return Result{}, c.fail(ctx, path, err)
	}
	return c.single(out)
}
