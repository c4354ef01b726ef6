//go:build linux

package fusebridge_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/fusebridge"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

// serveUntilKilled is a child that mounts a small store and says so, and when the mount
// is over.
func serveUntilKilled(dir string) {
	mem, err := memfs.New(map[string]string{"/f": "from the child\n"}, nil)
	var s *fusebridge.Server
	if err == nil {
		s, err = fusebridge.Mount(context.Background(), mem, dir, &fusebridge.Options{Name: "mem:child"})
	}
	fmt.Println("mounted", err)
	if err == nil {
		fmt.Println("over", s.Wait())
	}
	io.Copy(io.Discard, os.Stdin)
}

// mountAndLook is a child that mounts, lets cat look, unmounts, and says how it
// went.
func mountAndLook(dir string) {
	support := fusebridge.Probe()
	fmt.Println("direct:", support.Direct)
	mem, _ := memfs.New(map[string]string{"/f": "seen\n"}, nil)
	s, err := fusebridge.Mount(context.Background(), mem, dir, nil)
	if err != nil {
		fmt.Println("mount:", err)
		return
	}
	out, err := exec.Command("cat", filepath.Join(dir, "f")).CombinedOutput()
	fmt.Println("cat:", strings.TrimSpace(string(out)), err)
	out, _ = exec.Command("touch", filepath.Join(dir, "g")).CombinedOutput()
	fmt.Println("touch:", strings.Contains(string(out), "Read-only"))
	fmt.Println("unmount:", s.Unmount())
	fmt.Println("wait:", s.Wait())
}

// killedMount leaves a dead mount at a new directory.
func killedMount(t *testing.T) string {
	t.Helper()
	needFuse(t)
	dir := t.TempDir()
	_, out, cmd := child(t, "serve", dir)
	if line, err := out.ReadString('\n'); err != nil || line != "mounted <nil>\n" {
		t.Fatalf("the child says %q, %v", line, err)
	}
	// With its attributes cached, a dead mount looks alive to stat.
	run(t, "cat", filepath.Join(dir, "f"))
	cmd.Process.Kill()
	cmd.Wait()
	return dir
}

func mountsAt(t *testing.T, dir string) []fusebridge.Mounted {
	t.Helper()
	all, err := fusebridge.List()
	if err != nil {
		t.Fatal(err)
	}
	var here []fusebridge.Mounted
	for _, m := range all {
		if m.Dir == dir {
			here = append(here, m)
		}
	}
	return here
}

// TestDeadMount: the next mount mends what a killed server left.
func TestDeadMount(t *testing.T) {
	dir := killedMount(t)
	left := mountsAt(t, dir)
	if len(left) != 1 || left[0].Health != fusebridge.Dead || left[0].Name != "mem:child" {
		t.Errorf("List says %+v, want one dead mount of mem:child", left)
	}
	s, err := fusebridge.Mount(t.Context(), newMem(t, map[string]string{"/f": "new\n"}), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Wait()
	defer s.Unmount()
	if got := run(t, "cat", filepath.Join(dir, "f")); got != "new\n" {
		t.Errorf("the mount shows %q", got)
	}
	if here := mountsAt(t, dir); len(here) != 1 || here[0].Health != fusebridge.Healthy || !here[0].ReadOnly {
		t.Errorf("List says %+v, want one healthy read-only mount", here)
	}
}

// TestDeadUnmount: Unmount takes a dead mount away.
func TestDeadUnmount(t *testing.T) {
	dir := killedMount(t)
	if err := fusebridge.Unmount(t.Context(), dir, nil); err != nil {
		t.Fatal(err)
	}
	if left := mountsAt(t, dir); len(left) != 0 {
		t.Errorf("left: %+v", left)
	}
}

// TestNoTarget: each unfit directory is refused in one sentence that says why.
func TestNoTarget(t *testing.T) {
	needFuse(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	taken := mount(t, newMem(t, nil), &fusebridge.Options{Name: "mem:taken"})
	tests := []struct{ name, dir, want string }{
		{"not empty", dir, "is not empty"},
		{"a file", file, "is no directory"},
		{"missing", filepath.Join(dir, "missing"), "create it first"},
		{"below missing", filepath.Join(dir, "missing", "too"), "create it first"},
		{"mounted", taken.Dir(), "shows mem:taken already"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := fusebridge.Mount(t.Context(), newMem(t, nil), tt.dir, nil)
			if err == nil {
				s.Unmount()
				t.Fatal("it was mounted")
			}
			if !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("the error is %q, want one sentence with %q", err, tt.want)
			}
		})
	}
	s, err := fusebridge.Mount(t.Context(), newMem(t, nil), dir, &fusebridge.Options{NonEmpty: true})
	if err != nil {
		t.Fatalf("with NonEmpty: %v", err)
	}
	s.Unmount()
	s.Wait()
	if err := fusebridge.Unmount(t.Context(), dir, nil); err == nil || !strings.Contains(err.Error(), "nothing of goliathfs is mounted") {
		t.Errorf("unmounting what is not mounted: %v", err)
	}
}

