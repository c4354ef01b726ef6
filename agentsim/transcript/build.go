package transcript

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

// Difference is a call that gives another error in a replay than it gave the
// agent.
type Difference struct {
	Call int    // of the scenario, one-based
	Tool string // as the scenario names it
	Was  string // code of the error, "error" where the agent's tools have none, "ok"
	Is   string
}

// builder runs steps over seeds, and writes down each call as a scenario has it.
type builder struct {
	tools *agenttool.Toolset
	files vfs.Backend
	// names are the revisions and cursors that results have shown, by their labels
	// in scenarios.
	names map[string]string
	shown map[string]int // how many of a kind have a label
	// translated are the revisions and cursors of the transcript, as they are here.
	translated map[string]string

	calls   []scenarioCall
	differs []Difference
}

// scenarioCall is one call of a scenario.
type scenarioCall struct {
	tool     string
	input    map[string]any // with labels
	allPages bool
	err      codes.Code // what it gives, "" for a result
}

// newBuilder returns a builder over files that start from seeds.
func newBuilder(seeds map[string]string, w world) (*builder, error) {
	files, err := w.backend(seeds)
	if err != nil {
		return nil, err
	}
	tools, err := agenttool.New(w.options(files))
	if err != nil {
		return nil, err
	}
	return &builder{tools: tools, files: files, names: map[string]string{}, shown: map[string]int{}, translated: map[string]string{}}, nil
}

// newSeeded returns a memory store whose revisions are as long as those of every
// built-in store, so that pages break alike.
func newSeeded(seeds map[string]string) (vfs.Backend, error) {
	writes := 0
	return memfs.New(seeds, &memfs.Options{NewRevision: func(time.Time, vfs.Revision) vfs.Revision {
		writes++
		return vfs.Revision(fmt.Sprintf("write-%06d", writes))
	}})
}

// errLeftOut says why a step is not taken.
var errLeftOut = errors.New("left out")

// add runs one step.
func (b *builder) add(ctx context.Context, s step) error {
	args := s.args
	if !s.native {
		var err error
		if args, err = b.withRevision(ctx, s); err != nil {
			return err
		}
	}
	if s.native {
		if err := b.assume(ctx, s); err != nil {
			return err
		}
	}
	code, outputs, err := b.run(ctx, s.tool, args, s.allPages)
	if err != nil {
		return err
	}
	if s.native {
		b.translate(s, outputs)
	}
	was, is := s.outcome(), outcomeName(code)
	if was != is && !(was == "error" && is != "ok") {
		b.differs = append(b.differs, Difference{len(b.calls), s.tool, was, is})
	}
	return nil
}

// outcome is how the call went for the agent.
func (s step) outcome() string {
	if s.native {
		if _, ok := parseResult(s.tool, s.call.Result); ok {
			return "ok"
		}
		code, _, _ := strings.Cut(s.call.Result, ": ")
		return code
	}
	if s.call.Failed {
		return "error"
	}
	return "ok"
}

func outcomeName(code codes.Code) string {
	if code == "" {
		return "ok"
	}
	return string(code)
}

// withRevision gives a change by another agent's tool the revision that ours ask
// for. Where nothing has shown it yet, a glob does.
func (b *builder) withRevision(ctx context.Context, s step) (map[string]any, error) {
	if s.tool != agenttool.WriteFile && s.tool != agenttool.EditFile && s.tool != agenttool.DeleteFile {
		return s.args, nil
	}
	out := map[string]any{}
	for name, v := range s.args {
		out[name] = v
	}
	path, _ := s.args["path"].(string)
	info, err := vfs.Stat(ctx, b.files, path)
	switch {
	case err != nil && s.tool == agenttool.WriteFile:
		return out, nil // it is made
	case err != nil:
		out["revision"] = "unknown"
		return out, nil
	}
	if _, shown := b.names[string(info.Revision)]; !shown {
		if _, _, err := b.run(ctx, agenttool.Glob, map[string]any{"pattern": path}, false); err != nil {
			return nil, err
		}
	}
	out["revision"] = string(info.Revision)
	return out, nil
}

