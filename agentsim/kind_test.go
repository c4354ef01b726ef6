package agentsim_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/agentsim"
	play "github.com/goliathfs/goliathfs/agentsim/internal/replay"
	spec "github.com/goliathfs/goliathfs/agentsim/internal/scenario"
	"github.com/goliathfs/goliathfs/agentsim/internal/strictyaml"
	"github.com/goliathfs/goliathfs/vfs"
)

// deeds is a kind of scenario that no package here knows: it writes files.
type deeds struct {
	Deeds []deed `yaml:"deeds"`
	// Memory is a name that turns have too.
	Memory string `yaml:"memory"`
}

type deed struct {
	Pos   strictyaml.Pos
	Write string `yaml:"write"`
	Skip  string `yaml:"skip"`
}

func newDeeds() play.Script { return &deeds{} }

func (*deeds) Key() string { return "deeds" }

func (d *deeds) Check(*spec.Base) error {
	if len(d.Deeds) == 0 {
		return errors.New("no deeds")
	}
	return nil
}

func (d *deeds) Run(ctx context.Context, w *play.World) error {
	for i, deed := range d.Deeds {
		w.Begin("", deed.Pos)
		if deed.Skip != "" {
			return fmt.Errorf("%w: %s", play.ErrSkipped, deed.Skip)
		}
		step := fmt.Sprintf("%d write", i+1)
		w.Transcript.Add(step, deed.Write+"\n")
		files, err := w.View(ctx, "")
		if err == nil {
			_, err = vfs.Write(ctx, files, deed.Write, "x\n", "")
		}
		if err != nil {
			return play.StepError(step, deed.Pos, err)
		}
	}
	return nil
}

// A third kind of scenario is read, replayed, compared, skipped and listed like
// the two that are built in.
func TestAnotherKind(t *testing.T) {
	dir := tree(t, map[string]string{
		"scenarios/calls.txtar":   scenario(look),
		"scenarios/fails.txtar":   scenario("deeds: [{write: /a}, {write: /a}]"),
		"scenarios/skipped.txtar": scenario("memory: x\ndeeds: [{skip: no hands}]"),
		"scenarios/works.txtar":   scenario("deeds: [{write: /b}, {write: /a}]"),
	})
	kinds := []agentsim.Kind{newDeeds}
	for _, want := range []string{"updated", "passed"} {
		got := runIn(t, dir, agentsim.Runner{Kinds: kinds, Update: want == "updated"})
		if diff := cmp.Diff([]string{"calls " + want, "fails failed", "skipped skipped", "works " + want}, got.results); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
		if got.sum.OK() {
			t.Errorf("%s is a success", got.sum)
		}
	}
	if golden := readFile(t, dir, "golden", "works.txtar"); !strings.HasSuffix(golden, "-- 1 write --\n/b\n-- 2 write --\n/a\n-- file /a --\nx\n-- file /b --\nx\n") {
		t.Errorf("it shows\n%s", golden)
	}
	sc, err := agentsim.Load(filepath.Join(dir, "scenarios", "fails.txtar"), kinds...)
	if err != nil {
		t.Fatal(err)
	}
	var se *agentsim.StepError
	if _, err := agentsim.Replay(t.Context(), sc, nil); !errors.As(err, &se) || se.Step != "2 write" || !strings.Contains(err.Error(), "fails.txtar:5:") {
		t.Errorf("the replay gave %v", err)
	}
	for text, want := range map[string]string{
		"deeds: []":                         "s.txtar:4:1: no deeds",
		"deeds: [{write: /a}]\nturns: []":   "this has turns and deeds",
		"deeds: [{write: /a}]\nmaxSteps: 1": "maxSteps belongs to a scenario with turns and means nothing beside deeds",
		"memory: {}\n" + look:               "memory belongs to a scenario with turns and deeds and means nothing beside calls",
		"deed: []":                          "turns, calls, deeds",
	} {
		if _, err := agentsim.Parse("s.txtar", "s", []byte(scenario(text)), kinds...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
	if _, err := agentsim.Load(filepath.Join(dir, "scenarios", "works.txtar")); err == nil || !strings.Contains(err.Error(), `"deeds" is not a name that is known here`) {
		t.Errorf("a kind that was not handed in: %v", err)
	}
}
