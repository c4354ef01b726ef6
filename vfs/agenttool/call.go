package agenttool

import (
	"context"
	"encoding/json"

	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Call runs the tool called name. The input is a flat JSON object; optional
// arguments may be absent or null, unknown ones are refused. Every error is an
// *Error.
func (t *Toolset) Call(ctx context.Context, scope Scope, name string, input json.RawMessage) (Result[Output], error) {
	c, err := t.begin(ctx, scope, name)
	if err != nil {
		return Result[Output]{}, err
	}
	s, _ := specOf(name)
	args, err := parseArgs(s, input)
	if err != nil {
		return Result[Output]{}, err
	}
	switch name {
	case Glob:
		return erase(c.glob(GlobInput{args.str("pattern"), args.str("cursor")}))
	case Grep:
		if path, given := args["path"]; given && path == "" { // typed, "" is everything
			return Result[Output]{}, badPath("", vpath.CheckFile(""))
		}
		return erase(c.grep(GrepInput{args.str("pattern"), args.str("path"), args.isFalse("ignoreCase"), args.str("cursor")}))
	case ReadFile:
		return erase(c.readFile(ReadInput{args.str("path"), args.integer("offset"), args.integer("limit"), args.str("cursor")}))
	case WriteFile:
		return erase(c.writeFile(WriteInput{args.str("path"), args.str("content"), args.revision()}))
	case EditFile:
		return erase(c.editFile(EditInput{args.str("path"), *args.revision(), args.str("oldText"), args.str("newText")}))
	default:
		return erase(c.deleteFile(DeleteInput{args.str("path"), *args.revision()}))
	}
}

func erase[O Output](r Result[O], err error) (Result[Output], error) {
	if err != nil {
		return Result[Output]{}, err
	}
	return Result[Output]{r.Output, r.Text, r.Tokens}, nil
}

// run begins a typed call.
func run[I any, O Output](t *Toolset, ctx context.Context, scope Scope, tool string, in I, do func(*call, I) (Result[O], error)) (Result[O], error) {
	c, err := t.begin(ctx, scope, tool)
	if err != nil {
		return Result[O]{}, err
	}
	return do(c, in)
}

// Glob runs glob. Every error is an *Error, here and below.
func (t *Toolset) Glob(ctx context.Context, scope Scope, in GlobInput) (Result[*GlobOutput], error) {
	return run(t, ctx, scope, Glob, in, (*call).glob)
}

// Grep runs grep.
func (t *Toolset) Grep(ctx context.Context, scope Scope, in GrepInput) (Result[*GrepOutput], error) {
	return run(t, ctx, scope, Grep, in, (*call).grep)
}

// ReadFile runs readFile.
func (t *Toolset) ReadFile(ctx context.Context, scope Scope, in ReadInput) (Result[*ReadOutput], error) {
	return run(t, ctx, scope, ReadFile, in, (*call).readFile)
}

// WriteFile runs writeFile.
func (t *Toolset) WriteFile(ctx context.Context, scope Scope, in WriteInput) (Result[*WriteOutput], error) {
	return run(t, ctx, scope, WriteFile, in, (*call).writeFile)
}

// EditFile runs editFile.
func (t *Toolset) EditFile(ctx context.Context, scope Scope, in EditInput) (Result[*WriteOutput], error) {
	return run(t, ctx, scope, EditFile, in, (*call).editFile)
}

// DeleteFile runs deleteFile.
func (t *Toolset) DeleteFile(ctx context.Context, scope Scope, in DeleteInput) (Result[*DeleteOutput], error) {
	return run(t, ctx, scope, DeleteFile, in, (*call).deleteFile)
}
