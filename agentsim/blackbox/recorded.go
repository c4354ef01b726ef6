package blackbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/goliathfs/goliathfs/agentsim/internal/secret"
	"github.com/goliathfs/goliathfs/agentsim/internal/strictyaml"
	"github.com/goliathfs/goliathfs/agentsim/wire"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Scenario writes the recording as a scenario, under a description. It holds what
// the person asked, what the model answered, and the files: no header, no key, and
// no system prompt unless RecordOptions.System asks for it. It fails when one of
// the keys in the environment would stand in it.
func (r *Recording) Scenario(description string) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(strings.TrimSpace(description) + "\n")
	if r.Stopped != nil {
		b.WriteString("The agent was stopped before it ended, so the last replies are missing.\n")
	}
	if r.opts.System {
		r.writeSystem(&b)
	}
	b.WriteString("-- scenario.yaml --\nversion: 1\n")
	if r.opts.Tokenizer != "" {
		fmt.Fprintf(&b, "tokenizer: %s\n", r.opts.Tokenizer)
	}
	if r.opts.Writable {
		b.WriteString("filesystem: {readOnly: false}\n")
	}
	fmt.Fprintf(&b, "agent: {command: %s}\n", quote(r.command()))
	r.writeFiles(&b)
	b.WriteString("wire:\n")
	for _, t := range r.talks() {
		t.write(&b)
	}
	r.writeExpect(&b)
	for _, path := range sortedPaths(r.opts.Files) {
		if fitsArchive(path, r.opts.Files[path]) {
			fmt.Fprintf(&b, "-- files%s --\n%s", path, r.opts.Files[path])
		}
	}
	if name := keyIn(b.String()); name != "" {
		return nil, fmt.Errorf("the scenario would hold the value of %s, so it was not written: have the agent not repeat it, or record with another key", name)
	}
	return b.Bytes(), nil
}

// keyBefore fails where the scenario would repeat a key whatever the agent does, for
// that is better said before the model is asked.
func (o *RecordOptions) keyBefore() error {
	for _, path := range sortedPaths(o.Files) {
		if name := keyIn(o.Files[path]); name != "" {
			return fmt.Errorf("the file %s holds the value of %s, which the scenario would repeat, so the agent was not started: take it out of the file, or record with another key", path, name)
		}
	}
	if name := keyIn(quote(o.Command)); name != "" {
		return fmt.Errorf("the agent's command holds the value of %s, which the scenario would repeat, so the agent was not started: have the agent read the variable, or record with another key", name)
	}
	return nil
}

// Suspects are sentences about lines of a scenario that hold what looks like a
// secret: what was recorded is the user's own, so it is told and not refused.
func Suspects(scenario []byte) []string {
	var warnings []string
	number := 0
	for line := range strings.Lines(string(scenario)) {
		number++
		if kind := secret.In(line); kind != "" {
			warnings = append(warnings, fmt.Sprintf("line %d holds what looks like %s, replace it before you share the scenario", number, kind))
		}
	}
	return warnings
}

// keyIn returns the name of an environment variable that holds a key which the
// text repeats.
func keyIn(text string) string {
	for _, v := range os.Environ() {
		name, value, _ := strings.Cut(v, "=")
		upper := strings.ToUpper(name)
		named := slices.ContainsFunc([]string{"KEY", "TOKEN", "SECRET", "PASSW"}, func(part string) bool { return strings.Contains(upper, part) })
		if !named || len(value) < 8 {
			continue
		}
		inJSON := strings.Trim(quote(value), `"`) // as it stands in the scenario for the most part
		if strings.Contains(text, value) || strings.Contains(text, inJSON) {
			return name
		}
	}
	return ""
}

func (r *Recording) writeSystem(b *bytes.Buffer) {
	seen := map[string]bool{}
	for _, c := range r.report.Conversations {
		for _, x := range c.Exchanges {
			if x.Request.System == "" || seen[x.Request.System] {
				continue
			}
			seen[x.Request.System] = true
			b.WriteString("\nSystem prompt:\n\n")
			for line := range strings.Lines(x.Request.System) {
				b.WriteString("    " + strings.TrimRight(line, "\n") + "\n")
			}
		}
	}
}

// writeFiles writes the seeds that an archive cannot hold as they are.
func (r *Recording) writeFiles(b *bytes.Buffer) {
	header := false
	for _, path := range sortedPaths(r.opts.Files) {
		if fitsArchive(path, r.opts.Files[path]) {
			continue
		}
		if !header {
			b.WriteString("files:\n")
			header = true
		}
		fmt.Fprintf(b, "  %s: {text: %s}\n", quote(path), quote(r.opts.Files[path]))
	}
}

func (r *Recording) writeExpect(b *bytes.Buffer) {
	changed := r.changed()
	if r.Stopped != nil && len(changed) == 0 {
		return
	}
	b.WriteString("expect:\n")
	if r.Stopped == nil {
		fmt.Fprintf(b, "  exit: %d\n", r.Status)
		lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
		if last := strings.TrimSpace(lines[len(lines)-1]); last != "" && r.mask.hide(last) == last {
			fmt.Fprintf(b, "  stdout: %s\n", quote(last))
		}
	}
	if len(changed) == 0 {
		return
	}
	b.WriteString("  files:\n")
	for _, path := range slices.SortedFunc(maps.Keys(changed), vpath.Compare) {
		if text := changed[path]; text != nil {
			fmt.Fprintf(b, "    %s: {text: %s}\n", quote(path), quote(*text))
		} else {
			fmt.Fprintf(b, "    %s: absent\n", quote(path))
		}
	}
}

// talk is a conversation for a scenario.
type talk struct {
	when  string
	side  bool
	talk  *wire.Conversation
	names *names
}

