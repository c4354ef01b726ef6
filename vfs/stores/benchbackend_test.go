package stores_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/memfs"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

// backend keeps files in a store; edits and searches are those of the tools.
type backend struct {
	ctx   context.Context // of the benchmark
	b     vfs.Backend
	tools *agenttool.Toolset
	known map[string]vfs.Revision // as a model knows them, from earlier results
}

func newBackend(b *testing.B, kind string, relaxed bool) kept {
	b.Helper()
	k := &backend{ctx: b.Context(), known: map[string]vfs.Revision{}}
	var err error
	if kind == "memory" {
		k.b, err = memfs.New(nil, nil)
	} else {
		k.b = open(b, kind, b.TempDir(), options{Relaxed: relaxed})
	}
	if err == nil {
		k.tools, err = agenttool.New(agenttool.Options{Backend: k.b, Writable: true})
	}
	if err != nil {
		b.Fatal(err)
	}
	return k
}

func (k *backend) write(path, content string) error {
	info, err := vfs.Write(k.ctx, k.b, path, content, "")
	k.known[path] = info.Revision
	return err
}

func (k *backend) edit(path, old, fresh string) error {
	out, err := k.call(agenttool.EditFile, map[string]any{"path": path, "revision": k.known[path], "oldText": old, "newText": fresh})
	if err != nil {
		return err
	}
	k.known[path] = out.(*agenttool.WriteOutput).Revision
	return nil
}

func (k *backend) call(tool string, args map[string]any) (agenttool.Output, error) {
	input, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	res, err := k.tools.Call(k.ctx, agenttool.Scope{}, tool, input)
	return res.Output, err
}

func (k *backend) read(path string) error {
	_, err := vfs.Read(k.ctx, k.b, path)
	return err
}

func (k *backend) stat(path string) error {
	_, err := vfs.Stat(k.ctx, k.b, path)
	return err
}

func (k *backend) page(after string) error {
	_, err := vfs.List(k.ctx, k.b, "/", vfs.ListOptions{After: after})
	return err
}

func (k *backend) grep(needle string) (files int, err error) {
	for args := map[string]any{"pattern": needle, "ignoreCase": false}; ; {
		out, err := k.call(agenttool.Grep, args)
		if err != nil {
			return files, err
		}
		files += len(out.(*agenttool.GrepOutput).Matches)
		if out.Next() == "" {
			return files, nil
		}
		args["cursor"] = out.Next()
	}
}

func (k *backend) copyOut(dst *memfs.FS) (files int, err error) {
	for info, err := range walk.Files(k.ctx, k.b, "/") {
		if err != nil {
			return files, err
		}
		f, err := vfs.Read(k.ctx, k.b, info.Path)
		if err != nil {
			return files, err
		}
		if _, err := dst.Write(k.ctx, f.Path, f.Content, ""); err != nil {
			return files, err
		}
		files++
	}
	return files, nil
}
