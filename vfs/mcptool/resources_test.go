package mcptool_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/mcptool"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

func resourceSession(t *testing.T, root string) (*mcp.ClientSession, map[string]string) {
	t.Helper()
	seeds := map[string]string{"/notes/ä %?#.md": strings.Repeat("line\r\n", 3000), "/empty": "", "/secret/a": "x"}
	for i := range 25 {
		seeds[fmt.Sprintf("/notes/%02d.md", i)] = fmt.Sprintf("number %d", i)
	}
	files, err := memfs.New(seeds, nil)
	if err != nil {
		t.Fatal(err)
	}
	tools := newTools(t, agenttool.Options{Backend: files, Root: root})
	s := newServer(t, tools, &mcptool.Options{Resources: true})
	return connect(t, transports["stdio"](t, s), nil), seeds
}

// The pages of the list joined are all files, and each reads as it is.
func TestResources(t *testing.T) {
	session, seeds := resourceSession(t, "/")
	got := map[string]string{}
	for r, err := range session.Resources(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		res, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: r.URI})
		if err != nil {
			t.Fatalf("%s: %v", r.URI, err)
		}
		path := "/" + strings.TrimSuffix(strings.TrimPrefix(r.URI, "goliath:///"), r.Name) + r.Name
		if strings.Contains(r.URI, "%") {
			path = "/notes/" + r.Name
		}
		got[path] = res.Contents[0].Text
	}
	if diff := cmp.Diff(seeds, got); diff != "" {
		t.Errorf("resources are not the files (-want +got):\n%.2000s", diff)
	}
}

func TestResourcesKeepToTheRoot(t *testing.T) {
	session, _ := resourceSession(t, "/notes")
	for r, err := range session.Resources(t.Context(), nil) {
		if err != nil || !strings.HasPrefix(r.URI, "goliath:///notes/") {
			t.Fatalf("%v, %v", r, err)
		}
	}
	for uri, want := range map[string]string{
		"goliath:///secret/a":     "outside-root: ",
		"goliath:///notes/../a":   "invalid-path: ",
		"goliath:///notes/nope":   "not found",
		"goliath:///notes":        "not found",
		"goliath://notes/01.md":   "a resource is named goliath:///path",
		"file:///notes/01.md":     "a resource is named goliath:///path",
		"goliath:///notes/a?b=c":  "a resource is named goliath:///path",
		"goliath:///%zz":          "a resource is named goliath:///path",
		"goliath:///notes/01.md#": "",
	} {
		_, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		var wire *jsonrpc.Error
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", uri, err)
			}
		} else if !errors.As(err, &wire) || !strings.Contains(strings.ToLower(wire.Message), strings.ToLower(want)) {
			t.Errorf("%s: %v, want %q", uri, err, want)
		}
	}
	if _, err := session.ListResources(t.Context(), &mcp.ListResourcesParams{Cursor: "x"}); err == nil || !strings.Contains(err.Error(), "invalid-cursor") {
		t.Errorf("a cursor that was made up: %v", err)
	}
}

// Resources keep to no budget, so they are there only where they are asked for.
func TestNoResourcesByDefault(t *testing.T) {
	session := connect(t, transports["stdio"](t, newServer(t, newTools(t, agenttool.Options{}), nil)), nil)
	if session.InitializeResult().Capabilities.Resources != nil {
		t.Error("the server says it has resources")
	}
	if res, err := session.ListResources(t.Context(), nil); err == nil && len(res.Resources) > 0 {
		t.Errorf("it lists %d", len(res.Resources))
	}
	if _, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "goliath:///docs/guide.md"}); err == nil {
		t.Error("it reads one")
	}
}

// A resource is whole also where a read may have few lines.
func TestResourcesOfShortReads(t *testing.T) {
	content := strings.Repeat("a line\n", 23)
	files, err := memfs.New(map[string]string{"/a.md": content}, nil)
	if err != nil {
		t.Fatal(err)
	}
	tools := newTools(t, agenttool.Options{Backend: files, MaxLines: 5, MaxTokens: 40})
	session := connect(t, transports["stdio"](t, newServer(t, tools, &mcptool.Options{Resources: true})), nil)
	res, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "goliath:///a.md"})
	if err != nil || res.Contents[0].Text != content {
		t.Errorf("%v, %v", res, err)
	}
}