// talks are the conversations in the order in which a model must look for them:
// those with the longer text first, since the shorter may be part of it.
func (r *Recording) talks() []talk {
	var all []talk
	tools := slices.ContainsFunc(r.report.Conversations, func(c wire.Conversation) bool { return len(c.Exchanges[0].Request.Tools) > 0 })
	for i := range r.report.Conversations {
		c := &r.report.Conversations[i]
		all = append(all, talk{
			when: r.when(i), talk: c, names: c.Names.(*names), // they were made here
			side: tools && len(c.Exchanges) == 1 && len(c.Exchanges[0].Request.Tools) == 0,
		})
	}
	if len(all) == 1 {
		all[0].side = false
	}
	slices.SortStableFunc(all, func(a, b talk) int { return len(b.when) - len(a.when) })
	return all
}

// when chooses a line of what the person said first by which the conversation can
// be told from the others, and which is the same each time.
func (r *Recording) when(i int) string {
	first := r.report.Conversations[i].Exchanges[0].Request
	var fallback string
	for _, m := range slices.Backward(first.Messages) {
		if m.Role != wire.User {
			continue
		}
		for line := range strings.Lines(m.Text) {
			line = strings.TrimSpace(line)
			if line == "" || r.mask.hide(line) != line {
				continue
			}
			if fallback == "" {
				fallback = line
			}
			if !slices.ContainsFunc(r.report.Conversations, func(c wire.Conversation) bool {
				return c.Exchanges[0].Request != first && saidIn(c.Exchanges[0].Request, line)
			}) {
				return line
			}
		}
	}
	return fallback
}

func saidIn(r *wire.Request, text string) bool {
	return slices.ContainsFunc(r.Messages, func(m wire.Message) bool { return m.Role == wire.User && strings.Contains(m.Text, text) })
}

func (t *talk) write(b *bytes.Buffer) {
	fmt.Fprintf(b, "  - when: %s\n", quote(t.when))
	if t.side {
		b.WriteString("    side: true\n")
	}
	b.WriteString("    model:\n")
	retries := 0
	for i := range t.talk.Exchanges {
		x := &t.talk.Exchanges[i]
		retries += x.Retries()
		for _, reply := range x.Replies {
			fmt.Fprintf(b, "      - {%s}\n", strings.Join(t.reply(x, &reply), ", "))
		}
	}
	if retries > 0 {
		fmt.Fprintf(b, "    expect: {retries: %d}\n", retries)
	}
}

// reply is a reply as a scenario has it. The message of an error is left out, for
// some repeat the key that was refused; so is how long the client was to wait.
func (t *talk) reply(x *wire.Exchange, r *wire.Reply) []string {
	if r.Error != nil {
		text := fmt.Sprintf("error: {status: %d", r.Error.Status)
		if r.Error.RetryAfter != nil {
			text += ", retryAfter: 0s"
		}
		return []string{text + "}"}
	}
	var parts []string
	if r.Text != "" || len(r.Calls) == 0 && !r.Cut {
		parts = append(parts, "text: "+quote(r.Text))
	}
	var calls []string
	for _, c := range r.Calls {
		call := fmt.Sprintf("{name: %s, input: %s}", quote(x.Request.OwnName(&c)), t.input(c.Input))
		if !x.Request.Owns(&c) && c.Namespace != "" {
			call = fmt.Sprintf("{namespace: %s, %s", quote(c.Namespace), call[1:])
		}
		calls = append(calls, call)
	}
	switch len(calls) {
	case 0:
	case 1:
		parts = append(parts, "toolCall: "+calls[0])
	default:
		parts = append(parts, "toolCalls: ["+strings.Join(calls, ", ")+"]")
	}
	if r.Truncated {
		parts = append(parts, "truncated: true")
	}
	if r.Cut {
		parts = append(parts, "cut: true")
	}
	return parts
}

// input puts labels in place of the revision and the cursor that the model took
// from a result.
func (t *talk) input(input json.RawMessage) string {
	var args map[string]any
	dec := json.NewDecoder(bytes.NewReader(input))
	dec.UseNumber()
	if dec.Decode(&args) != nil {
		return "{}"
	}
	for _, key := range []string{"revision", "cursor"} {
		if value, ok := args[key].(string); ok {
			args[key] = t.names.hideWhole(value)
		}
	}
	return quote(yamlNumbers(args))
}

// yamlNumbers writes the numbers in a value so that YAML reads them as JSON does.
func yamlNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if _, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			return v
		}
		f, err := v.Float64()
		if err != nil { // no number that anyone can hold: then the tool refuses this too
			return v.String()
		}
		return json.RawMessage(strictyaml.Decimal(f))
	case []any:
		for i := range v {
			v[i] = yamlNumbers(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = yamlNumbers(v[name])
		}
	}
	return v
}

// quote writes a value as JSON, which YAML reads as the same.
func quote(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return `""` // a text, a list of texts and what came as JSON can be written
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func sortedPaths(files map[string]string) []string {
	return slices.SortedFunc(maps.Keys(files), vpath.Compare)
}

// fitsArchive reports whether a seed can stand in the archive as a file: whole lines of
// text that every editor shows and keeps.
func fitsArchive(path, text string) bool {
	if path != strings.TrimSpace(path) || strings.ContainsFunc(path, unicode.IsControl) || text != "" && !strings.HasSuffix(text, "\n") {
		return false
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "-- ") {
			return false
		}
	}
	return !strings.ContainsFunc(text, func(c rune) bool {
		return c != '\n' && c != '\t' && (unicode.IsControl(c) || c == '\ufeff' || c == unicode.ReplacementChar || c == '\u2028' || c == '\u2029')
	})
}
