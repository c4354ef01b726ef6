package transcript

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goliathfs/goliathfs/agentsim/internal/strictyaml"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// render writes a scenario.
func render(title string, seeds map[string]string, calls []scenarioCall, w world) ([]byte, error) {
	var y, archive bytes.Buffer
	fmt.Fprintf(&archive, "%s\n\n-- scenario.yaml --\n", title)
	y.WriteString("version: 1\n")
	w.render(&y)
	header := false
	for _, path := range slices.SortedFunc(maps.Keys(seeds), vpath.Compare) {
		if asArchive(path, seeds[path]) {
			continue
		}
		if !header {
			y.WriteString("files:\n")
			header = true
		}
		fmt.Fprintf(&y, "  %s: {text: %s}\n", quote(path), quote(seeds[path]))
	}
	y.WriteString("calls:\n")
	for _, c := range calls {
		input, err := flow(c.input)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&y, "  - {tool: %s, input: %s", c.tool, input)
		if c.allPages {
			y.WriteString(", pages: all")
		}
		if c.err != "" {
			fmt.Fprintf(&y, ", expect: {error: %s}", c.err)
		}
		y.WriteString("}\n")
	}
	archive.Write(y.Bytes())
	for _, path := range slices.SortedFunc(maps.Keys(seeds), vpath.Compare) {
		if asArchive(path, seeds[path]) {
			fmt.Fprintf(&archive, "-- files%s --\n%s", path, seeds[path])
		}
	}
	return archive.Bytes(), nil
}

// render writes what is not as it is by default.
func (w *world) render(y *bytes.Buffer) {
	if w.tokenizer != "" {
		fmt.Fprintf(y, "tokenizer: %s\n", w.tokenizer)
	}
	if w.opts.MaxTokens > 0 {
		fmt.Fprintf(y, "budgets: {toolResultTokens: %d}\n", w.opts.MaxTokens)
	}
	var f []string
	set := func(format string, args ...any) { f = append(f, fmt.Sprintf(format, args...)) }
	if w.opts.Root != "" && w.opts.Root != "/" {
		set("root: %s", quote(w.opts.Root))
	}
	if w.opts.Writable {
		set("readOnly: false")
	}
	if w.opts.Tools != nil {
		set("tools: [%s]", strings.Join(w.opts.Tools, ", "))
	}
	f = append(f, group("read", "defaultLines", w.opts.DefaultLines, "maxLines", w.opts.MaxLines)...)
	f = append(f, group("search", "maxMatches", w.opts.MaxMatches, "maxFiles", w.opts.MaxFiles)...)
	if len(f) > 0 {
		fmt.Fprintf(y, "filesystem: {%s}\n", strings.Join(f, ", "))
	}
	if len(w.fixed)+len(w.routes) == 0 {
		return
	}
	y.WriteString("stores:\n")
	if slices.Contains(w.fixed, "/") {
		y.WriteString("  default: {store: static}\n")
	}
	header := false
	for _, prefix := range slices.Sorted(slices.Values(slices.Concat(w.fixed, w.routes))) {
		if prefix == "/" {
			continue
		}
		if !header {
			y.WriteString("  routes:\n")
			header = true
		}
		kind := "memory"
		if slices.Contains(w.fixed, prefix) {
			kind = "static"
		}
		fmt.Fprintf(y, "    %s: {store: %s}\n", quote(prefix), kind)
	}
}

func group(name, first string, a int, second string, b int) []string {
	var in []string
	if a > 0 {
		in = append(in, fmt.Sprintf("%s: %d", first, a))
	}
	if b > 0 {
		in = append(in, fmt.Sprintf("%s: %d", second, b))
	}
	if len(in) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: {%s}", name, strings.Join(in, ", "))}
}

// asArchive reports whether a seed can stand in the archive as a file: whole lines
// of text that every editor shows and keeps.
func asArchive(path, content string) bool {
	if strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r == 0x7f || r > unicode.MaxASCII }) {
		return false
	}
	if content != "" && !strings.HasSuffix(content, "\n") {
		return false
	}
	for line := range strings.Lines(content) {
		if strings.HasPrefix(line, "-- ") {
			return false // might be taken for a marker
		}
	}
	return !strings.ContainsFunc(content, hidden)
}

// hidden are characters that an editor hides or a checkout changes.
func hidden(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || r == '\ufeff' || r == utf8.RuneError || r == '\u2028' || r == '\u2029' || r == '\u0085')
}

// flow writes a value as YAML in its flow form, names in order.
func flow(v any) (string, error) {
	switch v := v.(type) {
	case map[string]any:
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			text, err := flow(v[name])
			if err != nil {
				return "", err
			}
			parts = append(parts, quote(name)+": "+text)
		}
		return "{" + strings.Join(parts, ", ") + "}", nil
	case []any:
		var parts []string
		for _, e := range v {
			text, err := flow(e)
			if err != nil {
				return "", err
			}
			parts = append(parts, text)
		}
		return "[" + strings.Join(parts, ", ") + "]", nil
	case string:
		return quote(v), nil
	case float64:
		return strictyaml.Decimal(v), nil
	}
	data, err := encode(v)
	return string(data), err
}

// quote writes a text in double quotes, with the escapes that YAML has. What can
// be read without harm stands as it is.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case hidden(r) || r > 0xffff && !unicode.IsPrint(r):
			if r > 0xffff {
				fmt.Fprintf(&b, `\U%08x`, r)
			} else {
				fmt.Fprintf(&b, `\u%04x`, r)
			}
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
