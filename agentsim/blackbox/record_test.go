package blackbox_test

import (
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/agentsim/blackbox"
	"github.com/goliathfs/goliathfs/agentsim/wire"
)

// record records this test as an agent, run by a shell script in which it is $0,
// with a model that may call tools and then answers.
func record(t *testing.T, script, answer string, calls ...wire.Call) *blackbox.Recording {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(agentVariable, "http")
	t.Setenv("PROTOCOL", "chat")
	replies := []wire.Reply{{Text: answer}}
	if len(calls) > 0 {
		replies = slices.Insert(replies, 0, wire.Reply{Calls: calls})
	}
	model := httptest.NewServer(wire.NewServer([]wire.Script{{Replies: replies}}, nil))
	defer model.Close()
	recording, err := blackbox.Record(t.Context(), blackbox.RecordOptions{
		Upstream: model.URL, Command: []string{"sh", "-c", script, self}, Files: map[string]string{"/a.md": "a\n"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return recording
}

// An agent that leaves a program behind, which holds its output open, is recorded
// all the same.
func TestRecordLeavesProgramBehind(t *testing.T) {
	recording := record(t, `"$0" Hello; sleep 20 &`, "Done.")
	if len(recording.Problems) != 1 || !strings.Contains(recording.Problems[0], "left a program running") {
		t.Errorf("the problems are %q", recording.Problems)
	}
	scenario, err := recording.Scenario("Recorded.")
	if err != nil || !strings.Contains(string(scenario), `text: "Done."`) {
		t.Errorf("%v\n%s", err, scenario)
	}
}

// What an agent prints after more than a replay reads is not expected of it.
func TestRecordOfMuchOutput(t *testing.T) {
	for _, tt := range []struct {
		bytes string
		want  bool
	}{{"1000", true}, {"3000000", false}} {
		scenario, err := record(t, `head -c `+tt.bytes+` /dev/zero | tr '\0' x; echo; "$0" Hello`, "Done.").Scenario("Recorded.")
		if err != nil || strings.Contains(string(scenario), `stdout: "Done."`) != tt.want {
			t.Errorf("after %s bytes: %v\n%s", tt.bytes, err, scenario)
		}
	}
}

// A key is found also where JSON writes it in another way.
func TestRecordFindsQuotedKeys(t *testing.T) {
	t.Setenv("MY_PASSWORD", `pa"ss\word`)
	recording := record(t, `"$0" Hello`, `It is pa"ss\word.`)
	if scenario, err := recording.Scenario("Recorded."); err == nil || !strings.Contains(err.Error(), "the value of MY_PASSWORD") {
		t.Errorf("%v\n%s", err, scenario)
	}
}

// Whatever numbers a model sends, the scenario can be read.
func TestRecordOfNumbers(t *testing.T) {
	for _, n := range []string{"1e2", "1E-7", "100000000000000000000", "1e400", "-2.5", "3"} {
		input := `{"path":"/a.md","offset":` + n + `}`
		recording := record(t, `"$0" Hello`, "Done.", wire.Call{Name: "files_readFile", Input: []byte(input)})
		scenario, err := recording.Scenario("Recorded.")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := agentsim.Parse("s.txtar", "s", scenario, programs(t)); err != nil {
			t.Errorf("%s: %v\n%s", n, err, scenario)
		}
	}
}

// What the scenario would hold in any case is known before the model is asked.
func TestRecordFindsKeysBefore(t *testing.T) {
	t.Setenv("MY_TOKEN", `to"ken-12345`)
	for _, tt := range []struct {
		command []string
		files   map[string]string
		want    string
	}{
		{[]string{"agent"}, map[string]string{"/a.md": "a\n", "/b.md": "It is to\"ken-12345.\n"}, "the file /b.md holds the value of MY_TOKEN"},
		{[]string{"agent", `--token=to"ken-12345`}, nil, "the agent's command holds the value of MY_TOKEN"},
	} {
		_, err := blackbox.Record(t.Context(), blackbox.RecordOptions{Upstream: "http://127.0.0.1:1", Command: tt.command, Files: tt.files})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %q", err, tt.want)
		}
	}
}