// assume takes the revision of a change that succeeded, and that nothing in the
// transcript has shown, for the one that the file has.
func (b *builder) assume(ctx context.Context, s step) error {
	revision, _ := s.args["revision"].(string)
	path, _ := s.args["path"].(string)
	if _, known := b.translated[revision]; known || revision == "" || s.outcome() != "ok" {
		return nil
	}
	info, err := vfs.Stat(ctx, b.files, path)
	if err != nil {
		return nil // the call says so too
	}
	b.translated[revision] = string(info.Revision)
	if _, shown := b.names[string(info.Revision)]; shown {
		return nil
	}
	_, _, err = b.run(ctx, agenttool.Glob, map[string]any{"pattern": path}, false)
	return err
}

// run makes a call and writes it down.
func (b *builder) run(ctx context.Context, tool string, args map[string]any, allPages bool) (codes.Code, []agenttool.Output, error) {
	real, labelled := map[string]any{}, map[string]any{}
	for name, v := range args {
		real[name], labelled[name] = v, v
		if text, ok := v.(string); ok && (name == "revision" || name == "cursor") {
			if known, ok := b.translated[text]; ok {
				text = known
			}
			real[name], labelled[name] = text, text
			if label, ok := b.names[text]; ok {
				labelled[name] = label
			} else if strings.HasPrefix(text, "<") {
				return "", nil, fmt.Errorf("%w: its %s could be taken for a label", errLeftOut, name)
			}
		}
	}
	var outputs []agenttool.Output
	var code codes.Code
	for pages := 0; pages < maxPages; pages++ {
		input, err := encode(real)
		if err != nil {
			return "", nil, fmt.Errorf("%w: %v", errLeftOut, err)
		}
		res, err := b.tools.Call(ctx, agenttool.Scope{}, tool, input)
		if ctx.Err() != nil {
			return "", nil, ctx.Err()
		}
		if err != nil {
			code = agenttool.CodeOf(err)
			break
		}
		b.see(res.Output)
		outputs = append(outputs, res.Output)
		if !allPages || res.Output.Next() == "" {
			break
		}
		real["cursor"] = res.Output.Next()
		delete(real, "offset")
	}
	b.calls = append(b.calls, scenarioCall{tool, labelled, allPages, code})
	return code, outputs, nil
}

// maxPages bounds a call that is followed to its end.
const maxPages = 10_000

// encode writes JSON as it is written in scenarios.
func encode(v any) (json.RawMessage, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// see gives the revisions and the cursor of a result their labels, in the order in
// which a replay does.
func (b *builder) see(out agenttool.Output) {
	for _, f := range out.Files() {
		b.label("rev", string(f.Revision))
	}
	b.label("cursor", out.Next())
}

func (b *builder) label(kind, value string) {
	if _, known := b.names[value]; known || value == "" {
		return
	}
	b.shown[kind]++
	b.names[value] = fmt.Sprintf("<%s:%d>", kind, b.shown[kind])
}

// translate notes which revisions and cursors of the transcript stand for which of
// here: those of the same file, and of the same call.
func (b *builder) translate(s step, outputs []agenttool.Output) {
	result, ok := parseResult(s.tool, s.call.Result)
	if !ok {
		return
	}
	here := map[string]string{}
	for _, out := range outputs {
		for _, f := range out.Files() {
			here[f.Path] = string(f.Revision)
		}
		if next := out.Next(); next != "" && result.NextCursor != "" {
			b.translated[result.NextCursor] = next
		}
	}
	pair := func(path, revision string) {
		if now, shown := here[path]; shown && revision != "" {
			b.translated[revision] = now
		}
	}
	pair(result.Path, result.Revision)
	for _, m := range result.Matches {
		pair(m.Path, m.Revision)
	}
}
