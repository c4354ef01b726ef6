package agenttool_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/internal/teststore"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
)

func TestArguments(t *testing.T) {
	tools := toolset(t, agenttool.Options{Backend: teststore.Memory(t, map[string]string{"/a": "1\n2\n3\n"}), Writable: true})
	for _, c := range []struct{ tool, input, code, says string }{
		{"readFile", `{"path":"/a","offset":null,"limit":null,"cursor":null}`, "", ""},
		{"readFile", `{"path":"/a","limit":2.0}`, "", ""},
		{"readFile", `{"path":"/a","limit":1e1}`, "", ""},
		{"readFile", `{"path":"/a","offset":9007199254740991}`, "", ""},
		{"readFile", `{"path":"/a","offset":1e300}`, "invalid-argument", "whole number"},
		{"readFile", `{"path":"/a","offset":-1}`, "invalid-argument", "offset is -1"},
		{"readFile", `{"path":"/a","limit":0}`, "invalid-argument", "1 to 200"},
		{"readFile", `{"path":"/a","limit":201}`, "invalid-argument", "1 to 200"},
		{"readFile", `{"path":"/a","limit":1.5}`, "invalid-argument", "whole number"},
		{"readFile", `{"path":"/a","limit":"5"}`, "invalid-argument", "an integer"},
		{"readFile", `{"path":["/a"]}`, "invalid-argument", "a string"},
		{"readFile", `{"path":"/a","lines":3}`, "invalid-argument", "path, offset, limit, cursor"},
		{"readFile", `{"Path":"/a"}`, "invalid-argument", `no argument "Path"`},
		{"readFile", `{"path":"/a","path":"/b"}`, "invalid-argument", "twice"},
		{"readFile", `{}`, "invalid-argument", `needs the argument "path"`},
		{"readFile", `{"path":null}`, "invalid-argument", `needs the argument "path"`},
		{"readFile", ``, "invalid-argument", "one JSON object"},
		{"readFile", `null`, "invalid-argument", "one JSON object"},
		{"readFile", `"/a"`, "invalid-argument", "one JSON object"},
		{"readFile", `[]`, "invalid-argument", "one JSON object"},
		{"readFile", `{"path":"/a"`, "invalid-argument", "JSON, send one object: they end too early"},
		{"readFile", `{"path":"/a`, "invalid-argument", "they end too early"},
		{"readFile", `{"path":`, "invalid-argument", "they end too early"},
		{"readFile", `{"path":"/a",}`, "invalid-argument", "JSON, send one object: invalid character"},
		{"readFile", `{"path":"/a"} {}`, "invalid-argument", "nothing after it"},
		{"readFile", `{"path":"/a","cursor":""}`, "invalid-cursor", "leave it out"},
		{"grep", `{"pattern":"x","path":""}`, "invalid-path", "start with /"},
		{"readFile", `{"path":"/a","cursor":"x","offset":0}`, "invalid-argument", "exclude each other"},
		{"readFile", "{\"path\":\"/a\xff\"}", "invalid-argument", "UTF-8"},
		{"readFile", `{"path":"/\ud83d"}`, "invalid-argument", "surrogate"},
		{"readFile", `{"path":"/\ude00"}`, "invalid-argument", "surrogate"},
		{"readFile", `{"path":"/\ud83d\u0041"}`, "invalid-argument", "surrogate"},
		{"readFile", `{"path":"/\ud83d\ude00"}`, "not-found", ""},
		{"readFile", `{"path":"/\\ud83d"}`, "invalid-path", "backslash"},
		{"readFile", `{"path":"a"}`, "invalid-path", "start with /"},
		{"readFile", `{"path":""}`, "invalid-path", "start with /"},
		{"readFile", `{"path":"/"}`, "invalid-path", "directory"},
		{"glob", `{"pattern":"*.md"}`, "invalid-argument", "start with /"},
		{"glob", `{"pattern":"./a"}`, "invalid-argument", "start with /"},
		{"glob", `{"pattern":"/a/./b"}`, "invalid-argument", `"."`},
		{"glob", `{"pattern":"/` + strings.Repeat("a", 512) + `"}`, "invalid-argument", "512"},
		{"grep", `{"pattern":""}`, "invalid-argument", "1 to 256"},
		{"grep", `{"pattern":"` + strings.Repeat("😀", 129) + `"}`, "invalid-argument", "1 to 256"},
		{"grep", `{"pattern":"x","ignoreCase":"no"}`, "invalid-argument", "boolean"},
		{"writeFile", `{"path":"/n","content":"x","revision":""}`, "invalid-argument", "omit it"},
		{"writeFile", `{"path":"/n"}`, "invalid-argument", "content"},
		{"editFile", `{"path":"/a","revision":"","oldText":"1","newText":"2"}`, "invalid-argument", "revision is empty"},
		{"deleteFile", `{"path":"/a","revision":""}`, "invalid-argument", "revision is empty"},
		{"deleteFile", `{"path":"/a"}`, "invalid-argument", "revision"},
	} {
		msg, code := call(t, tools, c.tool, c.input)
		if string(code) != c.code || !strings.Contains(msg, c.says) {
			t.Errorf("%s %.80s: %q %s, want %q and %q", c.tool, c.input, code, msg, c.code, c.says)
		}
	}
}

// FuzzCall feeds every tool any input: it must answer or refuse with a code and
// one sentence, and a page must fit its budget.
func FuzzCall(f *testing.F) {
	for _, seed := range []string{
		`{"path":"/a.md","offset":1,"limit":2}`, `{"pattern":"/**/*.md"}`, `{"pattern":"e","path":"/","ignoreCase":false}`,
		`{"path":"/n","content":"x"}`, `{"path":"/a.md","revision":"r","oldText":"a","newText":"b"}`, `{"path":"/\ud83d"}`, `{"limit":1e99}`, `[{`,
	} {
		for i := range 6 {
			f.Add(i, seed)
		}
	}
	tools := []string{"glob", "grep", "readFile", "writeFile", "editFile", "deleteFile"}
	f.Fuzz(func(t *testing.T, tool int, input string) {
		b := teststore.Memory(t, map[string]string{"/a.md": "one\ntwo 😀\r\nÜber\n", "/b/c": "x", "/b": ""})
		set := toolset(t, agenttool.Options{Backend: b, Writable: true, MaxTokens: 60})
		res, err := set.Call(t.Context(), agenttool.Scope{}, tools[uint(tool)%6], json.RawMessage(input))
		if err == nil {
			if res.Tokens > 60 || !json.Valid([]byte(strings.SplitN(res.Text, "\n", 2)[0])) {
				t.Errorf("%d tokens: %s", res.Tokens, res.Text)
			}
			return
		}
		var e *agenttool.Error
		if !errors.As(err, &e) || e.Code == "" || e.Code == codes.Store || strings.Contains(e.Message, "\n") {
			t.Errorf("%q", err)
		}
	})
}
