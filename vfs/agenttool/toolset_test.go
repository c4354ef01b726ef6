package agenttool_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/internal/teststore"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
)

func toolset(t testing.TB, opts agenttool.Options) *agenttool.Toolset {
	t.Helper()
	tools, err := agenttool.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	return tools
}

// call runs a tool from JSON and returns the text or the code of its error.
func call(t testing.TB, tools *agenttool.Toolset, tool, input string) (text string, code codes.Code) {
	t.Helper()
	res, err := tools.Call(t.Context(), agenttool.Scope{}, tool, json.RawMessage(input))
	if err != nil {
		var e *agenttool.Error
		if !errors.As(err, &e) {
			t.Fatalf("%s %s: %v is no *agenttool.Error", tool, input, err)
		}
		return e.Message, e.Code
	}
	return res.Text, ""
}

func TestOptionsOutOfRange(t *testing.T) {
	for _, c := range []struct {
		opts  agenttool.Options
		names string // what the message must name
	}{
		{agenttool.Options{MaxLines: 1001}, "MaxLines 1000"},
		{agenttool.Options{MaxLines: -1}, "MaxLines"},
		{agenttool.Options{DefaultLines: -1}, "DefaultLines"},
		{agenttool.Options{MaxMatches: 101}, "MaxMatches 100"},
		{agenttool.Options{MaxFiles: 1025}, "MaxFiles 1024"},
		{agenttool.Options{MaxFiles: -1}, "MaxFiles 1024"},
		{agenttool.Options{MaxTokens: -5}, "MaxTokens"},
		{agenttool.Options{Root: "notes"}, "Root"},
		{agenttool.Options{Root: "/a/../b"}, "Root"},
		{agenttool.Options{Tools: []string{"writeFile"}}, "writeFile Writable"},
		{agenttool.Options{Tools: []string{"rm"}}, "rm"},
		{agenttool.Options{Tools: []string{"glob", "glob"}}, "glob twice"},
	} {
		_, err := agenttool.New(c.opts)
		if err == nil {
			t.Errorf("%+v was accepted", c.opts)
			continue
		}
		for _, name := range strings.Fields(c.names) {
			if !strings.Contains(err.Error(), name) {
				t.Errorf("the error %q does not name %s", err, name)
			}
		}
	}
}

func TestDefaultsAndOffer(t *testing.T) {
	names := func(opts agenttool.Options) string {
		var s []string
		for _, tool := range toolset(t, opts).Tools() {
			if tool.Writes != tool.RequiresApproval {
				t.Errorf("%s: writes %v, approval %v", tool.Name, tool.Writes, tool.RequiresApproval)
			}
			var schema struct {
				Type                 string
				Properties           map[string]struct{ Type, Description string }
				Required             []string
				AdditionalProperties *bool
			}
			if err := json.Unmarshal(tool.Schema, &schema); err != nil {
				t.Fatalf("%s: %v", tool.Name, err)
			}
			if schema.Type != "object" || schema.AdditionalProperties == nil || *schema.AdditionalProperties || len(schema.Required) == 0 {
				t.Errorf("%s: schema %s", tool.Name, tool.Schema)
			}
			for name, p := range schema.Properties {
				if p.Type == "object" || p.Type == "array" || p.Description == "" {
					t.Errorf("%s.%s is not flat or not described", tool.Name, name)
				}
			}
			s = append(s, tool.Name)
		}
		return strings.Join(s, " ")
	}
	for _, c := range []struct {
		opts agenttool.Options
		want string
	}{
		{agenttool.Options{}, "glob grep readFile"},
		{agenttool.Options{Writable: true}, "glob grep readFile writeFile editFile deleteFile"},
		{agenttool.Options{Tools: []string{"grep", "glob"}}, "glob grep"},
		{agenttool.Options{Writable: true, Tools: []string{"readFile", "editFile"}}, "readFile editFile"},
	} {
		if got := names(c.opts); got != c.want {
			t.Errorf("offers %q, want %q", got, c.want)
		}
	}
	// A default above the maximum becomes the maximum.
	tools := toolset(t, agenttool.Options{Backend: teststore.Memory(t, map[string]string{"/a": "1\n2\n3\n"}), MaxLines: 2})
	if text, _ := call(t, tools, "readFile", `{"path":"/a"}`); !strings.HasSuffix(text, "}\n1\n2\n") {
		t.Errorf("read %q", text)
	}
	if text, _ := call(t, toolset(t, agenttool.Options{}), "glob", `{"pattern":"/**"}`); text != `{"matches":[],"nextCursor":null}` {
		t.Errorf("the default store is not empty: %s", text)
	}
}

