package turn_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim/turn"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

// closing is a backend that counts how often it is closed.
type closing struct {
	vfs.Backend
	closed *int
}

var _ io.Closer = closing{}

func (c closing) Close() error { *c.closed++; return nil }

func (c closing) Write(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
	return vfs.Write(ctx, c.Backend, path, content, expected)
}

func TestBackends(t *testing.T) {
	opened, closed := map[string]int{}, 0
	backends := turn.NewBackends(func(_ context.Context, conversation string) (vfs.Backend, error) {
		opened[conversation]++
		if conversation == "broken" {
			return nil, errors.New("no disk")
		}
		b, err := memfs.New(nil, nil)
		return closing{b, &closed}, err
	})
	tools, err := agenttool.New(agenttool.Options{BackendFor: backends.For, Writable: true})
	if err != nil {
		t.Fatal(err)
	}
	write := func(conversation, content string) error {
		input := fmt.Appendf(nil, `{"path":"/x","content":%q}`, content)
		_, err := tools.Call(t.Context(), agenttool.Scope{Conversation: conversation}, agenttool.WriteFile, input)
		return err
	}
	read := func(conversation string) string {
		res, err := tools.Call(t.Context(), agenttool.Scope{Conversation: conversation}, agenttool.ReadFile, []byte(`{"path":"/x"}`))
		if err != nil {
			return string(agenttool.CodeOf(err))
		}
		return res.Output.(*agenttool.ReadOutput).Content
	}
	for _, conversation := range []string{"", "a"} {
		if err := write(conversation, "of "+conversation); err != nil {
			t.Fatal(err)
		}
	}
	if read("") != "of " || read("a") != "of a" || opened["a"] != 1 || opened[""] != 1 {
		t.Errorf("the conversations read %q and %q; opened %v", read(""), read("a"), opened)
	}
	if err := write("broken", ""); agenttool.CodeOf(err) != codes.Store {
		t.Errorf("a backend that does not open gave %v", err)
	}
	if err := backends.Dispose("a"); err != nil || closed != 1 || read("a") != "not-found" || opened["a"] != 2 {
		t.Errorf("after Dispose: %v, closed %d, read %q", err, closed, read("a"))
	}
	if err := backends.Dispose("never used"); err != nil {
		t.Error(err)
	}
	if err := backends.Close(); err != nil || closed != 3 {
		t.Errorf("Close gave %v and closed %d", err, closed)
	}
	if read("a") != "not-found" || opened["a"] != 3 {
		t.Errorf("after Close it reads %q; opened %v", read("a"), opened)
	}
}

// A disposed conversation starts with empty files and keeps its memory, which
// is another thing.
func TestDisposedFilesAreGone(t *testing.T) {
	backends := turn.NewBackends(func(context.Context, string) (vfs.Backend, error) { return memfs.New(nil, nil) })
	tools, err := agenttool.New(agenttool.Options{BackendFor: backends.For, Writable: true})
	if err != nil {
		t.Fatal(err)
	}
	yes := func(context.Context, turn.ApprovalRequest) (bool, error) { return true, nil }
	model := turn.NewScripted(replies(tool("writeFile", `{"path":"/x","content":"x"}`), answer("ok"), tool("glob", `{"pattern":"/**"}`), answer("none"))...)
	a := newAgent(t, model, turn.Options{Files: tools, Approve: yes})
	if _, err := a.Run(t.Context(), "write", nil); err != nil {
		t.Fatal(err)
	}
	if err := backends.Dispose(""); err != nil {
		t.Fatal(err)
	}
	out, err := a.Run(t.Context(), "look", nil)
	if err != nil || out.Steps[0].Text != `{"matches":[],"nextCursor":null}` {
		t.Errorf("%+v, %v", out, err)
	}
}
