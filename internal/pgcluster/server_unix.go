//go:build unix

package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// server is a cluster that was made here.
type server struct {
	url, dir, bin string
	settings      []string
	cred          *syscall.Credential
	keeper        *exec.Cmd
	leash         io.WriteCloser // the server ends when it is closed
}

// superuser is that of the clusters made here.
const superuser = "goliath"

func newServer(ctx context.Context, opts *Options) (*server, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	s := &server{bin: bin, dir: opts.Dir, settings: opts.Settings}
	if s.cred, err = servant(); err != nil {
		return nil, err
	}
	if s.dir == "" {
		if s.dir, err = os.MkdirTemp("", "pg-"); err != nil {
			return nil, err
		}
	}
	if err := s.make(ctx); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *server) make(ctx context.Context) error {
	if s.cred != nil {
		if err := os.Chown(s.dir, int(s.cred.Uid), int(s.cred.Gid)); err != nil {
			return err
		}
	}
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, "initdb"), "-D", s.data(), "-U", superuser, "-A", "trust",
		"-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions")
	cmd.Dir, cmd.SysProcAttr = s.dir, &syscall.SysProcAttr{Credential: s.cred}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	s.url = (&url.URL{Scheme: "postgres", User: url.User(superuser), Path: "/postgres",
		RawQuery: url.Values{"host": {s.dir}, "sslmode": {"disable"}}.Encode()}).String()
	return s.run(ctx)
}

func (s *server) data() string   { return filepath.Join(s.dir, "data") }
func (s *server) socket() string { return filepath.Join(s.dir, ".s.PGSQL.5432") }

// leashed runs the server, which is the arguments, until the standard input of the
// shell ends: with the process that holds the other end of that pipe, however it
// ends. Unless it has said "keep", the folder goes too.
const leashed = `"$@" </dev/null >"$0/log" 2>&1 &
server=$!
read answer
kill -QUIT $server 2>/dev/null
wait $server
[ "$answer" = keep ] || rm -rf "$0"
exit 0`

func (s *server) run(ctx context.Context) error {
	args := []string{"-c", leashed, s.dir, filepath.Join(s.bin, "postgres"), "-D", s.data(), "-k", s.dir}
	for _, setting := range append([]string{"listen_addresses=", "fsync=off", "shared_buffers=32MB", "max_connections=200"}, s.settings...) {
		args = append(args, "-c", setting)
	}
	s.keeper = exec.Command("/bin/sh", args...)
	s.keeper.Dir = s.dir
	s.keeper.SysProcAttr = &syscall.SysProcAttr{Credential: s.cred, Setpgid: true}
	var err error
	if s.leash, err = s.keeper.StdinPipe(); err != nil {
		return err
	}
	if err := s.keeper.Start(); err != nil {
		return err
	}
	return s.ready(ctx)
}

// ready waits until the server says so in its file.
func (s *server) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if lines := s.status(); len(lines) >= 8 && strings.TrimSpace(lines[7]) == "ready" {
			if conn, err := (&net.Dialer{}).DialContext(ctx, "unix", s.socket()); err == nil {
				return conn.Close()
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			return fmt.Errorf("the server does not start: %w: %s", ctx.Err(), log)
		}
	}
}

// status returns the lines of the file in which the server says what it is; the
// first is the id of its first process.
func (s *server) status() []string {
	text, _ := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
	return strings.Split(string(text), "\n")
}

func (s *server) kill() error {
	pid, err := strconv.Atoi(s.status()[0])
	if err != nil {
		return errors.New("the server does not run")
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return err
	}
	return errors.Join(s.end(), s.orphans())
}

// orphans waits until the processes of a killed server have noticed: before that no
// other one can start.
func (s *server) orphans() error {
	for range 4000 {
		busy := false
		dirs, _ := filepath.Glob("/proc/[0-9]*/cwd")
		for _, dir := range dirs {
			at, err := os.Readlink(dir)
			busy = busy || err == nil && at == s.data()
		}
		if !busy {
			return os.Remove(filepath.Join(s.data(), "postmaster.pid"))
		}
		<-time.After(5 * time.Millisecond)
	}
	return errors.New("processes of the killed server do not end")
}

func (s *server) end() error {
	if s.keeper == nil {
		return nil
	}
	_, err := io.WriteString(s.leash, "keep\n")
	err = errors.Join(err, s.leash.Close(), s.keeper.Wait())
	s.keeper = nil
	return err
}

func (s *server) close() error { return errors.Join(s.end(), os.RemoveAll(s.dir)) }
