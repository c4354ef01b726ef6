package pgcluster_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/internal/pgcluster"
)

// childVariable has this test binary start a cluster, say where, and wait.
const childVariable = "GOLIATHFS_PGCLUSTER_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) == "" {
		os.Exit(m.Run())
	}
	c, err := pgcluster.StartOwn(context.Background(), nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(c.Socket())
	io.Copy(io.Discard, os.Stdin)
}

// The server of a process that is killed ends, and its folder goes.
func TestEndsWithItsMaker(t *testing.T) {
	child := exec.Command(os.Args[0])
	child.Env, child.Stderr = append(os.Environ(), childVariable+"=1"), os.Stderr
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		child.Wait()
		t.Skip("the child started no server: " + pgcluster.ErrNone.Error())
	}
	socket := strings.TrimSpace(line)
	if conn, err := net.Dial("unix", socket); err != nil {
		t.Error(err)
	} else {
		conn.Close()
	}
	child.Process.Kill()
	child.Wait() // fails, for it was killed
	for deadline := time.Now().Add(30 * time.Second); ; <-time.After(10 * time.Millisecond) {
		_, err := os.Stat(filepath.Dir(socket))
		if errors.Is(err, os.ErrNotExist) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is still there: %v", filepath.Dir(socket), err)
		}
	}
	if conn, err := net.Dial("unix", socket); err == nil {
		conn.Close()
		t.Error("the server still answers")
	}
}

// A server that was killed starts again.
func TestKillAndRun(t *testing.T) {
	c, err := pgcluster.StartOwn(t.Context(), nil)
	if errors.Is(err, pgcluster.ErrNone) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := c.Kill(); err != nil {
			t.Fatal(err)
		}
		if conn, err := net.Dial("unix", c.Socket()); err == nil {
			conn.Close()
			t.Error("the killed server answers")
		}
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Dir(c.Socket())); err == nil {
		t.Error("the folder is still there")
	}
}
