package tablerow_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/vfs/sqlitefs/internal/tablerow"
)

// TestJudge: which rules a row breaks, and what a repair makes of it.
func TestJudge(t *testing.T) {
	good := tablerow.Row{Namespace: "default", Path: "/a", Key: tablerow.KeyOf("/a"), Revision: "r1", Content: "text", Size: 4}
	for _, tt := range []struct {
		name  string
		spoil func(r *tablerow.Row)
		rules []tablerow.Rule
		fixed func(r *tablerow.Row) // nil when it stays, or goes
		goes  bool
		anew  bool // it gets a new revision
	}{
		{name: "good", spoil: func(*tablerow.Row) {}},
		{name: "a blank namespace", spoil: func(r *tablerow.Row) { r.Namespace = " " }, rules: []tablerow.Rule{tablerow.RuleNamespace}},
		{name: "a path that can be cleaned", spoil: func(r *tablerow.Row) { r.Path = "//a/" }, rules: []tablerow.Rule{tablerow.RulePath},
			fixed: func(r *tablerow.Row) { r.Path = "/a" }},
		{name: "a path that cannot", spoil: func(r *tablerow.Row) { r.Path = "/../a" }, rules: []tablerow.Rule{tablerow.RulePath},
			fixed: func(r *tablerow.Row) { r.Path = "/../a" }, goes: true},
		{name: "another key", spoil: func(r *tablerow.Row) { r.Key = "00" }, rules: []tablerow.Rule{tablerow.RuleKey},
			fixed: func(r *tablerow.Row) { r.Key = tablerow.KeyOf("/a") }},
		{name: "no revision", spoil: func(r *tablerow.Row) { r.Revision = nil }, rules: []tablerow.Rule{tablerow.RuleRevision}, anew: true},
		{name: "a BLOB", spoil: func(r *tablerow.Row) { r.Content = []byte("text") }, rules: []tablerow.Rule{tablerow.RuleText},
			fixed: func(r *tablerow.Row) { r.Content = "text" }, anew: true},
		{name: "broken bytes", spoil: func(r *tablerow.Row) { r.Content = "te\xffxt" }, rules: []tablerow.Rule{tablerow.RuleText},
			fixed: func(r *tablerow.Row) { r.Content = "te\uFFFDxt" }, anew: true},
		{name: "NULL", spoil: func(r *tablerow.Row) { r.Content, r.Size = nil, 0 }, rules: []tablerow.Rule{tablerow.RuleText},
			fixed: func(r *tablerow.Row) { r.Content = "" }, anew: true},
		{name: "too large", spoil: func(r *tablerow.Row) { r.Content, r.Size = nil, 5<<20 }, rules: []tablerow.Rule{tablerow.RuleSize}},
	} {
		row := good
		tt.spoil(&row)
		v := tablerow.Judge(row)
		var rules []tablerow.Rule
		for _, f := range v.Faults {
			rules = append(rules, f.Rule)
		}
		want := row
		if tt.fixed != nil {
			tt.fixed(&want)
		}
		if diff := cmp.Diff(tt.rules, rules) + cmp.Diff(want, v.Fixed); diff != "" || v.Remove != tt.goes || v.NewRevision != tt.anew {
			t.Errorf("%s: removed %v, new revision %v, want %v, %v; (-want +got):\n%s", tt.name, v.Remove, v.NewRevision, tt.goes, tt.anew, diff)
		}
	}
}
