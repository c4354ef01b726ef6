package agentsim_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/agentsim"
)

// collector is a Reporter that keeps what it is told.
type collector struct {
	results []string
	sum     agentsim.Summary
}

func (c *collector) Report(r agentsim.Result) {
	c.results = append(c.results, r.Location.Name+" "+string(r.Status))
}
func (c *collector) Finish(s agentsim.Summary) error { c.sum = s; return nil }

func runIn(t *testing.T, dir string, r agentsim.Runner) *collector {
	t.Helper()
	c := &collector{}
	r.Paths, r.Reporter = []string{filepath.Join(dir, "scenarios")}, c
	if _, err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

const broken = `calls: [{tool: readFile, input: {path: /no}}]`

// From an empty folder to red and green, and what an update may touch.
func TestUpdateAndCompare(t *testing.T) {
	dir := tree(t, map[string]string{
		"scenarios/a/good.txtar":   scenario(look, "/x", "x\n"),
		"scenarios/a/fails.txtar":  scenario(broken),
		"scenarios/b/typo.txtar":   "-- scenario.yaml --\nversion: 1\ncall: []\n",
		"golden/a/fails.txtar":     "what it was\n",
		"golden/b/typo.txtar":      "what it was\n",
		"scenarios/b/second.txtar": scenario(look),
	})
	steps := []struct {
		name    string
		runner  agentsim.Runner
		edit    func()
		results []string
	}{
		{"no goldens yet", agentsim.Runner{}, nil, []string{"a/fails failed", "a/good differs", "b/second differs", "b/typo failed"}},
		{"update", agentsim.Runner{Update: true}, nil, []string{"a/fails failed", "a/good updated", "b/second updated", "b/typo failed"}},
		{"update again", agentsim.Runner{Update: true}, nil, []string{"a/fails failed", "a/good passed", "b/second passed", "b/typo failed"}},
		{"compare", agentsim.Runner{Parallel: 1}, nil, []string{"a/fails failed", "a/good passed", "b/second passed", "b/typo failed"}},
		{"only some", agentsim.Runner{Match: regexp.MustCompile("^b/s")}, nil, []string{"b/second passed"}},
		{"an edited scenario", agentsim.Runner{Match: regexp.MustCompile("good")}, func() {
			if err := os.WriteFile(filepath.Join(dir, "scenarios/a/good.txtar"), []byte(scenario(look, "/y", "x\n")), 0o644); err != nil {
				t.Fatal(err)
			}
		}, []string{"a/good differs"}},
	}
	for _, s := range steps {
		if s.edit != nil {
			s.edit()
		}
		if diff := cmp.Diff(s.results, runIn(t, dir, s.runner).results); diff != "" {
			t.Errorf("%s (-want +got):\n%s", s.name, diff)
		}
	}
	for _, name := range []string{"a/fails", "b/typo"} {
		if got := readFile(t, dir, "golden", name+".txtar"); got != "what it was\n" {
			t.Errorf("the golden of the failed run %s became %q", name, got)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "golden", "*", ".*"))
	if err != nil || len(left) != 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
}

// A result names the step that failed, and the one that differs.
func TestResultNamesTheStep(t *testing.T) {
	second := strings.TrimSuffix(look, "]") + ", {tool: readFile, input: {path: /a}}]"
	dir := tree(t, map[string]string{
		"scenarios/fails.txtar":   scenario(second),
		"scenarios/differs.txtar": scenario(second, "/a", "x\n"),
		"golden/differs.txtar":    strings.ReplaceAll(replay(t, scenario(second, "/a", "x\n")), "\nx\n", "\ny\n"),
	})
	for name, want := range map[string]agentsim.Status{"fails": agentsim.Failed, "differs": agentsim.Differs} {
		locs, err := agentsim.Find("", filepath.Join(dir, "scenarios", name+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		if res := (&agentsim.Runner{}).RunOne(t.Context(), locs[0]); res.Status != want || res.Step != "2 readFile" {
			t.Errorf("%s: %s at %q, %v", name, res.Status, res.Step, res.Err)
		}
	}
}

// Expectations state what is meant, so an update does not silence them.
func TestUpdateKeepsExpectations(t *testing.T) {
	dir := tree(t, map[string]string{"scenarios/a/s.txtar": scenario(`calls: [{tool: glob, input: {pattern: "/**"}, expect: {maxTokens: 3}}]`)})
	got := runIn(t, dir, agentsim.Runner{Update: true})
	if got.results[0] != "a/s failed" {
		t.Errorf("the update gave %v", got.results)
	}
	if _, err := os.Stat(filepath.Join(dir, "golden")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a golden was written: %v", err)
	}
}

// Goldens in the directory of the scenarios would be the scenarios' own files.
func TestUpdateSparesScenarios(t *testing.T) {
	dir := tree(t, map[string]string{"scenarios/a/s.txtar": scenario(look), "scenarios/b/s.txtar": scenario(look), "scenarios/b/a/s.txtar": scenario(look)})
	for _, golden := range []string{"scenarios", "scenarios/b"} {
		got := runIn(t, dir, agentsim.Runner{Update: true, Golden: filepath.Join(dir, golden), Match: regexp.MustCompile("^a/s$")})
		if diff := cmp.Diff([]string{"a/s failed"}, got.results); diff != "" {
			t.Errorf("goldens in %s (-want +got):\n%s", golden, diff)
		}
	}
	for _, name := range []string{"a/s", "b/a/s"} {
		if got := readFile(t, dir, "scenarios", name+".txtar"); got != scenario(look) {
			t.Errorf("the scenario %s became\n%s", name, got)
		}
	}
}

func TestUpdateIsRefusedInCI(t *testing.T) {
	dir := tree(t, map[string]string{"scenarios/a/s.txtar": scenario(look)})
	r := agentsim.Runner{Paths: []string{dir}, Update: true, CI: true}
	if _, err := r.Run(t.Context()); !errors.Is(err, agentsim.ErrUpdateInCI) {
		t.Errorf("the update gave %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "golden")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a golden was written: %v", err)
	}
}

func TestInCI(t *testing.T) {
	for _, tt := range []struct {
		env  map[string]string
		want bool
	}{
		{nil, false},
		{map[string]string{"CI": "true"}, true},
		{map[string]string{"CI": "1"}, true},
		{map[string]string{"CI": "woodpecker"}, true},
		{map[string]string{"CI": "false"}, false},
		{map[string]string{"CI": "false", "GITHUB_ACTIONS": "true"}, false},
		{map[string]string{"GITHUB_ACTIONS": "true"}, true},
		{map[string]string{"GITHUB_ACTIONS": "false"}, false},
		{map[string]string{"GITLAB_CI": "true"}, true},
		{map[string]string{"TF_BUILD": "True"}, true},
		{map[string]string{"JENKINS_URL": "http://x/"}, true},
		{map[string]string{"TEAMCITY_VERSION": "2026.1"}, true},
		{map[string]string{"BUILDKITE": "true"}, true},
		{map[string]string{"bamboo_buildKey": "X-1"}, true},
		{map[string]string{"HOME": "/ci"}, false},
	} {
		if got := agentsim.InCI(func(name string) string { return tt.env[name] }); got != tt.want {
			t.Errorf("%v is continuous integration: %t", tt.env, got)
		}
	}
}

// Without a scenario a golden is removed when that is asked for, with the folders
// that it leaves empty; what is no golden stays.
func TestUnreferencedGoldens(t *testing.T) {
	lost := replay(t, scenario(look))
	dir := tree(t, map[string]string{
		"scenarios/a/good.txtar": scenario(look), "golden/a/good.txtar": strings.Replace(lost, "area/s", "a/good", 1),
		"golden/b/deep/lost.txtar": lost, "golden/c/mine.txtar": "-- x --\n",
	})
	for _, tt := range []struct {
		runner agentsim.Runner
		want   []string
	}{
		{agentsim.Runner{Unreferenced: true}, []string{"a/good passed", "b/deep/lost differs", "c/mine differs"}},
		{agentsim.Runner{Update: true}, []string{"a/good passed", "b/deep/lost differs", "c/mine differs"}},
		{agentsim.Runner{Update: true, Unreferenced: true}, []string{"a/good passed", "b/deep/lost removed", "c/mine failed"}},
		{agentsim.Runner{}, []string{"a/good passed", "c/mine differs"}},
	} {
		got := runIn(t, dir, tt.runner)
		if diff := cmp.Diff(tt.want, got.results); diff != "" || got.sum.OK() {
			t.Errorf("OK %t, -want +got\n%s", got.sum.OK(), diff)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "golden", "b")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the empty folder is left: %v", err)
	}
}

// FailFast ends at the first failure in order of name, whatever ran first.
func TestFailFast(t *testing.T) {
	files := map[string]string{"scenarios/m/fails.txtar": scenario(broken)}
	for i := range 20 {
		files[fmt.Sprintf("scenarios/a/%02d.txtar", i)] = scenario(look)
		files[fmt.Sprintf("scenarios/z/%02d.txtar", i)] = scenario(broken)
	}
	dir := tree(t, files)
	runIn(t, dir, agentsim.Runner{Update: true})
	for range 5 {
		got := runIn(t, dir, agentsim.Runner{FailFast: true})
		if n := len(got.results); n != 21 || got.results[20] != "m/fails failed" || got.sum.Left != 20 || got.sum.OK() {
			t.Errorf("%d results, the last is %s; %s", n, got.results[n-1], got.sum)
		}
	}
	if got := runIn(t, dir, agentsim.Runner{Only: []string{filepath.Join(dir, "scenarios/z/03.txtar"), "elsewhere.txtar"}}); !cmp.Equal(got.results, []string{"z/03 failed"}) {
		t.Errorf("only one gave %v", got.results)
	}
}

// An update writes no golden that it does not tell of: what ran after the first
// failure stays as it was.
func TestUpdateWritesWhatItTells(t *testing.T) {
	files := map[string]string{"scenarios/m/fails.txtar": scenario(broken)}
	for i := range 20 {
		files[fmt.Sprintf("scenarios/a/%02d.txtar", i)] = scenario(look)
		files[fmt.Sprintf("scenarios/z/%02d.txtar", i)] = scenario(look)
	}
	dir := tree(t, files)
	got := runIn(t, dir, agentsim.Runner{Update: true, FailFast: true, Parallel: 8})
	if got.sum.Updated != 20 || got.sum.Left != 20 {
		t.Errorf("the summary is %s", got.sum)
	}
	for area, want := range map[string]int{"a": 20, "z": 0} {
		written, err := filepath.Glob(filepath.Join(dir, "golden", area, "*"))
		if err != nil || len(written) != want {
			t.Errorf("%d goldens of %s were written, want %d: %v", len(written), area, want, err)
		}
	}
}

// A review shows each change in order and writes what is taken.
func TestReview(t *testing.T) {
	dir := tree(t, map[string]string{"scenarios/a.txtar": scenario(look), "scenarios/b.txtar": scenario(broken), "scenarios/c.txtar": scenario(look), "scenarios/d.txtar": scenario(look)})
	runIn(t, dir, agentsim.Runner{Update: true, Match: regexp.MustCompile("a")})
	if err := os.WriteFile(filepath.Join(dir, "scenarios/a.txtar"), []byte(scenario(look, "/new", "x\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	var asked []string
	review := func(ends string) func(context.Context, agentsim.GoldenChange) (bool, error) {
		return func(_ context.Context, c agentsim.GoldenChange) (bool, error) {
			asked = append(asked, fmt.Sprintf("%s %t", c.Location.Name, c.New))
			if c.Location.Name == "a" && !strings.Contains(c.Text, "\n+-- file /new --\n+x\n") {
				t.Errorf("the change is shown as\n%s", c.Text)
			}
			if c.Location.Name == ends {
				return false, agentsim.ErrReviewEnded
			}
			return c.Location.Name != "c", nil
		}
	}
	got := runIn(t, dir, agentsim.Runner{Review: review("c")})
	if diff := cmp.Diff([]string{"a updated", "b failed", "c differs", "d differs"}, got.results); diff != "" {
		t.Errorf("a review that ends early: -want +got\n%s", diff)
	}
	got = runIn(t, dir, agentsim.Runner{Review: review("")})
	if diff := cmp.Diff([]string{"a passed", "b failed", "c differs", "d updated"}, got.results); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a false", "c true", "c true", "d true"}, asked); diff != "" {
		t.Errorf("asked about (-want +got)\n%s", diff)
	}
	r := agentsim.Runner{Paths: []string{dir}, CI: true, Review: review("")}
	if _, err := r.Run(t.Context()); !errors.Is(err, agentsim.ErrUpdateInCI) {
		t.Errorf("a review in CI gave %v", err)
	}
	gone := errors.New("gone")
	r = agentsim.Runner{Paths: []string{filepath.Join(dir, "scenarios")}, Review: func(context.Context, agentsim.GoldenChange) (bool, error) { return false, gone }}
	if _, err := r.Run(t.Context()); !errors.Is(err, gone) {
		t.Errorf("a review that fails gave %v", err)
	}
}

func TestRunnerErrors(t *testing.T) {
	dir := tree(t, map[string]string{"scenarios/a/s.txtar": scenario(look)})
	r := agentsim.Runner{Paths: []string{dir}, Match: regexp.MustCompile("zzz")}
	if _, err := r.Run(t.Context()); !errors.Is(err, agentsim.ErrNoMatch) || strings.Contains(err.Error(), "goliathfs ") {
		t.Errorf("a pattern without a match gave %v", err)
	}
	r = agentsim.Runner{Paths: []string{dir + "/none"}}
	if _, err := r.Run(t.Context()); err == nil {
		t.Error("a path without scenarios ran")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	told := &collector{}
	r = agentsim.Runner{Paths: []string{dir}, Reporter: told}
	if _, err := r.Run(ctx); !errors.Is(err, context.Canceled) || len(told.results) != 0 {
		t.Errorf("a stopped run gave %v and told of %v, which did not fail", err, told.results)
	}
}

func TestWriteGolden(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "c.txtar")
	for i, tt := range []struct {
		data    string
		changed bool
	}{{"one", true}, {"one", false}, {"two", true}} {
		changed, err := agentsim.WriteGolden(path, []byte(tt.data))
		if err != nil || changed != tt.changed || readFile(t, path) != tt.data {
			t.Errorf("write %d: %t, %v", i, changed, err)
		}
	}
	taken := tree(t, map[string]string{"golden.txtar/is/a/directory": ""})
	if _, err := agentsim.WriteGolden(filepath.Join(taken, "golden.txtar"), nil); err == nil {
		t.Error("a golden was written over a directory")
	}
	if left, err := filepath.Glob(filepath.Join(taken, ".*")); err != nil || len(left) != 0 {
		t.Errorf("a write that failed left %v, %v", left, err)
	}
	checkout := filepath.Join(t.TempDir(), "crlf.txtar")
	if err := os.WriteFile(checkout, []byte("a\r\nb\r\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if changed, err := agentsim.WriteGolden(checkout, []byte("a\nb\n")); changed || err != nil {
		t.Errorf("a checkout with CRLF was written anew: %t, %v", changed, err)
	}
	if _, err := agentsim.WriteGolden(filepath.Join(path, "below-a-file"), nil); err == nil {
		t.Error("a golden was written below a file")
	}
	if _, err := agentsim.ReadGolden(path + "x"); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "with an update") {
		t.Errorf("a missing golden gave %v", err)
	}
}
