package jsontext_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/internal/jsontext"
)

func TestMembers(t *testing.T) {
	got, err := jsontext.Members([]byte(` {"b": {"x":[1, 2.50]}, "B":"<", "":null} `))
	want := []jsontext.Member{{Name: "b", Value: json.RawMessage(`{"x":[1, 2.50]}`)}, {Name: "B", Value: json.RawMessage(`"<"`)}, {Value: json.RawMessage("null")}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("members, %v (-want +got):\n%s", err, diff)
	}
	for _, bad := range []string{"", "[]", "null", `{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `{"a":}`, `{"a":1`, `{1:2}`, `{"a":[}`} {
		if got, err := jsontext.Members([]byte(bad)); err == nil {
			t.Errorf("%s has the members %v", bad, got)
		}
	}
}

// What encoding/json decodes is read alike, unless a name is there twice.
func FuzzMembers(f *testing.F) {
	f.Add(`{"a":1,"b":[{}]}`)
	f.Add(`{"a":1,"\u0061":2}`)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := jsontext.Members([]byte(text))
		var want map[string]json.RawMessage
		if json.Unmarshal([]byte(text), &want) != nil || want == nil {
			return // Members does not look at what follows the object
		}
		if err != nil {
			return // a name is there twice
		}
		if len(got) != len(want) {
			t.Fatalf("%q has the members %v, not %v", text, got, want)
		}
		for _, m := range got {
			if string(m.Value) != string(want[m.Name]) {
				t.Fatalf("%q: %s is %s, not %s", text, m.Name, m.Value, want[m.Name])
			}
		}
	})
}