// TestBusy: who sits in a mount is named, and the mount goes nevertheless.
func TestBusy(t *testing.T) {
	needFuse(t)
	for _, use := range []string{"chdir", "open"} {
		t.Run(use, func(t *testing.T) {
			logged := newLines()
			s, err := fusebridge.Mount(t.Context(), newMem(t, map[string]string{"/d/f": "x\n"}), t.TempDir(), &fusebridge.Options{
				UnmountTimeout: 50 * time.Millisecond,
				Logger:         slog.New(slog.NewTextHandler(logged, nil)),
			})
			if err != nil {
				t.Fatal(err)
			}
			look := newLooker(t)
			if use == "chdir" {
				look.ask(use, under(s, "/d"))
			} else {
				look.ask(use, under(s, "/d/f"))
			}
			if err := s.Unmount(); err != nil {
				t.Error(err)
			}
			if left := mountsAt(t, s.Dir()); len(left) != 0 {
				t.Errorf("Unmount said it is gone, and it is there: %+v", left)
			}
			if err := s.Wait(); err != nil {
				t.Error(err)
			}
			if err := s.Unmount(); err != nil {
				t.Errorf("unmounting again: %v", err)
			}
			logged.await(t, fmt.Sprintf("pid=%d", look.pid))
		})
	}
}

// TestEnds: the end of the context, and an unmount by someone else, end a mount.
func TestEnds(t *testing.T) {
	needFuse(t)
	tests := []struct {
		name string
		end  func(s *fusebridge.Server, cancel context.CancelFunc)
	}{
		{"context", func(_ *fusebridge.Server, cancel context.CancelFunc) { cancel() }},
		{"umount", func(s *fusebridge.Server, _ context.CancelFunc) { run(t, "umount", s.Dir()) }},
		{"the package's Unmount", func(s *fusebridge.Server, _ context.CancelFunc) {
			if err := fusebridge.Unmount(t.Context(), s.Dir(), nil); err != nil {
				t.Error(err)
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s, err := fusebridge.Mount(ctx, newMem(t, nil), t.TempDir(), nil)
			if err != nil {
				t.Fatal(err)
			}
			tt.end(s, cancel)
			if err := s.Wait(); err != nil {
				t.Error(err)
			}
			if left := mountsAt(t, s.Dir()); len(left) != 0 {
				t.Errorf("left: %+v", left)
			}
			if err := s.Unmount(); err != nil {
				t.Error(err)
			}
		})
	}
}

// hanging is a store whose reads wait until their context ends.
type hanging struct {
	*memfs.FS
	asked chan struct{}
}

func (h hanging) Read(ctx context.Context, _ string) (vfs.File, error) {
	h.asked <- struct{}{}
	<-ctx.Done()
	return vfs.File{}, ctx.Err()
}

// TestHangingStore: a read of a store that does not answer fails within the
// bound, and when the context of the mount ends.
func TestHangingStore(t *testing.T) {
	t.Parallel()
	needFuse(t)
	h := hanging{newMem(t, map[string]string{"/f": "x\n"}), make(chan struct{}, 100)}
	t.Run("bound", func(t *testing.T) {
		s := mount(t, h, &fusebridge.Options{Timeout: 50 * time.Millisecond})
		if got := newLooker(t).ask("read", under(s, "/f")); got != "error: input/output error" {
			t.Errorf("reading gives %s", got)
		}
		if got := run(t, "ls", s.Dir()); got != "f\n" {
			t.Errorf("listing gives %q", got)
		}
	})
	t.Run("end", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s, err := fusebridge.Mount(ctx, h, t.TempDir(), &fusebridge.Options{Timeout: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		for len(h.asked) > 0 {
			<-h.asked
		}
		cmd := exec.Command("cat", under(s, "/f"))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		<-h.asked
		cancel()
		if err := cmd.Wait(); err == nil {
			t.Error("cat succeeded on a store that does not answer")
		}
		if err := s.Wait(); err != nil {
			t.Error(err)
		}
	})
}

// stop stops a process and returns when it has stopped, which takes a while after the
// signal.
func stop(t *testing.T, p *os.Process) {
	t.Helper()
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Signal(syscall.SIGCONT) })
	for t.Context().Err() == nil {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Pid))
		if err != nil {
			t.Fatal(err)
		}
		if after := string(stat[bytes.LastIndexByte(stat, ')')+1:]); strings.HasPrefix(after, " T ") {
			return
		}
	}
}

// TestEndingSparesStrangers: a server whose mount was taken away while it slept leaves
// the next one at its directory alone, though that has the numbers of the old one.
func TestEndingSparesStrangers(t *testing.T) {
	needFuse(t)
	if syscall.Geteuid() != 0 {
		t.Skip("only root can call umount -l")
	}
	dir := t.TempDir()
	_, out, server := child(t, "serve", dir)
	if line, err := out.ReadString('\n'); err != nil || line != "mounted <nil>\n" {
		t.Fatalf("the child says %q, %v", line, err)
	}
	stop(t, server.Process)
	run(t, "umount", "-l", dir)
	next, err := fusebridge.Mount(t.Context(), newMem(t, map[string]string{"/f": "the next\n"}), dir, &fusebridge.Options{Name: "mem:next"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { next.Unmount(); next.Wait() })
	server.Process.Signal(syscall.SIGCONT)
	if line, err := out.ReadString('\n'); err != nil || line != "over <nil>\n" {
		t.Fatalf("the child says %q, %v", line, err)
	}
	if here := mountsAt(t, dir); len(here) != 1 || here[0].Name != "mem:next" || here[0].Health != fusebridge.Healthy {
		t.Errorf("mounted there: %+v", here)
	}
	if got := run(t, "cat", filepath.Join(dir, "f")); got != "the next\n" {
		t.Errorf("it shows %q", got)
	}
}
