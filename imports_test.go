package goliathfs_test

import (
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/goliathfs/goliathfs"

// importRule says what the packages of a set must not reach.
type importRule struct {
	reason string
	// from are the packages the rule is about, as in "vfs" or "agentsim/...".
	from []string
	// except are packages of from that the rule leaves alone.
	except []string
	// never are the packages that they must not reach, also not through others
	// of this module; those of other modules are named in full.
	never []string
}

var (
	backends = []string{"vfs/memfs", "vfs/staticfs", "vfs/routefs", "vfs/badgerfs", "vfs/sqlitefs", "vfs/postgresfs", "vfs/remotefs"}
	// contractUsers stand on the contract and know no backend.
	contractUsers = []string{"vfs/batchread", "vfs/walk", "vfs/wrap", "vfs/iofs", "vfs/textfile", "vfs/leftout"}
	library       = []string{"vfs/...", "fusebridge/...", "agentsim/..."}
)

var importRules = append([]importRule{
	{
		reason: "the contract takes nothing along that the author of a backend would have to take too",
		from:   []string{"vfs"},
		never:  slices.Concat(backends, contractUsers, []string{"vfs/agenttool", "vfs/vfstest", "vfs/revision", "vfs/watch", "outside"}),
	},
	{
		reason: "what stands on the contract works on any backend and brings none",
		from:   contractUsers,
		never:  slices.Concat(backends, []string{"vfs/agenttool", "vfs/vfstest", "vfs/revision", "vfs/watch", "outside"}),
	},
	{
		reason: "the grammar of paths is below everything else",
		from:   []string{"vfs/vpath"},
		never:  []string{"vfs", "outside"},
	},
	{
		reason: "the contract and what lives in memory do not touch the host",
		from:   slices.Concat([]string{"vfs", "vfs/vpath", "vfs/revision", "vfs/watch", "vfs/gramindex", "vfs/memfs", "vfs/routefs", "vfs/agenttool"}, contractUsers),
		never:  []string{"os", "os/exec", "net", "net/http", "syscall"},
	},
	{
		reason: "what helps authors of backends knows no backend",
		from:   []string{"vfs/revision", "vfs/watch", "vfs/gramindex"},
		never:  slices.Concat(backends, []string{"vfs/agenttool", "vfs/vfstest", "outside"}),
	},
	{
		reason: "the tools work on any backend, and bring the one that is their default",
		from:   []string{"vfs/agenttool"},
		never:  []string{"vfs/staticfs", "vfs/routefs", "vfs/badgerfs", "vfs/sqlitefs", "vfs/postgresfs", "vfs/remotefs"},
	},
	{
		reason: "a journal stands behind any store, and knows none",
		from:   []string{"vfs/journalfs"},
		never:  slices.Concat(backends, []string{"vfs/agenttool", "vfs/vfstest", "outside"}),
	},
	{
		reason: "the mount shows any backend and is no agent",
		from:   []string{"fusebridge/..."},
		never:  slices.Concat(backends, []string{"vfs/agenttool", "agentsim/..."}),
	},
	{
		reason: "the host's side of a mount and the index stand below everything else of it",
		from:   []string{"fusebridge/internal/mountpoint", "fusebridge/internal/tree"},
		never:  []string{"fusebridge", "fusebridge/internal/view", "fusebridge/internal/overlay"},
	},
	{
		reason: "the index needs no mount to be tested: no FUSE, no context, no I/O",
		from:   []string{"fusebridge/internal/tree"},
		never:  []string{"fusebridge/internal/mountpoint", "github.com/hanwen/...", "os", "syscall"},
	},
	{
		reason: "who only looks runs no code that edits",
		from:   []string{"fusebridge/internal/view"},
		never:  []string{"fusebridge", "fusebridge/internal/mountpoint", "fusebridge/internal/overlay"},
	},
	{
		reason: "edits lie over a view and know nothing of the host",
		from:   []string{"fusebridge/internal/overlay"},
		never:  []string{"fusebridge", "fusebridge/internal/mountpoint"},
	},
	{
		reason: "a replay runs on any machine: stores that need one are handed to it",
		from:   []string{"agentsim/..."},
		never:  []string{"fusebridge/...", "vfs/badgerfs", "vfs/sqlitefs", "vfs/postgresfs", "vfs/remotefs"},
	},
	{
		reason: "a kind of scenario is one room: what all kinds share knows none of them",
		from:   []string{"agentsim/internal/strictyaml", "agentsim/internal/archive", "agentsim/internal/scenario", "agentsim/internal/golden", "agentsim/internal/replay", "agentsim/internal/library"},
		never:  []string{"agentsim", "agentsim/internal/calls", "agentsim/internal/turns", "agentsim/internal/report"},
	},
	{
		reason: "kinds of scenarios know nothing of each other, of files on disk, and of reports",
		from:   []string{"agentsim/internal/calls"},
		never:  []string{"agentsim", "agentsim/internal/turns", "agentsim/internal/library", "agentsim/internal/report"},
	},
	{
		reason: "kinds of scenarios know nothing of each other, of files on disk, and of reports",
		from:   []string{"agentsim/internal/turns"},
		never:  []string{"agentsim", "agentsim/internal/calls", "agentsim/internal/library", "agentsim/internal/report"},
	},
	{
		reason: "a report shows cases, however they were replayed",
		from:   []string{"agentsim/internal/report"},
		never:  []string{"agentsim/...", "vfs/..."},
	},
	{
		reason: "a plain replay carries no network",
		from:   []string{"agentsim", "agentsim/turn", "agentsim/memory", "agentsim/internal/...", "agentsim/simtest"},
		never:  []string{"net/http", "vfs/mcptool", "agentsim/wire", "agentsim/blackbox"},
	},
	{
		reason: "files are useful without agents",
		from:   []string{"vfs/..."},
		never:  []string{"agentsim/...", "fusebridge/..."},
	},
	{
		reason: "a program that embeds the library carries no test framework",
		from:   append(library, "cmd/..."),
		except: []string{"vfs/vfstest", "agentsim/simtest"},
		never:  []string{"testing", "testing/fstest", "testing/iotest", "vfs/vfstest", "agentsim/simtest"},
	},
	{
		reason: "the command is built from the library, never the other way",
		from:   library,
		never:  []string{"cmd/...", "github.com/spf13/cobra", "golang.org/x/term"},
	},
	{
		reason: "a scripted model on the wire stands alone: who tests an agent with files of its own carries none of ours",
		from:   []string{"agentsim/wire/..."},
		never:  []string{"vfs/...", "agentsim", "agentsim/turn", "agentsim/memory", "agentsim/internal/...", "outside"},
	},
	{
		reason: "one package knows Badger",
		from:   append(library, "cmd/..."),
		except: []string{"vfs/badgerfs/...", "cmd/..."},
		never:  []string{"github.com/dgraph-io/..."},
	},
	{
		reason: "one package knows the SQLite driver",
		from:   append(library, "cmd/..."),
		except: []string{"vfs/sqlitefs/...", "cmd/..."},
		never:  []string{"github.com/ncruces/...", "database/sql", "database/sql/driver"},
	},
	{
		reason: "one package knows pgx",
		from:   append(library, "cmd/..."),
		except: []string{"vfs/postgresfs/...", "cmd/..."},
		never:  []string{"github.com/jackc/..."},
	},
	{
		reason: "what is for tests is no part of what ships",
		from:   append(library, "cmd/..."),
		never:  []string{"internal/pgcluster", "internal/testsize", "internal/teststore"},
	},
	{
		reason: "one package knows go-fuse",
		from:   append(library, "cmd/..."),
		except: []string{"fusebridge/...", "cmd/..."},
		never:  []string{"github.com/hanwen/..."},
	},
	{
		reason: "who does not count in tokens of a vendor does not carry the vocabularies",
		from:   append(library, "cmd/..."),
		except: []string{"vfs/agenttool/tiktoken", "cmd/..."},
		never:  []string{"vfs/agenttool/tiktoken", "github.com/tiktoken-go/..."},
	},
	{
		reason: "one package knows the MCP SDK, and reaches any store through the tools alone",
		from:   append(library, "cmd/..."),
		except: []string{"vfs/mcptool", "agentsim/blackbox", "cmd/..."},
		never:  []string{"github.com/modelcontextprotocol/..."},
	},
	{
		reason: "one package knows the MCP SDK, and reaches any store through the tools alone",
		from:   []string{"vfs/mcptool"},
		never:  []string{"vfs/staticfs", "vfs/routefs", "vfs/badgerfs", "vfs/sqlitefs", "vfs/postgresfs", "vfs/remotefs", "os", "os/exec", "net"},
	},
}, apart()...)

// apart keeps each backend from the others.
func apart() []importRule {
	var rules []importRule
	for _, b := range backends {
		rules = append(rules, importRule{
			reason: "a backend stands alone, so that a program carries only those it uses",
			from:   []string{b},
			never:  append(slices.DeleteFunc(slices.Clone(backends), func(s string) bool { return s == b }), "vfs/agenttool", "vfs/vfstest"),
		})
	}
	return rules
}

// onlyDirect are outside packages that the command must not import by itself,
// although it reaches them through the one package that knows them.
var onlyDirect = []string{"github.com/dgraph-io/...", "github.com/ncruces/...", "github.com/jackc/...", "github.com/hanwen/...", "github.com/modelcontextprotocol/...", "github.com/tiktoken-go/...", "database/sql"}

// databases are the backends that one package of the command imports, so that
// verbs ask every database the same.
var databases = []string{"vfs/badgerfs", "vfs/sqlitefs", "vfs/postgresfs"}

// matches reports whether a package is one of the patterns.
func matches(pkg string, patterns []string) bool {
	for _, pattern := range patterns {
		prefix, below := strings.CutSuffix(pattern, "/...")
		switch {
		case pattern == "outside":
			if first, _, _ := strings.Cut(pkg, "/"); strings.Contains(first, ".") {
				return true
			}
		case pkg == prefix, below && strings.HasPrefix(pkg, prefix+"/"):
			return true
		}
	}
	return false
}

// breaches returns what graph, a map from package to its imports, breaks.
func breaches(graph map[string][]string, rules []importRule) []string {
	var found []string
	for _, pkg := range slices.Sorted(maps.Keys(graph)) {
		for _, rule := range rules {
			if !matches(pkg, rule.from) || matches(pkg, rule.except) {
				continue
			}
			for _, trail := range reach(graph, pkg) {
				if matches(trail[len(trail)-1], rule.never) {
					found = append(found, fmt.Sprintf("%s: %s", strings.Join(trail, " → "), rule.reason))
				}
			}
		}
		if matches(pkg, []string{"cmd/..."}) {
			for _, imported := range graph[pkg] {
				if matches(imported, onlyDirect) {
					found = append(found, fmt.Sprintf("%s → %s: one package knows it", pkg, imported))
				}
				if matches(imported, databases) && pkg != "cmd/goliathfs/internal/database" {
					found = append(found, fmt.Sprintf("%s → %s: verbs know databases by an interface", pkg, imported))
				}
			}
		}
	}
	return found
}

// reach returns a shortest trail from pkg to each package that it reaches
// through packages of this module.
func reach(graph map[string][]string, pkg string) [][]string {
	seen := map[string]bool{pkg: true}
	trails := [][]string{{pkg}}
	for i := 0; i < len(trails); i++ {
		trail := trails[i]
		for _, next := range graph[trail[len(trail)-1]] {
			if !seen[next] {
				seen[next] = true
				trails = append(trails, append(slices.Clip(trail), next))
			}
		}
	}
	return trails[1:]
}

// importGraph returns the imports of each package of this module, tests left
// out, with this module's packages named from its root.
func importGraph(t *testing.T) map[string][]string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, "./...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	graph := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		for i := range fields {
			fields[i] = strings.TrimPrefix(fields[i], module+"/")
		}
		graph[fields[0]] = fields[1:]
	}
	return graph
}

