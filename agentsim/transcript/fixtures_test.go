package transcript_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/agentsim/transcript"
)

var update = flag.Bool("update", false, "write testdata/scenarios anew")

// load reads a transcript of testdata.
func load(t testing.TB, name string) *transcript.Transcript {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata/transcripts", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tr, err := transcript.Read(f, &transcript.Options{File: name})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// summary is what a person is told beside the scenario.
func summary(tr *transcript.Transcript, s *transcript.Scenario) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, folder %q, %d calls\n", tr.Format, tr.Dir, s.Calls)
	for _, l := range s.LeftOut {
		fmt.Fprintf(&b, "left out: %d of %s: %s\n", l.Calls, l.Tool, l.Why)
	}
	for _, p := range s.Partial {
		fmt.Fprintf(&b, "partial: %s: %s\n", p.Path, p.Why)
	}
	for _, d := range s.Differs {
		fmt.Fprintf(&b, "differs: call %d %s was %s, is %s\n", d.Call, d.Tool, d.Was, d.Is)
	}
	for _, d := range tr.Damaged {
		fmt.Fprintf(&b, "damaged: line %d: %s\n", d.Line, d.Why)
	}
	return b.String()
}

// Each recorded transcript is recognised and gives the scenario that is kept
// beside it, which replays.
func TestFixtures(t *testing.T) {
	for name, format := range map[string]transcript.Format{
		"atif-v1.7.json":         transcript.ATIF,
		"claude-code.jsonl":      transcript.ClaudeCode,
		"codex-rollout.jsonl":    transcript.Codex,
		"mcp-frames-go-sdk.log":  transcript.MCPFrames,
		"mcp-frames.jsonl":       transcript.MCPFrames,
		"opencode-export.json":   transcript.OpenCode,
		"openhands.json":         transcript.OpenHands,
		"openhands-events.jsonl": transcript.OpenHands,
		"otel-genai-events.json": transcript.OTel,
		"otel-genai-spans.json":  transcript.OTel,
		"swe-agent.traj":         transcript.SWEAgent,
		"swe-agent-actions.traj": transcript.SWEAgent,
	} {
		t.Run(name, func(t *testing.T) {
			tr := load(t, name)
			if tr.Format != format {
				t.Errorf("it is taken for %s, want %s", tr.Format, format)
			}
			s, err := tr.Scenario(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got := []byte(summary(tr, s) + "\n" + string(s.Data))
			file := filepath.Join("testdata/scenarios", name+".txt")
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("(-kept +made):\n%s", diff)
			}
			sc, err := agentsim.Parse(name, "x", s.Data)
			if err != nil {
				t.Fatal(err)
			}
			first, err := agentsim.Replay(t.Context(), sc, nil)
			if err != nil {
				t.Fatal(err)
			}
			second, err := agentsim.Replay(t.Context(), sc, nil)
			if err != nil || !bytes.Equal(first.Golden(), second.Golden()) {
				t.Errorf("two replays differ, %v", err)
			}
			for _, private := range []string{"/home/dev", "/repo", "/workspace", "call_", "session", "2026-01-01", "typo?", "You fix"} {
				if strings.Contains(string(s.Data), private) {
					t.Errorf("the scenario has %q in it", private)
				}
			}
		})
	}
}
