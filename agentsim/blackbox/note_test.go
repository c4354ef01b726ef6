package blackbox_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/agentsim/blackbox"
	"github.com/goliathfs/goliathfs/agentsim/wire"
	"github.com/goliathfs/goliathfs/agentsim/wire/wireclient"
)

// A golden notes the versions of the clients, and nothing of the machine. Another
// version is no difference; where something else differs it is told first.
func TestClientsAreNoted(t *testing.T) {
	run := func(version, ask, runtime string) []byte {
		golden, err := replay(t, header+"wire: [{model: [{text: Done.}]}]\n", inGoKind(noting(version, ask, runtime)))
		if err != nil {
			t.Fatal(err)
		}
		comment, _, _ := strings.Cut(golden, "\n\n")
		_, notes, _ := strings.Cut(comment, "\n")
		if want := "Clients: agent/" + version + " OpenAI/JS 6.1\nClients over MCP: test " + version; notes != want {
			t.Errorf("it notes\n%s, want\n%s", notes, want)
		}
		return []byte(golden)
	}
	first := run("1.0", "Go.", "node.js/v20")
	if second := run("1.0", "Go.", "node.js/v24"); string(first) != string(second) {
		t.Errorf("two machines show\n%s\n%s", first, second)
	}
	if d, err := agentsim.Compare(first, run("2.0", "Go.", "node.js/v20")); d != nil || err != nil {
		t.Errorf("another version is a difference: %+v, %v", d, err)
	}
	d, err := agentsim.Compare(first, run("2.0", "Go on.", "node.js/v20"))
	if err != nil || d == nil {
		t.Fatal(d, err)
	}
	const want = "Clients: the golden was written with agent/1.0 OpenAI/JS 6.1, this is agent/2.0 OpenAI/JS 6.1\n" +
		"Clients over MCP: the golden was written with test 1.0, this is test 2.0\n"
	if !strings.HasPrefix(d.Text, want) {
		t.Error(d.Text)
	}
}

// noting is an agent that says which program it is, as clients do.
func noting(version, ask, runtime string) blackbox.Agent {
	return func(ctx context.Context, e blackbox.Endpoints) error {
		session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: version}, nil).Connect(ctx, &mcp.StreamableClientTransport{Endpoint: e.MCP}, nil)
		if err != nil {
			return err
		}
		defer session.Close()
		if _, err := session.ListTools(ctx, nil); err != nil {
			return err
		}
		client := wireclient.Client{URL: e.Model, Protocol: wire.Chat, Header: http.Header{
			"User-Agent": {"agent/" + version + " OpenAI/JS 6.1 runtime/" + runtime + " (Linux 6; x86_64) xterm"},
		}}
		_, err = client.Ask(ctx, &wire.Request{Model: "m", Messages: []wire.Message{{Role: wire.User, Text: ask}}})
		return err
	}
}

// An update leaves a golden that holds, whatever version it was written with.
func TestUpdateKeepsNotes(t *testing.T) {
	dir := t.TempDir()
	scenario := filepath.Join(dir, "s.txtar")
	if err := os.WriteFile(scenario, []byte(header+"wire: [{model: [{text: Done.}]}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	update := func(version, ask string) (agentsim.Status, string) {
		r := agentsim.Runner{Paths: []string{scenario}, Golden: dir + "/golden", Update: true, Kinds: []agentsim.Kind{inGoKind(noting(version, ask, "go"))}}
		found, err := r.List()
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		status := r.RunOne(t.Context(), found[0]).Status
		golden, err := os.ReadFile(filepath.Join(dir, "golden", "s.txtar"))
		if err != nil {
			t.Fatal(err)
		}
		return status, string(golden)
	}
	for _, tt := range []struct {
		version, ask string
		want         agentsim.Status
		notes        string
	}{
		{"1.0", "Go.", agentsim.Updated, "agent/1.0 "},
		{"2.0", "Go.", agentsim.Passed, "agent/1.0 "},
		{"2.0", "Go on.", agentsim.Updated, "agent/2.0 "},
	} {
		status, golden := update(tt.version, tt.ask)
		if status != tt.want || !strings.Contains(golden, "\nClients: "+tt.notes) {
			t.Errorf("%s asks %q: %v, want %v with %q in\n%s", tt.version, tt.ask, status, tt.want, tt.notes, golden)
		}
	}
}
