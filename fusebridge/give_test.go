//go:build linux

package fusebridge_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/goliathfs/goliathfs/internal/testsize"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

// readAndDrop is a child that reads all files of a directory again and again, and has the
// kernel drop their pages, until its standard input ends.
func readAndDrop(dir string) {
	go func() {
		for {
			entries, _ := os.ReadDir(dir)
			for _, e := range entries {
				f, err := os.Open(filepath.Join(dir, e.Name()))
				if err != nil {
					continue // it is being renamed
				}
				io.Copy(io.Discard, f)
				unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
				f.Close()
			}
		}
	}()
	io.Copy(io.Discard, os.Stdin)
}

// editing is what an editing child did, and found wrong.
type editing struct {
	Texts map[string]string // of each file in the end
	Wrong []string
}

// editAndRead is a child that edits the files of a directory in every way, args[1] times,
// and looks after each whether it finds what it wrote. It prints an editing.
func editAndRead(args []string) {
	dir := args[0]
	texts := map[string][]byte{}
	var e editing
	for round := range atoi(args[1]) {
		name := fmt.Sprint(rand.IntN(4))
		path, text := filepath.Join(dir, name), texts[name]
		next, err := editFile(path, text, round)
		texts[name] = next
		got, readErr := os.ReadFile(path)
		info, statErr := os.Stat(path)
		switch err := errors.Join(err, readErr, statErr); {
		case err != nil:
			e.Wrong = append(e.Wrong, err.Error())
		case !bytes.Equal(got, next) || info.Size() != int64(len(next)):
			e.Wrong = append(e.Wrong, fmt.Sprintf("round %d: %s has %d bytes by stat, reads %d bytes %.60q, want %d bytes %.60q", round, name, info.Size(), len(got), got, len(next), next))
		}
	}
	e.Texts = map[string]string{}
	for name, text := range texts {
		e.Texts["/d/"+name] = string(text)
	}
	json.NewEncoder(os.Stdout).Encode(e)
}

// editFile edits a file that has a text, and returns what it has then.
func editFile(path string, text []byte, round int) ([]byte, error) {
	fresh := bytes.Repeat(fmt.Appendf(nil, "%07d\n", round), 1+rand.IntN(1500))
	at := 0
	if len(text) > 0 {
		at = rand.IntN(len(text))
	}
	switch rand.IntN(5) {
	case 0:
		return fresh, os.WriteFile(path, fresh, 0o644)
	case 1:
		return fresh, errors.Join(os.WriteFile(path+".tmp", fresh, 0o644), os.Rename(path+".tmp", path))
	case 2:
		if text == nil {
			return nil, os.WriteFile(path, nil, 0o644)
		}
		return text[:at], os.Truncate(path, int64(at))
	case 3:
		fresh = fresh[:8]
		return append(text[:len(text):len(text)], fresh...), writeAt(path, fresh, int64(len(text)))
	default:
		fresh = fresh[:8]
		next := append(bytes.Clone(text[:at]), fresh...)
		if len(next) < len(text) {
			next = append(next, text[len(next):]...)
		}
		return next, writeAt(path, fresh, int64(at))
	}
}

func writeAt(path string, text []byte, at int64) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(text, at)
	return errors.Join(err, f.Close())
}

// lingering is a store whose texts are under way for a while.
type lingering struct{ *memfs.FS }

func (l lingering) Read(ctx context.Context, path string) (vfs.File, error) {
	f, err := l.FS.Read(ctx, path)
	for range rand.IntN(20) * rand.IntN(500) {
		runtime.Gosched()
	}
	return f, err
}

// Who edits files finds what he wrote, though others read them all the time and the kernel
// drops their pages, so that each is given to it again and again; and everybody finds what
// an agent writes beside them.
func TestEditsWhileGiven(t *testing.T) {
	for kernel, with := range kernels {
		t.Run(kernel, func(t *testing.T) {
			files := map[string]string{"/d/0": "", "/d/1": "", "/d/2": "", "/d/3": ""}
			mem := newMem(t, files)
			s := mount(t, lingering{mem}, with(writable(t)))
			for range 2 {
				child(t, "drop", under(s, "/d"))
			}
			_, out, _ := child(t, "editing", under(s, "/d"), fmt.Sprint(testsize.Pick(100, 400, 10_000)))
			look := newLooker(t)
			for n := range testsize.Pick(30, 100, 4_000) {
				files["/d/agent"] = body(n, 1+n%300)
				write(t, mem, "/d/agent", files["/d/agent"])
				if got, want := look.ask("read", under(s, "/d/agent")), quoted(files["/d/agent"]); got != want {
					t.Errorf("the agent's text %d reads %.60s, want %.60s", n, got, want)
				}
			}
			var e editing
			if err := json.NewDecoder(out).Decode(&e); err != nil {
				t.Fatal(err)
			}
			for _, wrong := range e.Wrong[:min(5, len(e.Wrong))] {
				t.Error(wrong)
			}
			for path, text := range files {
				if _, edited := e.Texts[path]; !edited {
					e.Texts[path] = text
				}
			}
			if diff := cmp.Diff(e.Texts, stored(t, mem)); diff != "" {
				t.Errorf("the store (-want +got)\n%.1000s", diff)
			}
			if n := s.Counters().Ahead; n == 0 {
				t.Error("nothing was given, so this shows nothing")
			}
			t.Logf("%d wrong; %+v", len(e.Wrong), s.Counters())
		})
	}
}
