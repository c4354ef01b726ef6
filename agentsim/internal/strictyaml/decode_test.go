package strictyaml_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/agentsim/internal/strictyaml"
)

type color string

func (color) Allowed() []string { return []string{"red", "green"} }

type doc struct {
	Pos   strictyaml.Pos
	Name  string          `yaml:"name"`
	Count *int            `yaml:"count"`
	On    bool            `yaml:"on"`
	Color color           `yaml:"color"`
	Tags  []string        `yaml:"tags"`
	Sub   map[string]item `yaml:"sub"`
	Raw   json.RawMessage `yaml:"raw"`
	Any   texts           `yaml:"any"`
	Short short           `yaml:"short"`
}

type texts []string

func (texts) OneOrMany() {}

type short struct {
	Pos  strictyaml.Pos
	Text string `yaml:"text"`
}

func (s *short) SetText(text string) { s.Text = "short " + text }

func (s *short) Validate() error {
	if s.Text == "short bad" {
		return errors.New("it is bad")
	}
	return nil
}

type item struct {
	Pos  strictyaml.Pos
	Size int `yaml:"size"`
}

func (i *item) Validate() error {
	if i.Size > 9 {
		return errors.New("size is above 9")
	}
	return nil
}

func TestDecode(t *testing.T) {
	var d doc
	if err := strictyaml.Decode("f", 10, []byte("\ufeffname: |\n  two\n  lines\ncount: 31\non: true\ncolor: green\ntags: [yes, '1']\nsub:\n  a: {size: 1}\n  '': {}\nraw: {b: [1, 1.5, null, true, \"<&>\"], a: ~}\nany: one\nshort: text\n"), &d); err != nil {
		t.Fatal(err)
	}
	n := 31
	want := doc{
		Pos: strictyaml.Pos{File: "f", Line: 10, Column: 1}, Name: "two\nlines\n", Count: &n, On: true, Color: "green", Tags: []string{"yes", "1"},
		Sub: map[string]item{"a": {strictyaml.Pos{File: "f", Line: 18, Column: 7}, 1}, "": {Pos: strictyaml.Pos{File: "f", Line: 19, Column: 7}}},
		Raw: json.RawMessage(`{"b":[1,1.5,null,true,"<&>"],"a":null}`),
		Any: texts{"one"}, Short: short{strictyaml.Pos{File: "f", Line: 22, Column: 8}, "short text"},
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("decoded (-want +got):\n%s", diff)
	}
}

func TestErrorsSayWhereAndWhat(t *testing.T) {
	for _, tt := range []struct{ src, place, message string }{
		{"nam: x", "f:5:1", `"nam" is not a name that is known here; allowed are name, count, on, color, tags, sub, raw, any, short`},
		{"name: x\nsub:\n  a: {sise: 1}", "f:7:7", "allowed are size"},
		{"color: blue", "f:5:8", "allowed are red, green"},
		{"color: true", "f:5:8", "true is not a value that is known here; allowed are red, green"},
		{"color: [red]", "f:5:8", "a list is not a value that is known here"},
		{"color:", "f:5:8", "allowed are red, green"},
		{"any: {a: 1}", "f:5:6", "a text belongs here"},
		{"any: 5", "f:5:6", "double quotes"},
		{"short: bad", "f:5:8", "it is bad"},
		{"short: 5", "f:5:8", "names with values"},
		{"short: 1e5", "f:5:8", "decimal"},
		{"count: 010", "f:5:8", "differ over the number 010"},
		{"count: 1_0", "f:5:8", "decimal"},
		{"count: 0b11", "f:5:8", "decimal"},
		{"count: 0x1F", "f:5:8", "decimal"},
		{"count: 0o7", "f:5:8", "decimal"},
		{"count: +5", "f:5:8", "decimal"},
		{"count: 1e3", "f:5:8", "a whole number"},
		{"name: 08", "f:5:7", "decimal"},
		{"raw: [010]", "f:5:7", "decimal"},
		{"raw: {a: 1e3}", "f:5:10", "decimal"},
		{"raw: 1_0.5", "f:5:6", "decimal"},
		{"raw: .5", "f:5:6", "decimal"},
		{"raw: 0b11", "f:5:6", "decimal"},
		{"raw: 99999999999999999999", "f:5:6", "decimal"},
		{"count: many", "f:5:8", "a whole number"},
		{"count: 1.5", "f:5:8", "a whole number"},
		{"count: 99999999999999999999", "f:5:8", "a whole number"},
		{"on: yes", "f:5:5", "true or false"},
		{"name: 5", "f:5:7", "double quotes"},
		{"name:", "f:5:7", "a text belongs here, not nothing"},
		{"tags: x", "f:5:7", "a list belongs here"},
		{"tags: [[a]]", "f:5:8", "a text belongs here, not a list"},
		{"sub: [a]", "f:5:6", "names with values"},
		{"sub: {a: {size: 10}}", "f:5:11", "above 9"},
		{"sub: {1: {}, \"1\": {}}", "f:5:14", "twice"},
		{"name: a\nname: b", "f:6:1", "twice"},
		{"name: &a x", "f:5:7", "anchor"},
		{"name: *a", "f:5:7", "anchor"},
		{"raw: !!binary x", "f:5:6", "a tag cannot stand here"},
		{"raw: .inf", "f:5:6", "cannot stand here"},
		{"a: [", "f:5:4", "not YAML"},
		{"", "f:5:1", "nothing in it"},
		{"name: a\n---\nname: b", "f:7:5", "second document"},
		{"- a", "f:5:1", "names with values"},
		{"name: \xff", "f:5:1", "not valid UTF-8"},
		{"raw: " + strings.Repeat("[", 100) + strings.Repeat("]", 100), "f:5:", "deep"},
		{"raw: " + strings.Repeat("[", 5000), "f:5:1", "deep"},
	} {
		var d doc
		err := strictyaml.Decode("f", 5, []byte(tt.src), &d)
		var se *strictyaml.Error
		if !errors.As(err, &se) || !strings.HasPrefix(err.Error(), tt.place) || !strings.Contains(err.Error(), tt.message) {
			t.Errorf("%.40q: %v; want %s and %q", tt.src, err, tt.place, tt.message)
		}
	}
}

// What is a number to every reader, and what is in quotes, passes as it stands.
func TestNumbers(t *testing.T) {
	var d doc
	const src = `raw: [0, -5, 1.50, -0.5e-3, "010", '1e3', 2026-01-01, 1.2.3]`
	if err := strictyaml.Decode("f", 1, []byte(src+"\nname: \"08\"\n"), &d); err != nil {
		t.Fatal(err)
	}
	if want := `[0,-5,1.50,-0.5e-3,"010","1e3","2026-01-01","1.2.3"]`; string(d.Raw) != want || d.Name != "08" {
		t.Errorf("read as %s and %q, want %s", d.Raw, d.Name, want)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("name: x\nsub: {a: {size: 1}}\nraw: {a: [1, null]}\n")
	f.Add("name: |\n  a\ntags:\n- b\n")
	f.Add("? a\n: b\n")
	f.Add("raw: {a: *x, <<: &y {}}")
	f.Fuzz(func(t *testing.T, src string) {
		var d doc
		err := strictyaml.Decode("f", 1, []byte(src), &d)
		var se *strictyaml.Error
		if err != nil && !errors.As(err, &se) {
			t.Fatalf("an error without a place: %v", err)
		}
		if err == nil && d.Raw != nil && !json.Valid(d.Raw) {
			t.Fatalf("%q gave the JSON %q", src, d.Raw)
		}
	})
}
