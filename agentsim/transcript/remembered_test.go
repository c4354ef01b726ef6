package transcript_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/agentsim/memory"
	"github.com/goliathfs/goliathfs/agentsim/transcript"
)

// oddTexts are what a scenario must hold as it is.
var oddTexts = []string{
	"plain", "two\nlines\n", "quotes ' \" \\ and {braces}: [x], #no comment", "-- marker --\n", "tab\there\r\n",
	"ü 漢 😀 \u2028 \ufeff", "\x1b[31mred\x07", "- list\n- list", "null", "2026-01-01", "<rev:1>", "%!&*?|>@`",
}

// What is remembered goes into a scenario, which replays its last exchange.
func TestRememberedScenario(t *testing.T) {
	for _, text := range oddTexts {
		files := map[string]string{"/a.md": text, "/odd name": text, "/plain.md": "plain\n"}
		state := memory.State{Summary: text, Recent: []memory.Exchange{
			{Ask: text, Answer: "first", At: time.Date(2026, 7, 2, 13, 46, 40, 5e6, time.UTC), Steps: []string{text}},
			{Ask: "Last: " + text, Answer: "Answer: " + text, Steps: []string{text}},
		}}
		data, err := transcript.Remembered{ID: "work/1", State: state, Files: files}.Scenario()
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		name := filepath.Join(t.TempDir(), "scenarios", "last.txtar")
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		sc, err := agentsim.Load(name)
		if err != nil {
			t.Fatalf("%q: %v\n%s", text, err, data)
		}
		shown, err := agentsim.Replay(t.Context(), sc, nil)
		if err != nil {
			t.Errorf("%q: %v\n%s", text, err, data)
			continue
		}
		// What it remembers at the end is what it remembered, where a golden can show that.
		var want strings.Builder
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(text); err != nil {
			t.Fatal(err)
		}
		if golden := string(shown.Golden()); !strings.Contains(text, "\u2028") && !strings.Contains(golden, `"summary": `+strings.TrimSpace(want.String())) {
			t.Errorf("%q: the golden has no summary %s:\n%s", text, &want, golden)
		}
	}
}

func TestRememberedRefuses(t *testing.T) {
	secret := "AKIAIOSFODNN7EXAMPLE"
	said := memory.State{Recent: []memory.Exchange{{Ask: "a", Answer: "b"}}}
	for what, r := range map[string]transcript.Remembered{
		"no exchange": {},
		"no answer":   {State: memory.State{Recent: []memory.Exchange{{Ask: "a", Answer: " "}}}},
	} {
		if _, err := r.Scenario(); !errors.Is(err, transcript.ErrNothing) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, r := range map[string]transcript.Remembered{
		"said":    {State: memory.State{Summary: "the key is " + secret, Recent: said.Recent}},
		"in file": {State: said, Files: map[string]string{"/keys": secret}},
	} {
		_, err := r.Scenario()
		if _, ok := errors.AsType[*transcript.SecretError](err); !ok || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
