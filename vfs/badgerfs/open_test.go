package badgerfs_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/badgerfs"
)

func TestForeign(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(dir string) error
		text string
	}{
		{"other files", func(dir string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, "src"), 0o700), os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module m\n"), 0o600))
		}, "go.mod, src"},
		{"many files", func(dir string) error {
			var errs []error
			for _, name := range []string{"a", "b", "c", "d"} {
				errs = append(errs, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
			}
			return errors.Join(errs...)
		}, "a, b, c, …"},
		{"bare Badger database", func(dir string) error {
			db, err := badger.Open(badger.DefaultOptions(dir).WithLogger(nil))
			if err != nil {
				return err
			}
			return db.Close()
		}, "another program"},
		{"file named badger", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "badger"), []byte("honey"), 0o600)
		}, "goliathfs.json is missing"},
		{"SQLite database", func(dir string) error {
			return errors.Join(os.Remove(dir), os.WriteFile(dir, []byte("SQLite format 3\x00 and so on"), 0o600))
		}, "a SQLite database"},
		{"text file", func(dir string) error {
			return errors.Join(os.Remove(dir), os.WriteFile(dir, []byte("text"), 0o600))
		}, "it is a file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "d")
			if err := errors.Join(os.Mkdir(dir, 0o700), c.make(dir)); err != nil {
				t.Fatal(err)
			}
			want := badgerfs.ErrForeign
			if c.name == "file named badger" {
				want = badgerfs.ErrDamaged
			}
			refuse(t, dir, nil, want, c.text)
			refuse(t, dir, &badgerfs.Options{ReadOnly: true}, want, c.text)
			refuse(t, dir, &badgerfs.Options{AcceptLoss: true}, want, c.text)
		})
	}
}

func TestMustExist(t *testing.T) {
	parent := t.TempDir()
	for _, opts := range []badgerfs.Options{{MustExist: true}, {ReadOnly: true}} {
		refuse(t, parent, &opts, fs.ErrNotExist, "no store")
		refuse(t, filepath.Join(parent, "typo"), &opts, fs.ErrNotExist, "no store")
	}
	write(t, open(t, filepath.Join(parent, "deep", "er"), nil), "/a", "made with its parents")
}

// A store that was being made when its process was killed has never held a
// file, so it is made again.
func TestInterruptedMaking(t *testing.T) {
	for _, c := range []struct {
		name string
		left map[string]string
	}{
		{"before anything", map[string]string{"badger/LOCK": "1\n"}},
		{"while labelling", map[string]string{"badger/LOCK": "1\n", "goliathfs.json.new": "{"}},
		{"after labelling", map[string]string{"goliathfs.json": `{"format":"goliathfs-badger","version":1,"state":"making"}`}},
		{"inside Badger", map[string]string{
			"goliathfs.json": `{"format":"goliathfs-badger","version":1,"state":"making"}`,
			"badger/LOCK":    "1\n", "badger/MANIFEST": "Bd", "badger/00001.mem": "", "commits": "",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range c.left {
				path := filepath.Join(dir, name)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			refuse(t, dir, &badgerfs.Options{MustExist: true}, fs.ErrNotExist, "no store")
			s := open(t, dir, nil)
			rev := write(t, s, "/a", "one")
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if info, err := open(t, dir, &badgerfs.Options{MustExist: true}).Stat(t.Context(), "/a"); err != nil || info.Revision != rev {
				t.Errorf("Stat = %+v, %v, want revision %s", info, err, rev)
			}
		})
	}
}

func TestReadOnly(t *testing.T) {
	dir := t.TempDir()
	files := sample()
	build(t, dir, files)
	before := tree(t, dir)
	s := open(t, dir, &badgerfs.Options{ReadOnly: true})
	for path, content := range files {
		if f, err := s.Read(t.Context(), path); err != nil || f.Content != content {
			t.Errorf("Read %s = %d bytes, %v", path, len(f.Content), err)
		}
	}
	if got := paths(t, s, "/"); len(got) != len(files) {
		t.Errorf("%d files are listed, want %d", len(got), len(files))
	}
	sound(t, s)
	if _, err := vfs.Write(t.Context(), s, "/new", "x", ""); !errors.Is(err, vfs.ErrReadOnly) {
		t.Errorf("Write: %v, want ErrReadOnly", err)
	}
	if err := vfs.Remove(t.Context(), s, "/small/1", "r"); !errors.Is(err, vfs.ErrReadOnly) {
		t.Errorf("Remove: %v, want ErrReadOnly", err)
	}
	if err := s.Compact(t.Context()); !errors.Is(err, vfs.ErrReadOnly) {
		t.Errorf("Compact: %v, want ErrReadOnly", err)
	}
	if route, err := vfs.RouteOf(t.Context(), s, "/new"); err != nil || route.Writable {
		t.Errorf("RouteOf = %+v, %v, want one that cannot be written", route, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	sameTree(t, before, tree(t, dir))
}

func TestNeedsRecovery(t *testing.T) {
	dir, killed := t.TempDir(), t.TempDir()
	s := open(t, dir, nil)
	write(t, s, "/a", "one")
	copyTree(t, dir, killed)
	readOnly := &badgerfs.Options{ReadOnly: true}
	refuse(t, killed, readOnly, badgerfs.ErrNeedsRecovery, "open it once for writing")
	if err := open(t, killed, nil).Close(); err != nil {
		t.Fatal(err)
	}
	if f, err := open(t, killed, readOnly).Read(t.Context(), "/a"); err != nil || f.Content != "one" {
		t.Errorf("Read = %q, %v", f.Content, err)
	}
}

// AcceptLoss opens what is refused else, with what is left.
func TestAcceptLoss(t *testing.T) {
	dir, base := t.TempDir(), t.TempDir()
	s := open(t, dir, nil)
	for _, path := range []string{"/1", "/2", "/3"} {
		write(t, s, path, strings.Repeat(path, 5000))
	}
	copyTree(t, dir, base)
	v := victim{t, base}
	v.flip(v.last(".mem"), 0.9)
	refuse(t, base, nil, badgerfs.ErrDamaged, "1 of 3 acknowledged commits are missing")
	left := open(t, base, &badgerfs.Options{AcceptLoss: true})
	if got := paths(t, left, "/"); len(got) != 2 {
		t.Errorf("%q are left, want 2 of 3", got)
	}
	write(t, left, "/3", "again")
	if err := left.Close(); err != nil {
		t.Fatal(err)
	}
	sound(t, open(t, base, nil))
}

func TestOptionErrors(t *testing.T) {
	for name, text := range map[string]string{
		" \t":                    "blank",
		"a\x00b":                 "control character",
		"\xff":                   "UTF-8",
		strings.Repeat("n", 256): "at most 255",
	} {
		refuse(t, filepath.Join(t.TempDir(), "new"), &badgerfs.Options{Namespace: name}, fs.ErrInvalid, text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := filepath.Join(t.TempDir(), "new")
	if _, err := badgerfs.Open(ctx, dir, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Open under an ended context: %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it made the directory: %v", err)
	}
}