func TestToolNotOnOffer(t *testing.T) {
	tools := toolset(t, agenttool.Options{})
	for tool, want := range map[string]codes.Code{"writeFile": "read-only", "shell": "invalid-argument", "": "invalid-argument"} {
		if msg, code := call(t, tools, tool, `{}`); code != want || !strings.Contains(msg, "glob, grep, readFile") {
			t.Errorf("%q: %s %s", tool, code, msg)
		}
	}
	// However long a name was sent, the message stays a sentence.
	if msg, _ := call(t, tools, strings.Repeat("x", 100_000), `{}`); len(msg) > 200 {
		t.Errorf("the message has %d bytes", len(msg))
	}
	if msg, _ := call(t, tools, "glob", `{"`+strings.Repeat("x", 100_000)+`":1}`); len(msg) > 200 {
		t.Errorf("the message has %d bytes", len(msg))
	}
}

// Each conversation gets the backend that the application chose for it.
func TestBackendFor(t *testing.T) {
	backends := map[string]vfs.Backend{
		"":     teststore.Memory(t, map[string]string{"/a": "default"}),
		"work": teststore.Memory(t, map[string]string{"/a": "work"}),
	}
	boom := errors.New("no such tenant")
	tools := toolset(t, agenttool.Options{BackendFor: func(_ context.Context, s agenttool.Scope) (vfs.Backend, error) {
		if b := backends[s.Conversation]; b != nil {
			return b, nil
		}
		return nil, boom
	}})
	for _, c := range []string{"", "work"} {
		res, err := runAs(t.Context(), tools, agenttool.Scope{Conversation: c}, "readFile", args{"path": "/a"})
		if err != nil || res.Output.(*agenttool.ReadOutput).Content != backendsContent(c) {
			t.Errorf("%q: %v %v", c, res.Output, err)
		}
	}
	_, err := runAs(t.Context(), tools, agenttool.Scope{Conversation: "other"}, "readFile", args{"path": "/a"})
	if agenttool.CodeOf(err) != codes.Store || !errors.Is(err, boom) {
		t.Errorf("a failing choice gives %v", err)
	}
}

func TestTwoChoicesOfFiles(t *testing.T) {
	opts := agenttool.Options{
		Backend:    teststore.Memory(t, nil),
		BackendFor: func(context.Context, agenttool.Scope) (vfs.Backend, error) { return nil, nil },
	}
	if _, err := agenttool.New(opts); err == nil || !strings.Contains(err.Error(), "set one") {
		t.Errorf("New gave %v", err)
	}
}

// A choice that fails in another way: it found nothing, or was not waited for.
func TestBackendForFails(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx  context.Context
		err  error
		code codes.Code
		says string
	}{
		{t.Context(), nil, codes.Store, "chose no store"},
		{t.Context(), context.DeadlineExceeded, codes.Store, "cannot be reached"},
		{ended, context.Canceled, codes.Canceled, "do not go on"},
	} {
		tools := toolset(t, agenttool.Options{BackendFor: func(context.Context, agenttool.Scope) (vfs.Backend, error) { return nil, c.err }})
		_, err := tools.Call(c.ctx, agenttool.Scope{}, "readFile", json.RawMessage(`{"path":"/a"}`))
		if agenttool.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("a choice that returns %v: %v, want %s and %q", c.err, err, c.code, c.says)
		}
	}
}

func backendsContent(conversation string) string {
	if conversation == "" {
		return "default"
	}
	return conversation
}

func TestRoot(t *testing.T) {
	b := teststore.Memory(t, map[string]string{"/docs/a.md": "in", "/docs": "the root itself", "/docs2/a.md": "out", "/docs-old/b.md": "out", "/x.md": "out"})
	tools := toolset(t, agenttool.Options{Backend: b, Root: "/docs/", Writable: true})
	for _, c := range []struct{ tool, input, code string }{
		{"readFile", `{"path":"/docs/a.md"}`, ""},
		{"readFile", `{"path":"/docs"}`, ""},
		{"readFile", `{"path":"/docs2/a.md"}`, "outside-root"},
		{"readFile", `{"path":"/"}`, "invalid-path"},
		{"grep", `{"pattern":"x","path":"/"}`, "outside-root"},
		{"grep", `{"pattern":"x","path":"/docs-old"}`, "outside-root"},
		{"writeFile", `{"path":"/x2.md","content":""}`, "outside-root"},
		{"deleteFile", `{"path":"/x.md","revision":"r"}`, "outside-root"},
		{"editFile", `{"path":"/x.md","revision":"r","oldText":"o","newText":"n"}`, "outside-root"},
	} {
		if msg, code := call(t, tools, c.tool, c.input); string(code) != c.code {
			t.Errorf("%s %s: %s %s", c.tool, c.input, code, msg)
		}
	}
	for pattern, want := range map[string]int{"/**": 2, "/docs/*": 1, "/docs2/*": 0, "/x.md": 0, "/docs": 1, "/*": 1, "/**/a.md": 1} {
		out, err := run[*agenttool.GlobOutput](t, tools, "glob", args{"pattern": pattern})
		if err != nil || len(out.Matches) != want {
			t.Errorf("glob %s: %v %v", pattern, out, err)
		}
	}
	if out, err := run[*agenttool.GrepOutput](t, tools, "grep", args{"pattern": "out"}); err != nil || len(out.Matches) != 0 {
		t.Errorf("a grep without a path left the root: %v %v", out, err)
	}
}

