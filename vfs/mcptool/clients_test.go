package mcptool_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/mcptool"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

// exchange is a message that was recorded between a client and a server with
// these tools.
type exchange struct {
	From  string
	Frame json.RawMessage
}

// What real clients sent over stdio is answered as their recordings say: the same
// texts, the same errors, questions where they were asked.
func TestRecordedClients(t *testing.T) {
	files, err := filepath.Glob("testdata/clients/*.json")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d recordings, %v", len(files), err)
	}
	clients := map[string]bool{}
	for _, f := range files {
		name, _, _ := strings.Cut(filepath.Base(f), "-")
		clients[name] = true
	}
	for client := range clients {
		for _, approval := range []string{"", "-approval-accepted", "-approval-declined"} {
			recorded := readClient(t, client, approval)
			if recorded == nil {
				continue
			}
			t.Run(client+approval, func(t *testing.T) { replayClient(t, recorded, approval != "") })
		}
	}
}

// readClient joins the recordings of one run: the opening, then either the calls
// or the approval; nil when there is none of that kind.
func readClient(t *testing.T, client, approval string) []exchange {
	t.Helper()
	parts := []string{"initialize", "discover", "tools-list", "tools-call"}
	if approval != "" {
		parts = []string{"initialize", "discover", approval[1:]}
	}
	var all []exchange
	found := false
	for _, part := range parts {
		data, err := os.ReadFile(fmt.Sprintf("testdata/clients/%s-stdio-%s.json", client, part))
		if err != nil {
			continue
		}
		found = found || approval == "" || part == approval[1:]
		var some []exchange
		if err := json.Unmarshal(data, &some); err != nil {
			t.Fatal(err)
		}
		all = append(all, some...)
	}
	if !found {
		return nil
	}
	return all
}

// answer is what is compared of a message of the server: what a model or a person
// would see of it.
type answer struct {
	Method string
	Code   int64
	Error  bool
	Texts  []string
	Tools  []string
	Asks   bool
}

func answerOf(t *testing.T, data json.RawMessage) answer {
	t.Helper()
	var f struct {
		Method string
		Result struct {
			IsError    bool
			ResultType string
			Content    []struct{ Text string }
			Tools      []struct {
				Name        string
				InputSchema struct {
					Properties map[string]struct{ Type string }
					Required   []string
				}
			}
		}
		Error struct{ Code int64 }
	}
	if err := json.Unmarshal(data, &f); err != nil {
		t.Fatal(err)
	}
	a := answer{Method: f.Method, Code: f.Error.Code, Error: f.Result.IsError, Asks: f.Result.ResultType == "input_required"}
	for _, c := range f.Result.Content {
		text := c.Text
		if code, _, ok := strings.Cut(text, ": "); ok && f.Result.IsError {
			text = code // sentences get better, codes stay
		}
		if strings.HasPrefix(text, `{"path":"/x.md"`) {
			text = "written" // at a revision that is new each time
		}
		a.Texts = append(a.Texts, text)
	}
	for _, tool := range f.Result.Tools {
		a.Tools = append(a.Tools, fmt.Sprint(tool.Name, tool.InputSchema)) // descriptions get better
	}
	return a
}

func replayClient(t *testing.T, recorded []exchange, asks bool) {
	files, err := memfs.New(map[string]string{"/docs/guide.md": guide, "/docs/long.md": recordedLines()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	opts := &mcptool.Options{Structured: true}
	if asks {
		opts.Approval = mcptool.ApprovalAsk
	}
	l := newLines(t, newServer(t, newTools(t, agenttool.Options{Backend: files, Writable: true}), opts))
	state, compared := "", 0
	got := map[string]json.RawMessage{} // messages of the server by method and id
	for _, e := range recorded {
		if e.From != "server" {
			<-l.send(withState(t, e.Frame, state) + "\n")
			continue
		}
		for got[keyOf(t, e.Frame)] == nil { // answers may come in any order, and more than were recorded
			line, err := l.in.ReadBytes('\n')
			if err != nil {
				t.Fatal(err)
			}
			got[keyOf(t, line)] = line
			var f struct{ Result struct{ RequestState string } }
			if json.Unmarshal(line, &f) == nil && f.Result.RequestState != "" {
				state = f.Result.RequestState
			}
		}
		compared++
		if diff := cmp.Diff(answerOf(t, e.Frame), answerOf(t, got[keyOf(t, e.Frame)])); diff != "" {
			t.Errorf("%.300s (-recorded +got):\n%s", e.Frame, diff)
		}
	}
	if compared == 0 {
		t.Fatal("the recording holds no answer")
	}
}

func keyOf(t *testing.T, data json.RawMessage) string {
	t.Helper()
	var f frame
	if err := json.Unmarshal(data, &f); err != nil {
		t.Fatal(err)
	}
	return f.Method + " " + string(f.ID)
}

// withState gives a client's second call what a server of now asks it to send
// back, and its answer our name of the question.
func withState(t *testing.T, data json.RawMessage, state string) string {
	t.Helper()
	text := strings.ReplaceAll(string(data), "\n", "")
	if state == "" || !strings.Contains(text, `"inputResponses"`) {
		return text
	}
	text = strings.Replace(text, `"confirm"`, `"approve"`, 1)
	return strings.Replace(text, `"inputResponses"`, `"requestState":"`+state+`","inputResponses"`, 1)
}
