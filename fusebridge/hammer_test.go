//go:build linux

package fusebridge_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// body is content that shows when it was cut or mixed: every line says the
// same, and the first says how many there are.
func body(n, lines int) string {
	return strings.Repeat(fmt.Sprintf("%08d %08d\n", n, lines), lines)
}

// intact reports whether text is one whole body.
func intact(text string) bool {
	var n, lines int
	if _, err := fmt.Sscanf(text, "%d %d\n", &n, &lines); err != nil {
		return false
	}
	return text == body(n, lines)
}

// hammered is what a hammering reader found.
type hammered struct {
	Reads, Listings int
	Torn            []string // files whose content was no single revision
	Twice           []string // names that one listing gave twice
	Stale           []string // reads of a revision that could not be had any more
	Failures        []string // errors other than "no such file" and these
}

// hammer is a child that lists dir and reads all below it, again and again,
// until its standard input ends; then it prints what it found.
func hammer(dir string) {
	var stop atomic.Bool
	go func() {
		io.Copy(io.Discard, os.Stdin)
		stop.Store(true)
	}()
	var h hammered
	h.visit(dir)
	fmt.Println("begun")
	for !stop.Load() {
		h.visit(dir)
	}
	json.NewEncoder(os.Stdout).Encode(h)
}

func (h *hammered) visit(dir string) {
	f, err := os.Open(dir)
	if err != nil {
		h.failed(dir, err)
		return
	}
	names, err := f.Readdirnames(-1)
	f.Close()
	h.Listings++
	h.failed(dir, err)
	seen := map[string]bool{}
	for _, name := range names {
		path := filepath.Join(dir, name)
		if seen[name] {
			h.Twice = append(h.Twice, path)
		}
		seen[name] = true
		data, err := os.ReadFile(path)
		switch {
		case errors.Is(err, syscall.EISDIR):
			h.visit(path)
		case err != nil:
			h.failed(path, err)
		case !intact(string(data)):
			h.Torn = append(h.Torn, fmt.Sprintf("%s: %.100q", path, data))
		default:
			h.Reads++
		}
	}
}

// failed notes an error, unless it is what a reader of a changing tree must
// expect.
func (h *hammered) failed(path string, err error) {
	if err == nil || errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return
	}
	what := fmt.Sprintf("%s: %v", path, err)
	if errors.Is(err, syscall.ESTALE) {
		h.Stale = append(h.Stale, what)
		return
	}
	h.Failures = append(h.Failures, what)
}

// startHammers starts n hammering processes and returns what ends them and
// fails the test for what they found. Where a walk is ahead of the events, nobody has the
// revision that was replaced until its event comes: who reads it then may find it stale.
func startHammers(t testing.TB, dir string, n int, ahead bool) (stop func()) {
	t.Helper()
	type running struct {
		in  io.Closer
		out *bufio.Reader
	}
	var all []running
	for range n {
		in, out, _ := child(t, "hammer", dir)
		if line, err := out.ReadString('\n'); err != nil || line != "begun\n" {
			t.Fatalf("a hammering reader says %q, %v", line, err)
		}
		all = append(all, running{in, out})
	}
	return func() {
		t.Helper()
		for _, r := range all {
			r.in.Close()
			var h hammered
			if err := json.NewDecoder(r.out).Decode(&h); err != nil {
				t.Errorf("a hammering reader died: %v", err)
				continue
			}
			t.Logf("hammering reader: %d reads, %d listings, %d torn, %d stale, %d failed", h.Reads, h.Listings, len(h.Torn), len(h.Stale), len(h.Failures))
			if !ahead {
				h.Failures = append(h.Failures, h.Stale...)
			}
			for what, found := range map[string][]string{"torn": h.Torn, "listed twice": h.Twice, "failed": h.Failures} {
				if len(found) > 0 {
					t.Errorf("%d %s, the first: %s", len(found), what, found[0])
				}
			}
			if h.Reads == 0 {
				t.Error("a hammering reader never read a file")
			}
		}
	}
}