func TestEmptyPageOverBudget(t *testing.T) {
	tools := toolset(t, agenttool.Options{MaxTokens: 3})
	for tool, input := range map[string]string{"glob": `{"pattern":"/**"}`, "grep": `{"pattern":"x"}`} {
		if msg, code := call(t, tools, tool, input); code != codes.BudgetTooSmall || !strings.Contains(msg, "empty page") {
			t.Errorf("%s: %q %s", tool, code, msg)
		}
	}
}

func TestTokenCounter(t *testing.T) {
	b := teststore.Memory(t, map[string]string{"/a": strings.Repeat("word ", 2000)})
	negative := toolset(t, agenttool.Options{Backend: b, Writable: true, CountTokens: func(string) int { return -1 }})
	for tool, input := range map[string]string{
		"readFile": `{"path":"/a"}`, "glob": `{"pattern":"/**"}`, "grep": `{"pattern":"word"}`, "writeFile": `{"path":"/n","content":"x"}`,
	} {
		if _, code := call(t, negative, tool, input); code != codes.Store {
			t.Errorf("%s with a counter of -1: code %q", tool, code)
		}
	}
	if _, err := b.Stat(t.Context(), "/n"); !errors.Is(err, vfs.ErrNotFound) {
		t.Error("a write whose result could not be counted was made")
	}
	// To a counter that takes nothing for a token, everything fits.
	free := toolset(t, agenttool.Options{Backend: b, MaxTokens: 1, CountTokens: func(string) int { return 0 }})
	if text, code := call(t, free, "readFile", `{"path":"/a"}`); code != "" || !strings.HasSuffix(text, strings.Repeat("word ", 2000)) {
		t.Errorf("with a counter of 0: %s %.80q", code, text)
	}
	// A counter that is not monotone: every page fits, pages join, paging ends.
	zigzag := func(s string) int { return len(s)/4 + len(s)*7%50 }
	tools := toolset(t, agenttool.Options{Backend: b, MaxTokens: 100, CountTokens: zigzag})
	pages, err := follow(t, tools, "readFile", map[string]any{"path": "/a", "limit": 200}, true)
	if err != nil {
		t.Fatal(err)
	}
	joined := ""
	for _, p := range pages {
		joined += p.Output.(*agenttool.ReadOutput).Content
		if p.Tokens > 100 || p.Tokens != zigzag(p.Text) {
			t.Errorf("a page has %d tokens", p.Tokens)
		}
	}
	if joined != strings.Repeat("word ", 2000) {
		t.Error("the pages do not join to the file")
	}
}

func TestEstimate(t *testing.T) {
	var data struct {
		Cases []struct {
			Text   string
			Tokens int
		}
	}
	loadJSON(t, "tokens.json", &data)
	for _, c := range data.Cases {
		if got := agenttool.EstimateTokens(c.Text); got != c.Tokens {
			t.Errorf("%.40q: %d tokens, want %d", c.Text, got, c.Tokens)
		}
	}
	// Every script counts, and more text never counts less.
	for _, s := range []string{"漢字漢字", "かなカナ", "한국어", "ภาษาไทย", "e\u0301"} {
		last := 0
		for i := range len(s) + 1 {
			n := agenttool.EstimateTokens(s[:i])
			if n < last || i > 0 && n == 0 {
				t.Errorf("%q: %d tokens after %d", s[:i], n, last)
			}
			last = n
		}
	}
}

func TestCanceled(t *testing.T) {
	tools := toolset(t, agenttool.Options{Backend: teststore.Memory(t, map[string]string{"/a": "x"}), Writable: true})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for tool, input := range map[string]string{
		"readFile": `{"path":"/a"}`, "glob": `{"pattern":"/**"}`, "grep": `{"pattern":"x"}`, "writeFile": `{"path":"/n","content":"x"}`,
		"editFile": `{"path":"/a","revision":"r","oldText":"x","newText":"y"}`, "deleteFile": `{"path":"/a","revision":"r"}`,
	} {
		_, err := tools.Call(ctx, agenttool.Scope{}, tool, json.RawMessage(input))
		if agenttool.CodeOf(err) != codes.Canceled || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", tool, err)
		}
	}
}
