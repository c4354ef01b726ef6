package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/internal/needle"
	"github.com/goliathfs/goliathfs/internal/visible"
	"github.com/goliathfs/goliathfs/vfs"
)

// printed is what a grep with options prints of one file.
func printed(o *grepOptions, terminal bool, content, text string) string {
	var out bytes.Buffer
	cmd := newGrep()
	cmd.SetOut(&out)
	p := newMatchPrinter(cmd, o)
	p.terminal = terminal
	n := needle.New(text, o.ignoreCase)
	var lines []needle.Line
	for line := range n.Lines(content, 0) {
		lines = append(lines, line)
	}
	if len(lines) > 0 {
		p.file(vfs.File{Info: vfs.Info{Path: "/f"}, Content: content}, n, lines)
	}
	p.Flush()
	return out.String()
}

func TestContextLines(t *testing.T) {
	const content = "m1\na\nb\nc\nm2\nm3\nd\ne\nm4"
	for _, c := range []struct {
		context int
		want    string
	}{
		{0, "1:m1 5:m2 6:m3 9:m4"},
		{1, "1:m1 2-a -- 4-c 5:m2 6:m3 7-d 8-e 9:m4"},
		{2, "1:m1 2-a 3-b 4-c 5:m2 6:m3 7-d 8-e 9:m4"},
		{9, "1:m1 2-a 3-b 4-c 5:m2 6:m3 7-d 8-e 9:m4"},
	} {
		got := printed(&grepOptions{lineNumber: true, context: c.context}, false, content, "m")
		got = strings.NewReplacer("/f:", "", "/f-", "", "\n", " ").Replace(strings.TrimSuffix(got, "\n"))
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("-C %d: -want +got\n%s", c.context, diff)
		}
	}
}

// FuzzGrepPrints: whatever a file holds, a terminal gets nothing that it acts on, and
// a line that is shown in part shows its match.
func FuzzGrepPrints(f *testing.F) {
	for _, content := range []string{"a\x1b[31mk\u202e\n", "k", "\u0085k\xff", "K\r\n\nk\r", strings.Repeat("é", 3000) + "k" + strings.Repeat("😀", 3000), "�k"} {
		f.Add(content, "k", 1)
		f.Add(content, "kK", 0)
	}
	f.Fuzz(func(t *testing.T, content, text string, context int) {
		if text == "" || strings.Contains(text, "\n") || !utf8.ValidString(text) || len(text) > 200 {
			t.Skip("not what grep takes")
		}
		o := &grepOptions{ignoreCase: true, lineNumber: true, context: max(0, min(context, 3))}
		out := printed(o, true, content, text)
		if strings.ContainsFunc(out, func(r rune) bool {
			return r != '\n' && r != '\t' && visible.Hidden(r)
		}) || !utf8.ValidString(out) {
			t.Errorf("a terminal gets %q", out)
		}
		found := false
		n := needle.New(text, true)
		for line := range n.Lines(content, 0) {
			found = true
			shown, hit, cut := part(content, line)
			if n.In(shown).Find(hit) != hit || !cut && shown != content[line.Start:line.End] {
				t.Errorf("%q is shown as %q, with the match at %d", content[line.Start:line.End], shown, hit)
			}
		}
		if found != (out != "") {
			t.Errorf("it was found: %v, printed: %q", found, out)
		}
	})
}

// What grep prints for programs is what ripgrep prints of the same files in a folder.
func TestGrepPrintsAsRipgrep(t *testing.T) {
	rg, err := exec.LookPath("rg")
	if err != nil {
		t.Skip("it compares with ripgrep, which is not installed")
	}
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(1, 4))
	words := strings.Fields("basil Basil BASIL mint water -dash a.b Σίσυφος σίσυφοσ ( é")
	for i := range 40 {
		var b strings.Builder
		for range r.IntN(30) {
			for range r.IntN(4) {
				b.WriteString(words[r.IntN(len(words))] + " ")
			}
			b.WriteString([]string{"\n", "\n", "\r\n"}[r.IntN(3)])
		}
		name := filepath.Join(dir, "notes", string(rune('a'+i%5)), fmt.Sprintf("f%02d.txt", i))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(b.String()+[]string{"", "basil at the end"}[i%2]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	compared := 0
	for _, text := range []string{"basil", "a.b", "-dash", "Σίσυφος", "(", "water mint", "nothing"} {
		for _, flags := range [][]string{nil, {"-i"}, {"-c"}, {"-l", "-i"}, {"-C", "1"}, {"-C", "3", "-i"}} {
			theirs := exec.CommandContext(t.Context(), rg, append(append([]string{"-n", "-F", "--no-heading", "--color=never", "--sort=path", "--no-config"}, flags...), "--", text, "notes")...)
			theirs.Dir = dir
			want, err := theirs.Output() // its status is compared too
			var out bytes.Buffer
			root := newRoot()
			root.SetOut(&out)
			root.SetErr(io.Discard)
			root.SetArgs(append(append([]string{"grep"}, flags...), "--", text, "static:"+dir))
			ours := root.ExecuteContext(t.Context())
			compared += len(want)
			if (err == nil) != (ours == nil) {
				t.Errorf("%s %q: %v, ripgrep says %v", flags, text, ours, err)
			}
			got := regexp.MustCompile(`(?m)^/`).ReplaceAllString(out.String(), "")
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s %q: -ripgrep +goliathfs\n%s", flags, text, diff)
			}
		}
	}
	if compared < 10_000 {
		t.Errorf("ripgrep printed %d bytes", compared)
	}
}
