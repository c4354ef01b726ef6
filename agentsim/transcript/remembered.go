package transcript

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/goliathfs/goliathfs/agentsim/internal/secret"
	"github.com/goliathfs/goliathfs/agentsim/memory"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Remembered is a conversation as an agent remembers it, with the files that it sees,
// from which scenarios are made.
type Remembered struct {
	ID    string // "" is the default conversation
	State memory.State
	Files map[string]string // by canonical path
}

// Memory returns the part memory of a scenario, as YAML. A *SecretError says that
// something in it looks like a secret.
func (r Remembered) Memory() ([]byte, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	return r.memory(r.State), nil
}

// Scenario returns a scenario that replays the last exchange: what was remembered
// before it, the files, the request, and a model that answers as it did. What a tool was
// called with is not remembered, so its line stands in the description. ErrNothing:
// there is no exchange with a request and an answer.
func (r Remembered) Scenario() ([]byte, error) {
	n := len(r.State.Recent)
	if n == 0 || strings.TrimSpace(r.State.Recent[n-1].Ask) == "" || strings.TrimSpace(r.State.Recent[n-1].Answer) == "" {
		return nil, fmt.Errorf("%w: no exchange is remembered that has a request and an answer", ErrNothing)
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	last, before := r.State.Recent[n-1], r.State
	before.Recent = before.Recent[:n-1]
	var out bytes.Buffer
	out.WriteString("The last exchange of a conversation, as it was remembered.\n")
	for _, step := range last.Steps {
		fmt.Fprintf(&out, "A tool ran: %s\n", strings.Trim(quote(step), `"`))
	}
	out.WriteString("\n-- scenario.yaml --\nversion: 1\n")
	if before.Summary != "" || n > 1 {
		out.Write(r.memory(before))
	}
	fmt.Fprintf(&out, "turns:\n  - ask: %s\n", quote(last.Ask))
	if r.ID != "" {
		fmt.Fprintf(&out, "    conversation: %s\n", quote(r.ID))
	}
	fmt.Fprintf(&out, "    model:\n      - json: {kind: answer, brief: answer}\n      - text: %s\n", quote(last.Answer))
	out.WriteString("    expect: {handledBy: device}\n")
	renderSeeds(&out, r.Files)
	return out.Bytes(), nil
}

func (r Remembered) memory(s memory.State) []byte {
	var y bytes.Buffer
	fmt.Fprintf(&y, "memory:\n  %s:\n    summary: %s\n", quote(r.ID), quote(s.Summary))
	if len(s.Recent) == 0 {
		return y.Bytes()
	}
	y.WriteString("    recent:\n")
	for _, x := range s.Recent {
		fmt.Fprintf(&y, "      - ask: %s\n        answer: %s\n", quote(x.Ask), quote(x.Answer))
		if !x.At.IsZero() {
			fmt.Fprintf(&y, "        at: %s\n", quote(x.At.UTC().Format(time.RFC3339Nano)))
		}
		var steps []string
		for _, step := range x.Steps {
			steps = append(steps, quote(step))
		}
		if len(steps) > 0 {
			fmt.Fprintf(&y, "        steps: [%s]\n", strings.Join(steps, ", "))
		}
	}
	return y.Bytes()
}

// check refuses what looks like a secret.
func (r Remembered) check() error {
	texts := []string{r.State.Summary}
	for _, x := range r.State.Recent {
		texts = append(append(texts, x.Ask, x.Answer), x.Steps...)
	}
	if kind := secret.In(strings.Join(texts, "\n")); kind != "" {
		return &SecretError{"what is remembered", 0, kind}
	}
	for _, path := range slices.SortedFunc(maps.Keys(r.Files), vpath.Compare) {
		if kind := secret.In(r.Files[path]); kind != "" {
			return &SecretError{path, 0, kind}
		}
	}
	return nil
}

// renderSeeds ends a scenario with the files that it starts from: in its YAML those
// that cannot stand in an archive.
func renderSeeds(out *bytes.Buffer, seeds map[string]string) {
	paths := slices.SortedFunc(maps.Keys(seeds), vpath.Compare)
	header := false
	for _, path := range paths {
		if asArchive(path, seeds[path]) {
			continue
		}
		if !header {
			out.WriteString("files:\n")
			header = true
		}
		fmt.Fprintf(out, "  %s: {text: %s}\n", quote(path), quote(seeds[path]))
	}
	for _, path := range paths {
		if asArchive(path, seeds[path]) {
			fmt.Fprintf(out, "-- files%s --\n%s", path, seeds[path])
		}
	}
}
