package main

import (
	"bufio"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// goliathfs is the command as a process of its own, which the test binary is when
// it is called so.
func goliathfs(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Args[0] = "goliathfs"
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=10")
	return cmd
}

// httpServer starts the verb and returns where it says it is. It is interrupted
// when the test ends, and must then end in order.
func httpServer(t *testing.T, args ...string) string {
	t.Helper()
	cmd := goliathfs(t, append([]string{"mcp", "--http", "127.0.0.1:0"}, args...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_, url, found := strings.Cut(strings.TrimSpace(line), " at ")
	if !found {
		t.Fatalf("the server says %q", line)
	}
	return url
}

type bearer struct{ token string }

func (b bearer) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(req)
}

// The SDK's client lists and calls over each transport; a write is approved,
// declined or cannot be; and it lasts.
func TestMCP(t *testing.T) {
	for name, connect := range map[string]func(t *testing.T, store string) mcp.Transport{
		"stdio": func(t *testing.T, store string) mcp.Transport {
			return &mcp.CommandTransport{Command: goliathfs(t, "mcp", store, "--allow-writes", "--approve", "ask")}
		},
		"http": func(t *testing.T, store string) mcp.Transport {
			return &mcp.StreamableClientTransport{Endpoint: httpServer(t, store, "--allow-writes", "--approve", "ask")}
		},
		"http stateless with a token": func(t *testing.T, store string) mcp.Transport {
			file := filepath.Join(t.TempDir(), "token")
			url := httpServer(t, store, "--allow-writes", "--approve", "ask", "--stateless", "--token-file", file)
			token, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			return &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer{strings.TrimSpace(string(token))}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := "accept"
			client := mcp.NewClient(&mcp.Implementation{Name: "test"}, &mcp.ClientOptions{
				ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					return &mcp.ElicitResult{Action: answer, Content: map[string]any{"approve": true}}, nil
				},
			})
			session, err := client.Connect(t.Context(), connect(t, "sqlite:"+filepath.Join(t.TempDir(), "s.db")), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			tools, err := session.ListTools(t.Context(), nil)
			if err != nil || len(tools.Tools) != 6 {
				t.Fatalf("%d tools, %v", len(tools.Tools), err)
			}
			for _, tt := range []struct{ answer, tool, path, want string }{
				{"accept", "writeFile", "/yes.md", `{"path":"/yes.md","revision":"`},
				{"decline", "writeFile", "/no.md", "not-approved: the person declined"},
				{"", "readFile", "/yes.md", `{"path":"/yes.md","revision":"`},
				{"", "readFile", "/no.md", "not-found: "},
			} {
				answer = tt.answer
				args := map[string]any{"path": tt.path}
				if tt.tool == "writeFile" {
					args["content"] = "text"
				}
				res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tt.tool, Arguments: args})
				if err != nil {
					t.Fatal(err)
				}
				if text := res.Content[0].(*mcp.TextContent).Text; !strings.HasPrefix(text, tt.want) {
					t.Errorf("%s %s: %q, want %q…", tt.tool, tt.path, text, tt.want)
				}
			}
		})
	}
}

// An interrupt ends the server while its client is still there and its input
// open.
func TestMCPInterrupted(t *testing.T) {
	t.Parallel()
	cmd := goliathfs(t, "mcp", "mem:")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write([]byte("hello\n")); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.Contains(line, "is no JSON") {
		t.Errorf("a line of text is answered %q, %v", line, err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the server ended with %v", err)
	}
}
