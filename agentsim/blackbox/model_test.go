package blackbox_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim/blackbox"
	"github.com/goliathfs/goliathfs/agentsim/wire"
	"github.com/goliathfs/goliathfs/agentsim/wire/wireclient"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
)

// A model may be asked for its report while an agent asks it.
func TestModelReportsMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.txtar")
	text := header + "wire:\n  - model:\n" + strings.Repeat("      - toolCall: {name: readFile, input: {path: /a.md}}\n", 30) +
		"      - toolCall: {name: editFile, input: {path: /a.md, revision: <rev:30>, oldText: a, newText: b}}\n      - text: Done.\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	model, err := blackbox.LoadModel(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	endpoint, err := wire.Listen(model.Handler())
	if err != nil {
		t.Fatal(err)
	}
	defer endpoint.Close()
	read, edit := wire.Tool{Name: "readFile"}, wire.Tool{Name: "editFile"}
	revision := 0
	talk := wireclient.Talk{
		Client:  &wireclient.Client{URL: endpoint.URL, Protocol: wire.Chat},
		Request: wire.Request{Model: "m", Tools: []wire.Tool{read, edit}, Messages: []wire.Message{{Role: wire.User, Text: "Read."}}},
		Call: func(_ context.Context, c wire.Call) (string, error) {
			if c.Name == edit.Name {
				return string(c.Input), nil
			}
			revision++
			return fmt.Sprintf(`{"revision":"at-%d"}`, revision), nil // some begin with others
		},
	}
	done := make(chan error, 1)
	go func() {
		_, err := talk.Run(t.Context())
		done <- err
	}()
	for running := true; running; {
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			running = false
		default:
			model.Report()
		}
	}
	shown, problems := model.Report()
	if !strings.Contains(string(shown), `"revision":"<rev:30>"`) || len(problems) > 0 {
		t.Errorf("%s\n%v", shown, problems)
	}
}

// An agent that has our tools from elsewhere has called them, though no result was
// followed.
func TestModelBesideOurTools(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.txtar")
	text := header + "wire: [{model: [{toolCall: {name: grep, input: {pattern: x}}}, {text: Done.}]}]\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	model, err := blackbox.LoadModel(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	endpoint, err := wire.Listen(model.Handler())
	if err != nil {
		t.Fatal(err)
	}
	defer endpoint.Close()
	ours, err := agenttool.New(agenttool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	talk := wireclient.Talk{
		Client:  &wireclient.Client{URL: endpoint.URL, Protocol: wire.Chat},
		Request: wire.Request{Model: "m", Messages: []wire.Message{{Role: wire.User, Text: "Search."}}},
		Call:    func(context.Context, wire.Call) (string, error) { return `{"matches":[],"nextCursor":null}`, nil },
	}
	for _, tool := range ours.Tools() {
		talk.Request.Tools = append(talk.Request.Tools, wire.Tool{Name: tool.Name, Description: tool.Description, Schema: tool.Schema})
	}
	if _, err := talk.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	shown, problems := model.Report()
	if !strings.Contains(string(shown), "tokens, result of grep\n{\"matches\"") || len(problems) > 0 {
		t.Errorf("%s\n%v", shown, problems)
	}
}
