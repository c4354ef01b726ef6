package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/goliathfs/goliathfs/internal/pgcluster"
)

// TestPostgres runs testdata/postgres/*.txtar, each with a database of its own, which
// PG* variables name: postgres:/// is its URL. What a script writes as password and
// secret must be in no file, in no output and in no list of processes.
func TestPostgres(t *testing.T) {
	refuseStop(t, "testdata/postgres")
	c, err := pgcluster.Start(t.Context(), nil)
	if errors.Is(err, pgcluster.ErrNone) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	p := scripts(t, "testdata/postgres")
	fuse := p.Condition
	p.Condition = func(name string) (bool, error) {
		if name == "ownserver" {
			return c.Own(), nil
		}
		return fuse(name)
	}
	p.Cmds["psql"], p.Cmds["postgres"], p.Cmds["nosecret"] = psql, postgresServer, noSecret
	setup := p.Setup
	p.Setup = func(env *testscript.Env) error {
		if err := setup(env); err != nil {
			return err
		}
		return ownDatabase(env, c.URL())
	}
	t.Run("scripts", func(t *testing.T) { testscript.Run(t, p) })
}

var databases atomic.Int64

type clusterKey struct{}

// ownDatabase makes a database of a script's own and names it in its environment.
func ownDatabase(env *testscript.Env, server string) error {
	name := fmt.Sprintf("goliathfs_script_%d_%d", os.Getpid(), databases.Add(1))
	if err := execute(server, "create database "+name); err != nil {
		return err
	}
	env.Defer(func() {
		// One that is left behind is of no account where the server is the tests' own.
		_ = execute(server, "drop database if exists "+name+" with (force)", dropRoles(name))
	})
	env.Values[clusterKey{}] = new(*pgcluster.Cluster)
	set := func(key, value string) {
		if value != "" {
			env.Setenv(key, value)
		}
	}
	config, err := pgx.ParseConfig(server)
	if err != nil {
		return err
	}
	set("PGHOST", config.Host)
	set("PGPORT", fmt.Sprint(config.Port))
	set("PGUSER", config.User)
	set("PGPASSWORD", config.Password)
	set("PGDATABASE", name)
	set("DB", name)
	u, err := url.Parse(server)
	if err != nil {
		return err
	}
	set("PGSSLMODE", u.Query().Get("sslmode"))
	return nil
}

// dropRoles is the statement that drops the roles of a script, whose names end in that
// of its database.
func dropRoles(database string) string {
	return `do $$ declare r text; begin
	for r in select rolname from pg_roles where rolname like '%\_` + database + `' loop execute format('drop role %I', r); end loop; end $$`
}

func execute(server string, statements ...string) error {
	conn, err := pgx.Connect(context.Background(), server)
	if err != nil {
		return err
	}
	defer conn.Close(context.Background())
	for _, s := range statements {
		if _, err := conn.Exec(context.Background(), s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

// scriptServer is the URL of a script's database, as whoever made the server.
func scriptServer(ts *testscript.TestScript) string {
	q := url.Values{}
	for _, name := range []string{"host", "port", "user", "password", "sslmode"} {
		if v := ts.Getenv("PG" + strings.ToUpper(name)); v != "" {
			q.Set(name, v)
		}
	}
	return "postgres:///" + ts.Getenv("DB") + "?" + strings.ReplaceAll(q.Encode(), "+", "%20")
}

// psql runs statements, or those in a file, as whoever made the server. $DB in a file is
// the script's database.
func psql(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 2 && args[0] == "-file" {
		args = []string{strings.ReplaceAll(ts.ReadFile(args[1]), "$DB", ts.Getenv("DB"))}
	}
	if neg || len(args) == 0 {
		ts.Fatalf("usage: psql statement... | -file name")
	}
	ts.Check(execute(scriptServer(ts), args...))
}

// postgresServer gives the script a server of its own, and ends and starts it:
//
//	postgres own [line of pg_hba.conf]...
//	postgres kill
//	postgres run
func postgresServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: postgres own|kill|run")
	}
	held := ts.Value(clusterKey{}).(**pgcluster.Cluster)
	ctx := context.Background()
	switch args[0] {
	case "own":
		c, err := pgcluster.StartOwn(ctx, nil)
		if errors.Is(err, pgcluster.ErrNone) {
			// The server that is there may not be stopped, so there is nothing to see.
			ts.Logf("%v", err)
			ts.Fatalf("this script stops a server, and %v", err)
		}
		ts.Check(err)
		*held = c
		ts.Defer(func() { ts.Check(c.Close()) })
		ts.Check(execute(c.URL(), "create database "+ts.Getenv("DB")))
		ts.Setenv("PGHOST", filepath.Dir(c.Socket()))
		ts.Setenv("PGPORT", "5432")
		ts.Setenv("PGUSER", "goliath")
		ts.Setenv("PGPASSWORD", "")
		ts.Setenv("PGSSLMODE", "disable")
		if rules := args[1:]; len(rules) > 0 {
			addRules(ts, c, rules)
		}
	case "kill":
		ts.Check((*held).Kill())
	case "run":
		ts.Check((*held).Run(ctx))
	default:
		ts.Fatalf("usage: postgres own|kill|run")
	}
}

// addRules puts lines before the rules by which a server lets users in.
func addRules(ts *testscript.TestScript, c *pgcluster.Cluster, rules []string) {
	name := filepath.Join(filepath.Dir(c.Socket()), "data", "pg_hba.conf")
	old, err := os.ReadFile(name)
	ts.Check(err)
	ts.Check(os.WriteFile(name, append([]byte(strings.Join(rules, "\n")+"\n"), old...), 0o600))
	ts.Check(execute(c.URL(), "select pg_reload_conf()"))
}

func isCommand(line []byte) bool {
	program, _, _ := strings.Cut(string(line), "\x00")
	return filepath.Base(program) == "goliathfs"
}

// noSecret looks for a text in every file of the script, in what it has printed last,
// in the mounts and in the arguments and the environment of every process that this
// test has started:
//
//	nosecret TEXT
func noSecret(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: nosecret text")
	}
	found := func(where, text string) {
		if strings.Contains(text, args[0]) {
			ts.Fatalf("%s holds %q:\n%q", where, args[0], text)
		}
	}
	found("standard output", ts.ReadFile("stdout"))
	found("standard error", ts.ReadFile("stderr"))
	processes, err := filepath.Glob("/proc/[0-9]*")
	ts.Check(err)
	seen := 0
	for _, p := range processes {
		line, err := os.ReadFile(filepath.Join(p, "cmdline"))
		if err != nil || !isCommand(line) {
			continue
		}
		if dir, err := os.Readlink(filepath.Join(p, "cwd")); err != nil || !strings.HasPrefix(dir, ts.Getenv("WORK")) {
			continue
		}
		seen++
		found("a process", string(line))
		environ, err := os.ReadFile(filepath.Join(p, "environ"))
		if err == nil {
			found("the environment of a process", string(environ))
		}
	}
	if running := len(ts.Value(serversKey{}).(servers)); seen < running {
		ts.Fatalf("of %d processes of the script %d were found", running, seen)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	ts.Check(err)
	found("a mount", string(mounts))
	ts.Check(filepath.WalkDir(ts.Getenv("WORK"), func(name string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || strings.HasSuffix(name, ".secret") {
			return err
		}
		data, err := os.ReadFile(name)
		found(name, string(data))
		return err
	}))
}
