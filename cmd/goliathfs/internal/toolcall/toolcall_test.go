package toolcall_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/toolcall"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

func newRunner(t testing.TB, files map[string]string) *toolcall.Runner {
	t.Helper()
	b, err := memfs.New(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &toolcall.Runner{Backend: b, AllowWrites: true}
}

type response struct {
	OK    bool
	Error *toolcall.Failure
	Pages []struct {
		Output map[string]any
		Text   string
		Tokens int
	}
}

func run(t *testing.T, r *toolcall.Runner, input string) []response {
	t.Helper()
	var out bytes.Buffer
	if err := r.Lines(t.Context(), strings.NewReader(input), &out); err != nil {
		t.Fatal(err)
	}
	var responses []response
	for dec := json.NewDecoder(&out); ; {
		var resp response
		err := dec.Decode(&resp)
		if errors.Is(err, io.EOF) {
			return responses
		}
		if err != nil {
			t.Fatal(err)
		}
		responses = append(responses, resp)
	}
}

// TestLongLines: a request of several MiB is one line like any other, and one
// over the limit does not harm its neighbours.
func TestLongLines(t *testing.T) {
	big := strings.Repeat("a", 1<<20)
	write := func(path, content string) string {
		return fmt.Sprintf(`{"tool":"writeFile","input":{"path":%q,"content":%q}}`, path, content)
	}
	input := strings.Join([]string{
		write("/big", big),
		strings.Replace(write("/escaped", "@"), "@", strings.Repeat(`\u0061`, 1<<20), 1), // 6 MiB
		strings.Repeat(" ", toolcall.MaxLine+1),
		write("/after", "x"), // without a line feed
	}, "\n")
	got := run(t, newRunner(t, nil), input)
	if len(got) != 4 {
		t.Fatalf("%d answers to 4 lines", len(got))
	}
	for i, ok := range []bool{true, true, false, true} {
		if got[i].OK != ok {
			t.Errorf("line %d: ok is %v: %+v", i+1, got[i].OK, got[i].Error)
		}
	}
	if e := got[2].Error; e == nil || !strings.Contains(e.Message, "longer than") {
		t.Errorf("the line that is too long is answered with %+v", e)
	}
}

// TestAnswersAtOnce: the answer to a line is there before the next is sent.
func TestAnswersAtOnce(t *testing.T) {
	in, send := io.Pipe()
	receive, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := newRunner(t, map[string]string{"/a": "x"}).Lines(t.Context(), in, out)
		done <- errors.Join(err, out.Close())
	}()
	dec := json.NewDecoder(receive)
	for range 3 {
		if _, err := io.WriteString(send, `{"tool":"readFile","input":{"path":"/a"}}`+"\n"); err != nil {
			t.Fatal(err)
		}
		var resp response
		if err := dec.Decode(&resp); err != nil || !resp.OK {
			t.Fatalf("%+v, %v", resp, err)
		}
	}
	if err := send.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestCancelled: the end of the context ends the reading of input that never
// comes.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, send := io.Pipe()
	defer send.Close()
	cancel()
	if err := newRunner(t, nil).Lines(ctx, in, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

// TestFollow: an offset says where the first page starts, and the pages join.
func TestFollow(t *testing.T) {
	r := newRunner(t, map[string]string{"/a": "1\n2\n3\n4\n"})
	got := run(t, r, `{"tool":"readFile","input":{"path":"/a","offset":1,"limit":1},"all":true}`)
	if len(got) != 1 || len(got[0].Pages) != 3 {
		t.Fatalf("three lines are left from the offset on: %+v", got)
	}
	var joined strings.Builder
	for _, p := range got[0].Pages {
		joined.WriteString(p.Output["content"].(string))
	}
	if joined.String() != "2\n3\n4\n" {
		t.Errorf("the pages join to %q", joined.String())
	}
}

// TestManyOptions: options of one request do not leak into the next.
func TestManyOptions(t *testing.T) {
	r := newRunner(t, map[string]string{"/a": strings.Repeat("x\n", 200)})
	var input strings.Builder
	for n := 1; n <= 150; n++ {
		fmt.Fprintf(&input, `{"tool":"readFile","input":{"path":"/a"},"options":{"defaultLines":%d,"maxTokens":5000}}`+"\n", n)
	}
	input.WriteString(`{"tool":"readFile","input":{"path":"/a"}}` + "\n")
	got := run(t, r, input.String())
	for i, resp := range got {
		want := i + 1
		if i == 150 {
			want = 25
		}
		if n := strings.Count(resp.Pages[0].Output["content"].(string), "\n"); n != want {
			t.Errorf("request %d gives %d lines", i+1, n)
		}
	}
}

func TestParseRequestRefuses(t *testing.T) {
	for _, c := range []struct{ line, says string }{
		{``, "blank"},
		{`null`, "not null"},
		{`"x"`, "a request must be an object, not string"},
		{`{"tool":5,"input":{}}`, "tool must be a string, not number"},
		{`{"tool":"glob","input":{},"all":"yes"}`, "all must be true or false, not string"},
		{`{"tool":"glob","input":{},"options":[]}`, "options must be an object, not array"},
		{`{"tool":"glob","input":{},"options":{"maxTokens":1.5}}`, "maxTokens must be a whole number, not number 1.5"},
		{`{"tool":"glob","input":{},"options":{"maxtokens":1}}`, `unknown field "maxtokens", options has defaultLines`},
		{`{"Tool":"glob","input":{}}`, `unknown field "Tool"`},
		{`{"tool":"glob"`, "ends too early"},
		{`{"tool":"glob","input":{}}{}`, "goes on after the request"},
		{"{\"tool\":\"glob\",\"input\":{\"pattern\":\"\xff\"}}", "not valid UTF-8"},
	} {
		if req, err := toolcall.ParseRequest([]byte(c.line)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %+v, %v, want an error with %q", c.line, req, err, c.says)
		}
	}
	req, err := toolcall.ParseRequest([]byte(`{"tool":"glob","input":{},"all":null,"options":null}`))
	if err != nil || req.All != nil || req.Options != (toolcall.Options{}) {
		t.Errorf("nulls: %+v, %v", req, err)
	}
}

func FuzzParseRequest(f *testing.F) {
	f.Add([]byte(`{"tool":"glob","input":{"pattern":"/**"},"all":true,"options":{"root":"/","maxTokens":1}}`))
	f.Add([]byte(`{"tool":5}`))
	f.Add([]byte(`[]`))
	f.Add([]byte("{\"tool\":\"\xff\",\"input\":{}}"))
	f.Fuzz(func(t *testing.T, line []byte) {
		req, err := toolcall.ParseRequest(line)
		switch {
		case err == nil && (req.Tool == "" || req.Input == nil):
			t.Errorf("%q is taken and lacks a tool or an input", line)
		case err != nil && strings.TrimSpace(err.Error()) == "":
			t.Errorf("%q is refused without a word", line)
		}
	})
}

// FuzzLines: whatever comes in, each line has one answer, which is JSON.
func FuzzLines(f *testing.F) {
	f.Add("{\"tool\":\"glob\",\"input\":{\"pattern\":\"/**\"}}\n\nx")
	f.Add("\r\n\n{}\n")
	f.Fuzz(func(t *testing.T, input string) {
		want := strings.Count(input, "\n")
		if input != "" && !strings.HasSuffix(input, "\n") {
			want++
		}
		var out bytes.Buffer
		if err := newRunner(t, map[string]string{"/a": "x"}).Lines(t.Context(), strings.NewReader(input), &out); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(out.String(), "\n"); got != want {
			t.Errorf("%d answers to %d lines of %q", got, want, input)
		}
		for line := range strings.Lines(out.String()) {
			if !json.Valid([]byte(line)) {
				t.Errorf("the answer %q is no JSON", line)
			}
		}
	})
}

// TestOptionsAgree: an option is refused here exactly when the tools refuse it,
// in the words of a request.
func TestOptionsAgree(t *testing.T) {
	tools := func(name string, n int) agenttool.Options {
		o := agenttool.Options{}
		for field, p := range map[string]*int{
			"maxTokens": &o.MaxTokens, "defaultLines": &o.DefaultLines, "maxLines": &o.MaxLines, "maxMatches": &o.MaxMatches, "maxFiles": &o.MaxFiles,
		} {
			if field == name {
				*p = n
			}
		}
		return o
	}
	for name, most := range map[string]int{"maxTokens": 1 << 30, "defaultLines": 1000, "maxLines": 1000, "maxMatches": 100, "maxFiles": 1024} {
		for n, ok := range map[int]bool{-1: false, 0: false, 1: true, most: true, most + 1: false} {
			req, err := toolcall.ParseRequest(fmt.Appendf(nil, `{"tool":"glob","input":{},"options":{%q:%d}}`, name, n))
			if err != nil {
				t.Fatal(err)
			}
			_, err = newRunner(t, nil).Toolset(req.Options)
			var option *toolcall.OptionError
			if got := err == nil; got != ok || !ok && (!errors.As(err, &option) || option.Name != name) {
				t.Errorf("%s %d: %v", name, n, err)
			}
			if _, err := agenttool.New(tools(name, n)); n != 0 && (err == nil) != ok { // 0 is its default
				t.Errorf("the tools take %s %d: %v", name, n, err)
			}
		}
	}
}

// TestRepeatedField: of two values package json would take one in silence.
func TestRepeatedField(t *testing.T) {
	for _, c := range []struct{ line, says string }{
		{`{"tool":"glob","input":{},"tool":"grep"}`, `a request has the field "tool" twice`},
		{`{"tool":"glob","input":{},"options":{"maxLines":1,"maxLines":1}}`, `options has the field "maxLines" twice`},
		{`{"Tool":"glob","input":{}}`, `unknown field "Tool"`},
	} {
		if _, err := toolcall.ParseRequest([]byte(c.line)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %s", c.line, err, c.says)
		}
	}
}

// What is refused for want of AllowWrites is noted, for the person who could give it.
func TestDenied(t *testing.T) {
	r := newRunner(t, map[string]string{"/a": "x"})
	r.AllowWrites = false
	got := run(t, r, `{"tool":"readFile","input":{"path":"/a"}}`+"\n"+`{"tool":"writeFile","input":{"path":"/b","content":""}}`+"\n"+`{"tool":"glob","input":{"pattern":"/*"}}`)
	if len(got) != 3 || !got[0].OK || got[1].OK || got[1].Error.Code != "read-only" || !got[2].OK || r.Denied != "writeFile" {
		t.Errorf("%+v, denied %q", got, r.Denied)
	}
}

// A long stream of requests with ever other options does not fill the memory.
func TestFewToolsetsAreKept(t *testing.T) {
	r := newRunner(t, nil)
	same := 0
	for n := 1; n <= 100; n++ {
		first, err := r.Toolset(toolcall.Options{MaxFiles: &n})
		if err != nil {
			t.Fatal(err)
		}
		if again, err := r.Toolset(toolcall.Options{MaxFiles: &n}); err == nil && again == first {
			same++
		}
	}
	if same != 64 {
		t.Errorf("%d toolsets of 100 are kept, want 64", same)
	}
}
