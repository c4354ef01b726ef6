package agentsim_test

import (
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/agentsim"
)

// A golden whose scenario was renamed or lost is told, also when goldens are
// written, and stays where it is.
func TestOrphans(t *testing.T) {
	dir := tree(t, map[string]string{
		"scenarios/a/good.txtar": scenario(look),
		"golden/a/lost.txtar":    "what it was\n",
		"golden/b/lost.txtar":    "what it was\n",
		"golden/b/notes.md":      "not a golden\n",
	})
	for _, c := range []struct {
		name   string
		runner agentsim.Runner
		want   []string
	}{
		{"update", agentsim.Runner{Update: true}, []string{"a/good updated", "a/lost differs", "b/lost differs"}},
		{"compare", agentsim.Runner{}, []string{"a/good passed", "a/lost differs", "b/lost differs"}},
		{"another directory of goldens", agentsim.Runner{Golden: filepath.Join(dir, "golden")}, []string{"a/good passed", "a/lost differs", "b/lost differs"}},
		{"some", agentsim.Runner{Match: regexp.MustCompile("good")}, []string{"a/good passed"}},
	} {
		got := runIn(t, dir, c.runner)
		if diff := cmp.Diff(c.want, got.results); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.name, diff)
		}
		if got.sum.Total != len(c.want) {
			t.Errorf("%s: the summary counts %d", c.name, got.sum.Total)
		}
	}
	one := &collector{}
	area := agentsim.Runner{Paths: []string{filepath.Join(dir, "scenarios", "a")}, Reporter: one}
	if _, err := area.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a/good passed", "a/lost differs"}, one.results); diff != "" {
		t.Errorf("one area: -want +got\n%s", diff)
	}
}

// Goldens inside a directory of scenarios are not scenarios themselves.
func TestGoldensInsideTheDirectory(t *testing.T) {
	for _, golden := range []string{"", "tests/a/expected"} {
		dir := tree(t, map[string]string{"tests/a/good.txtar": scenario(look)})
		if golden != "" {
			golden = filepath.Join(dir, golden)
		}
		for _, want := range []string{"a/good updated", "a/good passed"} {
			got := &collector{}
			r := agentsim.Runner{Paths: []string{filepath.Join(dir, "tests")}, Golden: golden, Update: want == "a/good updated", Reporter: got}
			if _, err := r.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{want}, got.results); diff != "" {
				t.Errorf("goldens in %q: -want +got\n%s", golden, diff)
			}
		}
	}
}

// From inside a directory of scenarios, the goldens beside it are the same.
func TestInsideTheScenarios(t *testing.T) {
	dir := tree(t, map[string]string{"scenarios/a/good.txtar": scenario(look), "scenarios/b/good.txtar": scenario(look)})
	got := runIn(t, dir, agentsim.Runner{Update: true})
	if diff := cmp.Diff([]string{"a/good updated", "b/good updated"}, got.results); diff != "" {
		t.Fatalf("-want +got\n%s", diff)
	}
	for _, tt := range []struct {
		in, path string
		want     []string
	}{
		{"scenarios", ".", []string{"a/good passed", "b/good passed"}},
		{"scenarios", "a", []string{"a/good passed"}},
		{"scenarios/b", "good.txtar", []string{"b/good passed"}},
		{"scenarios/b", "../a", []string{"a/good passed"}},
	} {
		t.Chdir(filepath.Join(dir, tt.in))
		got := &collector{}
		r := agentsim.Runner{Paths: []string{tt.path}, Reporter: got}
		if _, err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, got.results); diff != "" {
			t.Errorf("%s from %s: -want +got\n%s", tt.path, tt.in, diff)
		}
	}
}
