package blackbox_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/agentsim/blackbox"
	internalreplay "github.com/goliathfs/goliathfs/agentsim/internal/replay"
)

// programs is the kind that runs commands, with this test as {goliathfs}.
func programs(t *testing.T) agentsim.Kind {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return blackbox.Kind(&blackbox.Options{RunCommands: true, Program: self})
}

// scenario is a scenario with an agent of this test, and a guide to be mended.
func scenario(how, agent, rest string) string {
	return fmt.Sprintf(`-- scenario.yaml --
version: 1
filesystem: {readOnly: false}
agent:
  command: ["{goliathfs}", "Fix the typo."]
  env: {%s: %s, STDIO: "{stdio}", %s}
%s
-- files/guide.md --
You will recieve a reply.
`, agentVariable, how, agent, rest)
}

const fixTypo = `wire:
  - when: Fix the typo
    model:
      - toolCall: {name: grep, input: {pattern: recieve}}
      - toolCall: {name: editFile, input: {path: /guide.md, revision: <rev:1>, oldText: recieve, newText: receive}}
      - text: Fixed.
expect: {stdout: Fixed.}`

// replay replays a scenario and returns its golden.
func replay(t *testing.T, text string, kind agentsim.Kind) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.txtar")
	sc, err := agentsim.Parse(path, "s", []byte(text), kind)
	if err != nil {
		t.Fatal(err)
	}
	shown, err := agentsim.Replay(t.Context(), sc, nil)
	return string(shown.Golden()), err
}

// A program gets its files over each transport and asks in each protocol; what its
// model is shown is the same, and so is every run.
func TestProgram(t *testing.T) {
	goldens := map[string]string{}
	for _, agent := range []string{"PROTOCOL: chat", "PROTOCOL: responses, STREAM: yes", "PROTOCOL: messages", "PROTOCOL: ollama, STREAM: yes"} {
		for _, how := range []string{"http", "stdio"} {
			agent = strings.ReplaceAll(agent, "yes", `"1"`)
			golden, err := replay(t, scenario(how, agent, fixTypo), programs(t))
			if err != nil {
				t.Fatalf("%s %s: %v", how, agent, err)
			}
			before, seen := goldens[agent]
			if diff := cmp.Diff(before, golden); seen && diff != "" {
				t.Errorf("%s over stdio shows something else:\n%s", agent, diff)
			}
			goldens[agent] = golden
			for _, want := range []string{
				"returned 50, shown 50\n",
				"ours: files_deleteFile files_editFile files_glob files_grep files_readFile files_writeFile\n",
				"call editFile {\"newText\":\"receive\"", "stdout: Fixed.\n", "-- file /guide.md --\nYou will receive a reply.\n",
			} {
				if !strings.Contains(golden, want) {
					t.Errorf("%s %s: the golden has no %q:\n%s", how, agent, want, golden)
				}
			}
		}
	}
}

// An agent has nothing of the user's environment, an empty folder, and keys that
// open nothing; what varies of it is masked.
func TestEnvironment(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "the user's own")
	t.Setenv("SECRET", "x")
	golden, err := replay(t, scenario("environment", `WORK: "{work}"`, "wire: [{when: x, side: true, model: [{text: x}]}]"), programs(t))
	if err != nil {
		t.Fatal(err)
	}
	_, out, _ := strings.Cut(golden, "-- agent stdout --\n")
	out, _, _ = strings.Cut(out, "-- file")
	var names []string
	for line := range strings.Lines(out) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		names = append(names, name)
		if strings.Contains(value, "user") {
			t.Errorf("the agent was given %s", line)
		}
	}
	want := []string{"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", agentVariable, "GOLIATHFS_AGENT_RUN", "GOLIATHFS_MCP_URL", "GOLIATHFS_MODEL_URL", "HOME", "LANG", "OLLAMA_HOST", "OPENAI_API_KEY", "OPENAI_BASE_URL", "PATH", "STDIO", "TMPDIR", "TZ", "WORK"}
	slices.Sort(names)
	if diff := cmp.Diff(append([]string{"<work>"}, want...), names); diff != "" {
		t.Errorf("%s\n%s", diff, golden)
	}
	for _, want := range []string{"HOME=<home>\n", "WORK=<work>\n", "OPENAI_BASE_URL=http://<address>/v1\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %q in\n%s", want, out)
		}
	}
}

// sleepers are the processes "sleep 1000" with this in their environment.
func sleepers(t *testing.T, mark string) []int {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	var found []int
	for _, dir := range dirs {
		command, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		env, _ := os.ReadFile(filepath.Join(dir, "environ"))
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err == nil && strings.HasPrefix(string(command), "sleep\x001000\x00") && strings.Contains(string(env), mark) {
			found = append(found, pid)
		}
	}
	return found
}