func TestImports(t *testing.T) {
	graph := importGraph(t)
	if len(graph) < len(backends) || len(graph["vfs"]) == 0 {
		t.Fatalf("go list tells of %d packages", len(graph))
	}
	for _, breach := range breaches(graph, importRules) {
		t.Error(breach)
	}
}

// Each rule would be noticed when broken, also through a third package.
func TestImportRulesBite(t *testing.T) {
	for _, tt := range []struct {
		graph map[string][]string
		want  string // "" when nothing is broken
	}{
		{map[string][]string{"vfs": {"context", "vfs/vpath"}, "vfs/vpath": {"strings"}}, ""},
		{map[string][]string{"vfs": {"golang.org/x/text/unicode/norm"}}, "vfs → golang.org/x/text/unicode/norm: the contract takes"},
		{map[string][]string{"vfs": {"vfs/memfs"}}, "vfs → vfs/memfs: the contract takes"},
		{map[string][]string{"vfs": {"vfs/walk"}}, "vfs → vfs/walk: the contract takes"},
		{map[string][]string{"vfs/iofs": {"vfs/walk", "io/fs"}, "vfs/walk": {"vfs"}}, ""},
		{map[string][]string{"vfs/wrap": {"vfs/memfs"}}, "vfs/wrap → vfs/memfs: what stands on the contract"},
		{map[string][]string{"vfs/vpath": {"vfs"}}, "vfs/vpath → vfs: the grammar"},
		{map[string][]string{"vfs/memfs": {"vfs"}, "vfs": {"os"}}, "vfs/memfs → vfs → os: the contract and what lives in memory"},
		{map[string][]string{"vfs/badgerfs": {"vfs/routefs"}}, "vfs/badgerfs → vfs/routefs: a backend stands alone"},
		{map[string][]string{"vfs/sqlitefs": {"vfs/agenttool"}}, "vfs/sqlitefs → vfs/agenttool: a backend stands alone"},
		{map[string][]string{"vfs/agenttool": {"vfs/memfs"}}, ""},
		{map[string][]string{"vfs/agenttool": {"vfs/staticfs"}}, "the tools work on any backend"},
		{map[string][]string{"vfs/journalfs": {"vfs/memfs"}}, "a journal stands behind any store"},
		{map[string][]string{"fusebridge": {"vfs/agenttool"}}, "the mount shows any backend"},
		{map[string][]string{"fusebridge/internal/view": {"fusebridge/internal/overlay"}}, "who only looks"},
		{map[string][]string{"fusebridge/internal/tree": {"vfs", "os"}}, "no FUSE, no context, no I/O"},
		{map[string][]string{"fusebridge": {"fusebridge/internal/overlay"}, "fusebridge/internal/overlay": {"fusebridge/internal/view", "fusebridge/internal/tree"}}, ""},
		{map[string][]string{"agentsim/turn": {"agentsim/x"}, "agentsim/x": {"vfs/badgerfs"}}, "agentsim/turn → agentsim/x → vfs/badgerfs: a replay runs"},
		{map[string][]string{"agentsim/internal/replay": {"agentsim/internal/turns"}}, "what all kinds share knows none"},
		{map[string][]string{"agentsim/internal/calls": {"agentsim/internal/turns"}}, "kinds of scenarios know nothing of each other"},
		{map[string][]string{"agentsim/internal/turns": {"agentsim/internal/report"}}, "kinds of scenarios know nothing of each other"},
		{map[string][]string{"agentsim/internal/report": {"agentsim/internal/golden"}}, "a report shows cases"},
		{map[string][]string{"agentsim": {"agentsim/wire"}, "agentsim/wire": {"net/http"}}, "carries no network"},
		{map[string][]string{"agentsim/wire": {"vfs/agenttool"}}, "a scripted model on the wire stands alone"},
		{map[string][]string{"vfs/routefs": {"agentsim"}}, "files are useful without agents"},
		{map[string][]string{"vfs/routefs": {"testing"}}, "carries no test framework"},
		{map[string][]string{"vfs/vfstest": {"testing"}, "agentsim/simtest": {"testing"}}, ""},
		{map[string][]string{"fusebridge": {"cmd/goliathfs/internal/storeurl"}}, "never the other way"},
		{map[string][]string{"agentsim": {"github.com/dgraph-io/badger/v4"}}, "one package knows Badger"},
		{map[string][]string{"cmd/goliathfs/internal/database": {"vfs/badgerfs"}, "vfs/badgerfs": {"github.com/dgraph-io/badger/v4"}}, ""},
		{map[string][]string{"cmd/goliathfs": {"vfs/sqlitefs"}}, "verbs know databases by an interface"},
		{map[string][]string{"cmd/goliathfs": {"github.com/dgraph-io/badger/v4"}}, "one package knows it"},
		{map[string][]string{"vfs/remotefs": {"github.com/ncruces/go-sqlite3/driver"}}, "one package knows the SQLite driver"},
		{map[string][]string{"vfs/remotefs": {"github.com/jackc/pgx/v5/pgxpool"}}, "one package knows pgx"},
		{map[string][]string{"cmd/goliathfs": {"github.com/jackc/pgx/v5"}}, "one package knows it"},
		{map[string][]string{"cmd/goliathfs": {"vfs/postgresfs"}}, "verbs know databases by an interface"},
		{map[string][]string{"vfs/postgresfs": {"internal/pgcluster"}}, "no part of what ships"},
		{map[string][]string{"agentsim": {"github.com/hanwen/go-fuse/v2/fuse"}}, "one package knows go-fuse"},
		{map[string][]string{"agentsim": {"vfs/agenttool/tiktoken"}}, "does not carry the vocabularies"},
		{map[string][]string{"agentsim/wire": {"github.com/modelcontextprotocol/go-sdk/mcp"}}, "one package knows the MCP SDK"},
		{map[string][]string{"cmd/goliathfs": {"github.com/modelcontextprotocol/go-sdk/mcp"}}, "one package knows it"},
		{map[string][]string{"vfs/mcptool": {"vfs/sqlitefs"}}, "one package knows the MCP SDK"},
	} {
		got := strings.Join(breaches(tt.graph, importRules), "\n")
		if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%v: breaches %q, want one with %q", tt.graph, got, tt.want)
		}
	}
}
