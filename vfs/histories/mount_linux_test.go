package histories_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/fusebridge"
	"github.com/goliathfs/goliathfs/vfs"
)

// ask is what a process that uses a mount is asked to do, a line of JSON each.
type ask struct {
	Name string
	Text string // to write; empty to read
}

// answer is what came of it.
type answer struct {
	Text    string
	Missing bool
	Failed  string
}

// lookForOthers is the process: the mounting one must not look into its own mount. Of
// what it has read it has some open on, as a pager or an editor does.
func lookForOthers(in io.Reader, out io.Writer) error {
	asks, answers := json.NewDecoder(in), json.NewEncoder(out)
	var open [3]*os.File
	defer func() {
		for _, f := range open {
			f.Close()
		}
	}()
	n := 0
	for {
		var q ask
		if err := asks.Decode(&q); err != nil {
			return nil // the test has ended
		}
		var a answer
		var err error
		if q.Text == "" {
			var data []byte
			open[n%len(open)].Close()
			if open[n%len(open)], err = os.Open(q.Name); err == nil {
				data, err = io.ReadAll(open[n%len(open)])
			}
			n++
			a.Text = string(data)
		} else {
			err = overwrite(q.Name, q.Text)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			a.Missing = true
		case err != nil:
			a.Failed = err.Error()
		}
		if err := answers.Encode(a); err != nil {
			return err
		}
	}
}

// overwrite is what an editor does that writes in place.
func overwrite(name, text string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// developer uses a mount by a process of its own.
type developer struct {
	dir string
	p   *process
}

// newDeveloper starts one, who ends with the test.
func newDeveloper(t *testing.T, dir string) developer {
	p, err := job{Role: "look"}.start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.in.Close()
		if err := p.cmd.Wait(); err != nil {
			t.Errorf("the developer's process: %v", err)
		}
	})
	return developer{dir, p}
}

func (d developer) ask(q ask) (answer, error) {
	if err := json.NewEncoder(d.p.in).Encode(q); err != nil {
		return answer{}, err
	}
	line, err := d.p.out.ReadBytes('\n')
	if err != nil {
		return answer{}, err
	}
	var a answer
	return a, json.Unmarshal(line, &a)
}

// work looks at files and, where it may, overwrites some, until ctx ends.
func (d developer) work(ctx context.Context, t *testing.T, h *history, l load, writes bool) {
	const id = 100
	const most = 150 // or the search for an order takes long
	for n := 0; ctx.Err() == nil && n < most; n++ {
		path := l.path(rand.IntN(l.paths))
		q := ask{Name: d.dir + path}
		o := h.begin(id, look, path)
		if writes && rand.IntN(3) == 0 {
			o.kind, o.content = put, fmt.Sprintf("developer text %d %s", n, strings.Repeat("y", rand.IntN(2)*5000))
			q.Text = o.content
		}
		a, err := d.ask(q)
		switch {
		case err != nil:
			t.Errorf("the developer's process: %v", err)
			return
		case a.Failed != "":
			err = errors.New(a.Failed)
		case a.Missing && o.kind == look:
			err = vfs.ErrNotFound
		case a.Missing:
			err = errors.New("there is no such file")
		case o.kind == look:
			o.content = a.Text
		}
		h.end(o, err)
	}
}

// TestThroughAMount plays histories over each store while a developer looks at
// its files through a mount, and edits them.
func TestThroughAMount(t *testing.T) {
	if _, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0); err != nil {
		t.Skipf("there is no mounting here: %v", err)
	}
	for _, kind := range kinds {
		for _, writes := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s writable=%v", kind, writes), func(t *testing.T) {
				play(t, 2, load{clients: 2, steps: 60, paths: 4, watchers: 5, pace: 2 * time.Millisecond}, func(t *testing.T) world {
					b, dir := openStore(t, kind, t.TempDir()), t.TempDir()
					s, err := fusebridge.Mount(t.Context(), b, dir, &fusebridge.Options{ReadWrite: writes, StateDir: t.TempDir()})
					if err != nil {
						t.Skipf("there is no mounting here: %v", err)
					}
					t.Cleanup(func() {
						if err := s.Unmount(); err != nil {
							t.Error(err)
						}
					})
					d := newDeveloper(t, dir)
					return world{client: same(b), join: func(ctx context.Context, h *history, l load) { d.work(ctx, t, h, l, writes) }}
				})
			})
		}
	}
}