// A bad agent fails its scenario with one sentence and leaves no process.
func TestBadAgents(t *testing.T) {
	const idle = "wire: [{when: x, side: true, model: [{text: x}]}]"
	for _, tt := range []struct{ how, rest, want string }{
		{"hang", "  timeout: 300ms\n" + idle, `the agent had not ended after 300ms and was ended: raise agent.timeout, or see what it waits for`},
		{"deaf", "  timeout: 300ms\n" + idle, "the agent had not ended after 300ms"},
		{"die", idle, "the agent died: signal: killed"},
		{"status", idle, "the agent ended with status 3 where expect.exit is 0"},
		{"status", idle + "\nexpect: {exit: 4}", "status 3 where expect.exit is 4"},
		{"status", idle + "\nexpect: {exit: 3}", ""},
		{"fork", idle, "the agent ended and left processes running (1), which were ended"},
		{"daemon", idle, "the agent ended and left processes running (1), which were ended"},
		{"unknown", idle, "the agent asked for GET /v1/files, which a scripted model does not have"},
		{"none", idle, "the agent ended with status 1 where expect.exit is 0"},
		{"http", "wire: [{when: poem, model: [{text: x}]}]", `no script fits the request whose last message is of the user: "Fix the typo."`},
		{"http", strings.Replace(fixTypo, "      - text: Fixed.", "      - text: Fixed.\n      - text: More.", 1), `only 3 of 4 replies were asked for, the next would be text "More."`},
		{"http", strings.Replace(fixTypo, "      - text: Fixed.\n", "", 1), "has no reply left: all 2 were given"},
		{"http", strings.Replace(fixTypo, "<rev:1>", "<rev:2>", 1), "<rev:2> has not been shown to the model yet: 1 of this kind have in this conversation"},
		{"http", strings.Replace(fixTypo, "stdout: Fixed.", "stdout: Mended", 1), `the agent's stdout does not contain "Mended", as expect.stdout asks`},
		{"http", strings.Replace(fixTypo, "expect:", "    expect: {maxPromptTokens: 100}\nexpect:", 1), "tokens where expect.maxPromptTokens is 100"},
		{"http", strings.Replace(fixTypo, "expect:", "    expect: {retries: 1}\nexpect:", 1), "sent 0 requests again where expect.retries is 1"},
	} {
		t.Run(tt.how, func(t *testing.T) {
			t.Parallel()
			if tt.how == "daemon" && runtime.GOOS != "linux" {
				t.Skip("a process that left its group is found on Linux only, as the package says")
			}
			mark := rand.Text() // other tests, and other runs of this one, begin the like
			golden, err := replay(t, scenario(tt.how, "PROTOCOL: chat, MARK: "+mark, tt.rest), programs(t))
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v, want %q\n%s", err, tt.want, golden)
			}
			if err != nil && (strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "s.txtar:")) {
				t.Errorf("not one sentence with a place: %q", err)
			}
			if left := sleepers(t, mark); len(left) > 0 {
				t.Errorf("%s: processes are left: %v", tt.how, left)
			}
		})
	}
}

// What a bad agent has printed is shown all the same.
func TestOutputOfBadAgent(t *testing.T) {
	const text = header + "agent: {command: [sh, -c, 'echo one; echo two; kill -9 $$']}\nwire: [{when: x, side: true, model: [{text: x}]}]\n"
	golden, err := replay(t, text, programs(t))
	if err == nil || !strings.Contains(golden, "-- agent stdout --\none\ntwo\n") {
		t.Errorf("%v\n%s", err, golden)
	}
}

// An agent that prints without end fills no disk, and its failure says what is kept.
func TestEndlessOutput(t *testing.T) {
	text := header + `agent:
  command: [sh, -c, "head -c 3000000 /dev/zero | tr '\\0' x >&2; find .. -size +100k; exec yes >&2"]
  timeout: 2s
wire: [{when: x, side: true, model: [{text: x}]}]
`
	golden, err := replay(t, text, programs(t))
	if err == nil || !regexp.MustCompile(`had not ended after 2s .*; of \d{7,} bytes that it wrote to stderr the first 1048576 are kept$`).MatchString(err.Error()) {
		t.Errorf("%v", err)
	}
	if !strings.Contains(golden, "stdout: nothing") {
		t.Errorf("what it printed is on the disk:\n%.2000s", golden)
	}
}

// A command in a scenario does not run unless that is asked for.
func TestNothingRunsUnasked(t *testing.T) {
	made := filepath.Join(t.TempDir(), "made")
	text := fmt.Sprintf("-- scenario.yaml --\nversion: 1\nagent: {command: [touch, %q]}\nwire: [{side: true, model: [{text: x}]}]\n", made)
	_, err := replay(t, text, blackbox.Kind(nil))
	if err == nil || !strings.Contains(err.Error(), `it would run the command "touch `) || !strings.Contains(err.Error(), "set Agent or RunCommands of blackbox.Options") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(made); !os.IsNotExist(err) {
		t.Errorf("the command has run: %v", err)
	}
	if _, err := replay(t, text, blackbox.Kind(&blackbox.Options{RunCommands: true})); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(made); err != nil {
		t.Errorf("the command has not run: %v", err)
	}
}

// Nothing of an agent's folders is left, whatever rights it has given them.
func TestFoldersAreRemoved(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may remove what others may not")
	}
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	_, err := replay(t, `-- scenario.yaml --
version: 1
agent: {command: [sh, -c, "mkdir -p $HOME/go/mod && touch $HOME/go/mod/x && chmod 100 $HOME/go/mod && chmod 500 $HOME/go"]}
wire: [{when: x, side: true, model: [{text: x}]}]
`, programs(t))
	if err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "goliathfs-agent-*")); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

// Of much that an agent complained about, the beginning and the end are shown.
func TestLongComplaint(t *testing.T) {
	kind := blackbox.Kind(&blackbox.Options{Command: `i=0; while [ $i -lt 100 ]; do i=$((i+1)); echo "line $i" >&2; done; exit 1`})
	_, err := replay(t, header+"wire: [{side: true, model: [{text: x}]}]", kind)
	var unmet *internalreplay.Unmet
	if !errors.As(err, &unmet) {
		t.Fatal(err)
	}
	if !strings.HasPrefix(unmet.Looked, "line 1\n") || !strings.Contains(unmet.Looked, "line 10\n…\nline 81\n") || !strings.HasSuffix(unmet.Looked, "line 100") {
		t.Errorf("%s:\n%s", unmet.Title, unmet.Looked)
	}
}
