package tiktoken_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/agenttool/tiktoken"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

func counter(t testing.TB, e tiktoken.Encoding) agenttool.TokenCounter {
	t.Helper()
	count, err := tiktoken.New(e)
	if err != nil {
		t.Fatal(err)
	}
	return count
}

// Counts as the vendor's own library gives them.
func TestCounts(t *testing.T) {
	for _, tt := range []struct {
		text          string
		o200k, cl100k int
	}{
		{"", 0, 0},
		{"hello world", 2, 2},
		{"tiktoken is great!", 6, 6},
		{"お誕生日おめでとう", 8, 9},
		{"2 + 2 = 4", 7, 7},
		{"antidisestablishmentarianism", 6, 6},
	} {
		if got := counter(t, tiktoken.O200k)(tt.text); got != tt.o200k {
			t.Errorf("o200k counts %d in %q, want %d", got, tt.text, tt.o200k)
		}
		if got := counter(t, tiktoken.CL100k)(tt.text); got != tt.cl100k {
			t.Errorf("cl100k counts %d in %q, want %d", got, tt.text, tt.cl100k)
		}
	}
}

// A text that is one long word is counted in a time that grows with its length,
// and a little too high at most.
func TestLongRuns(t *testing.T) {
	count := counter(t, tiktoken.O200k)
	for _, unit := range []string{"a", "é", "ab12-", " ", "\n", "\xff", "語"} {
		text := strings.Repeat(unit, 1<<17/len(unit))
		n := count(text)
		short := count(strings.Repeat(unit, 1024/len(unit)))
		if most := (short + 1) * (len(text)/(1024/len(unit)*len(unit)) + 1); n < 1 || n > most {
			t.Errorf("%d of %q count %d, want 1 to %d", len(text), unit, n, most)
		}
	}
}

func TestUnknown(t *testing.T) {
	if _, err := tiktoken.New("p50k"); err == nil || !strings.Contains(err.Error(), "use one of [o200k cl100k]") {
		t.Errorf("an encoding that is not known: %v", err)
	}
	if _, err := tiktoken.Named("gpt"); err == nil || !strings.Contains(err.Error(), "use one of estimate, o200k, cl100k") {
		t.Errorf("a tokenizer that is not known: %v", err)
	}
	for _, name := range tiktoken.Names() {
		if count, err := tiktoken.Named(name); err != nil || count("a b c") < 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Pages are cut by the counter that is given, fit by it, and join to the file.
func TestPages(t *testing.T) {
	content := strings.Repeat("Der Lattich heißt 生菜 🥬 and lettuce.\n", 200)
	files, err := memfs.New(map[string]string{"/a.md": content}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range tiktoken.Encodings() {
		count := counter(t, e)
		tools, err := agenttool.New(agenttool.Options{Backend: files, MaxTokens: 100, CountTokens: count})
		if err != nil {
			t.Fatal(err)
		}
		var joined strings.Builder
		args := map[string]any{"path": "/a.md"}
		for {
			input, err := json.Marshal(args)
			if err != nil {
				t.Fatal(err)
			}
			res, err := tools.Call(t.Context(), agenttool.Scope{}, agenttool.ReadFile, input)
			if err != nil {
				t.Fatal(err)
			}
			if n := count(res.Text); n > 100 || n != res.Tokens {
				t.Fatalf("%s: a page costs %d and says %d, its budget is 100", e, n, res.Tokens)
			}
			out := res.Output.(*agenttool.ReadOutput)
			joined.WriteString(out.Content)
			if out.Next() == "" {
				break
			}
			args["cursor"] = out.Next()
		}
		if joined.String() != content {
			t.Errorf("%s: the pages do not join to the file", e)
		}
	}
}

func TestConcurrent(t *testing.T) {
	count := counter(t, tiktoken.O200k)
	want := count("The quick brown fox.")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if got := count("The quick brown fox."); got != want {
					t.Errorf("%d, want %d", got, want)
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkCount(b *testing.B) {
	text := strings.Repeat("The quick brown fox jumps over the lazy dog.\n", 50)
	counters := map[string]agenttool.TokenCounter{"estimate": agenttool.EstimateTokens}
	for _, e := range tiktoken.Encodings() {
		counters[string(e)] = counter(b, e)
	}
	for name, count := range counters {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				count(text)
			}
		})
	}
}

func FuzzCount(f *testing.F) {
	count := counter(f, tiktoken.O200k)
	for _, s := range []string{"", "a", "\xff\xfe", strings.Repeat("x", 3000), " \n\t\r", "e\u0301", "<|endoftext|>", "\x7f", "a\x7fb"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if n := count(text); n < 0 || n > len(text) || text != "" && n == 0 {
			t.Fatalf("%q counts %d", text, n)
		}
	})
}
