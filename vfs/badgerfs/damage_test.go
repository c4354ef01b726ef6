package badgerfs_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/badgerfs"
)

// sample has contents that lie in tables and contents that fill two value logs.
func sample() map[string]string {
	files := map[string]string{}
	for n := range 22 {
		files[fmt.Sprintf("/small/%d", n)] = body("/small", 5*n+1)
		files[fmt.Sprintf("/large/%d", n)] = strings.Repeat(fmt.Sprintf("large %d\n", n), 1<<17)[:1<<20]
	}
	return files
}

// victim is a store that a case damages.
type victim struct {
	t   *testing.T
	dir string
}

func (v victim) path(name string) string { return filepath.Join(v.dir, name) }

// last returns the newest of Badger's files with an extension.
func (v victim) last(ext string) string { return v.numbered(ext, -1) }

// first returns the oldest.
func (v victim) first(ext string) string { return v.numbered(ext, 0) }

func (v victim) numbered(ext string, i int) string {
	v.t.Helper()
	names, err := filepath.Glob(v.path("badger/*" + ext))
	if err != nil || len(names) == 0 {
		v.t.Fatalf("no file %s: %v", ext, err)
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(filepath.Base(a), filepath.Base(b)) })
	return names[(i+len(names))%len(names)]
}

func (v victim) must(err error) {
	v.t.Helper()
	if err != nil {
		v.t.Fatal(err)
	}
}

func (v victim) remove(path string) { v.t.Helper(); v.must(os.Remove(path)) }

func (v victim) write(path, text string) {
	v.t.Helper()
	v.must(os.WriteFile(path, []byte(text), 0o600))
}

// resize makes a file longer, with zeros, or shorter.
func (v victim) resize(path string, by int64) {
	v.t.Helper()
	info, err := os.Stat(path)
	v.must(err)
	v.must(os.Truncate(path, info.Size()+by))
}

// flip inverts the byte at a share of the file's length, or of its data before
// the zeros at the end.
func (v victim) flip(path string, share float64) {
	v.t.Helper()
	text, err := os.ReadFile(path)
	v.must(err)
	at := int(float64(len(bytes.TrimRight(text, "\x00"))-1) * share)
	text[at] ^= 0xff
	v.must(os.WriteFile(path, text, 0o600))
}

// cutData truncates a file to a share of its data before the zeros at the end.
func (v victim) cutData(path string, share float64) {
	v.t.Helper()
	text, err := os.ReadFile(path)
	v.must(err)
	v.must(os.Truncate(path, int64(float64(len(bytes.TrimRight(text, "\x00")))*share)))
}

// verdict is how a damaged store must behave.
type verdict int

const (
	fine    verdict = iota // everything is there
	refused                // Open fails and changes nothing
	partly                 // Open succeeds, some reads are refused, Check says why
)

type damageCase struct {
	name   string
	damage func(v victim)
	want   verdict
	err    error
	text   string // in the error of Open
}

var closedCases = []damageCase{
	{"nothing", func(v victim) {}, fine, nil, ""},
	{"vlog cut by 1", func(v victim) { v.resize(v.last(".vlog"), -1) }, refused, badgerfs.ErrDamaged, ".vlog"},
	{"vlog cut by 64", func(v victim) { v.resize(v.last(".vlog"), -64) }, refused, badgerfs.ErrDamaged, ".vlog"},
	{"vlog empty", func(v victim) { v.write(v.first(".vlog"), "") }, refused, badgerfs.ErrDamaged, ".vlog"},
	{"vlog missing", func(v victim) { v.remove(v.first(".vlog")) }, refused, badgerfs.ErrDamaged, ".vlog"},
	{"vlog with zeros after it", func(v victim) { v.resize(v.last(".vlog"), 64) }, fine, nil, ""},
	{"vlog flipped", func(v victim) { v.flip(v.first(".vlog"), 0.3) }, partly, nil, ""},
	{"table missing", func(v victim) { v.remove(v.first(".sst")) }, refused, badgerfs.ErrDamaged, ".sst"},
	{"table empty", func(v victim) { v.write(v.first(".sst"), "") }, refused, badgerfs.ErrDamaged, ".sst"},
	{"table cut by 1", func(v victim) { v.resize(v.first(".sst"), -1) }, refused, badgerfs.ErrDamaged, ".sst"},
	{"table cut by half", func(v victim) { v.resize(v.first(".sst"), -5_000) }, refused, badgerfs.ErrDamaged, ".sst"},
	{"table with zeros after it", func(v victim) { v.resize(v.first(".sst"), 64) }, refused, badgerfs.ErrDamaged, ".sst"},
	{"table flipped at the start", func(v victim) { v.flip(v.first(".sst"), 0) }, refused, badgerfs.ErrDamaged, ".sst"},
	{"table flipped in the middle", func(v victim) { v.flip(v.first(".sst"), 0.5) }, refused, badgerfs.ErrDamaged, ".sst"},
	{"table flipped at the end", func(v victim) { v.flip(v.first(".sst"), 1) }, refused, badgerfs.ErrDamaged, ".sst"},
	{"table that nobody knows", func(v victim) { v.write(v.path("badger/000099.sst"), "table") }, refused, badgerfs.ErrDamaged, "000099.sst"},
	{"memtable that nobody knows", func(v victim) { v.write(v.path("badger/00099.mem"), "memtable") }, refused, badgerfs.ErrDamaged, "00099.mem"},
	{"manifest missing", func(v victim) { v.remove(v.path("badger/MANIFEST")) }, refused, badgerfs.ErrDamaged, "MANIFEST"},
	{"manifest empty", func(v victim) { v.write(v.path("badger/MANIFEST"), "") }, refused, badgerfs.ErrDamaged, "MANIFEST"},
	{"manifest cut by 1", func(v victim) { v.resize(v.path("badger/MANIFEST"), -1) }, refused, badgerfs.ErrDamaged, "MANIFEST"},
	{"manifest cut to its head", func(v victim) { v.must(os.Truncate(v.path("badger/MANIFEST"), 8)) }, refused, badgerfs.ErrDamaged, ""},
	{"manifest cut after an entry", func(v victim) { v.must(os.Truncate(v.path("badger/MANIFEST"), 16)) }, refused, badgerfs.ErrDamaged, "MANIFEST"},
	{"manifest flipped", func(v victim) { v.flip(v.path("badger/MANIFEST"), 0.9) }, refused, badgerfs.ErrDamaged, "MANIFEST"},
	{"manifest of version 9", bumpManifest, refused, badgerfs.ErrFormat, "version 0.9"},
	{"manifest of something else", func(v victim) { v.write(v.path("badger/MANIFEST"), "apiVersion: v1\nkind: Pod\n") }, refused, badgerfs.ErrDamaged, "MANIFEST"},
	{"keys missing", func(v victim) { v.remove(v.path("badger/KEYREGISTRY")) }, refused, badgerfs.ErrDamaged, "KEYREGISTRY"},
	{"keys cut", func(v victim) { v.resize(v.path("badger/KEYREGISTRY"), -1) }, refused, badgerfs.ErrDamaged, "KEYREGISTRY"},
	{"statistics missing", func(v victim) { v.remove(v.path("badger/DISCARD")) }, fine, nil, ""},
	{"statistics cut", func(v victim) { v.must(os.Truncate(v.path("badger/DISCARD"), 7)) }, fine, nil, ""},
	{"database missing", func(v victim) { v.must(os.RemoveAll(v.path("badger"))) }, refused, badgerfs.ErrDamaged, "badger"},
	{"database emptied", func(v victim) { v.must(os.RemoveAll(v.path("badger"))); v.must(os.Mkdir(v.path("badger"), 0o700)) }, refused, badgerfs.ErrDamaged, "MANIFEST"},
	{"database of another store", otherDatabase, refused, badgerfs.ErrDamaged, ""},
	{"stranger in the database", func(v victim) { v.write(v.path("badger/notes.txt"), "mine") }, refused, badgerfs.ErrForeign, "notes.txt"},
	{"label missing", func(v victim) { v.remove(v.path("goliathfs.json")) }, refused, badgerfs.ErrDamaged, "goliathfs.json"},
	{"label unreadable", func(v victim) { v.write(v.path("goliathfs.json"), "{") }, refused, badgerfs.ErrDamaged, "goliathfs.json"},
	{"label without a state", func(v victim) {
		v.write(v.path("goliathfs.json"), `{"format":"goliathfs-badger","version":1}`)
	}, refused, badgerfs.ErrDamaged, "goliathfs.json"},
	{"label of a store in the making", func(v victim) {
		v.write(v.path("goliathfs.json"), `{"format":"goliathfs-badger","version":1,"state":"making"}`)
	}, refused, badgerfs.ErrDamaged, "goliathfs.json"},
	{"label of version 2", func(v victim) {
		v.write(v.path("goliathfs.json"), `{"format":"goliathfs-badger","version":2,"state":"ready"}`)
	}, refused, badgerfs.ErrFormat, "version 2"},
	{"label of another format", func(v victim) { v.write(v.path("goliathfs.json"), `{"format":"other","version":1}`) }, refused, badgerfs.ErrForeign, "other"},
	{"count missing", func(v victim) { v.remove(v.path("commits")) }, refused, badgerfs.ErrDamaged, "commits"},
	{"count unreadable", func(v victim) { v.write(v.path("commits"), "many\n") }, refused, badgerfs.ErrDamaged, "commits"},
	{"inventory missing", func(v victim) { v.remove(v.path("files.json")) }, refused, badgerfs.ErrDamaged, "files.json"},
	{"inventory unreadable", func(v victim) { v.write(v.path("files.json"), "[]") }, refused, badgerfs.ErrDamaged, "files.json"},
}

// bumpManifest does what the next version of Badger might do.
func bumpManifest(v victim) {
	text, err := os.ReadFile(v.path("badger/MANIFEST"))
	v.must(err)
	binary.BigEndian.PutUint16(text[6:], 9)
	v.must(os.WriteFile(v.path("badger/MANIFEST"), text, 0o600))
}

// otherDatabase puts the files of a new store in the place of old ones, and makes
// everything fit but the count of commits.
func otherDatabase(v victim) {
	other := v.t.TempDir()
	build(v.t, other, map[string]string{"/a": "another store"})
	for _, name := range []string{"badger", "files.json"} {
		v.must(os.RemoveAll(v.path(name)))
		v.must(os.Rename(filepath.Join(other, name), v.path(name)))
	}
}

// crashedCases damage a store whose process was killed.
var crashedCases = []damageCase{
	{"nothing", func(v victim) {}, fine, nil, ""},
	{"mem cut by 1", func(v victim) { v.resize(v.last(".mem"), -1) }, fine, nil, ""},
	{"mem cut by 64", func(v victim) { v.resize(v.last(".mem"), -64) }, fine, nil, ""},
	{"mem with zeros after it", func(v victim) { v.resize(v.last(".mem"), 64) }, fine, nil, ""},
	{"mem cut in its data", func(v victim) { v.cutData(v.last(".mem"), 0.7) }, refused, badgerfs.ErrDamaged, "acknowledged commits are missing"},
	{"mem flipped", func(v victim) { v.flip(v.last(".mem"), 0.5) }, refused, badgerfs.ErrDamaged, "acknowledged commits are missing"},
	{"mem flipped at the end", func(v victim) { v.flip(v.last(".mem"), 1) }, refused, badgerfs.ErrDamaged, "acknowledged commits are missing"},
	{"mem missing", func(v victim) { v.remove(v.last(".mem")) }, refused, badgerfs.ErrDamaged, "acknowledged commits are missing"},
	{"mem empty", func(v victim) { v.write(v.last(".mem"), "") }, refused, badgerfs.ErrDamaged, "acknowledged commits are missing"},
	{"mem just begun", func(v victim) { v.write(v.path("badger/00099.mem"), "") }, fine, nil, ""},
	{"vlog just begun", func(v victim) { v.write(v.path("badger/000099.vlog"), "") }, fine, nil, ""},
	{"vlog cut by 64", func(v victim) { v.resize(v.last(".vlog"), -64) }, fine, nil, ""},
	{"vlog with zeros after it", func(v victim) { v.resize(v.last(".vlog"), 64) }, fine, nil, ""},
	{"vlog cut in its data", func(v victim) { v.must(os.Truncate(v.last(".vlog"), 3_000_000)) }, partly, nil, ""},
	{"sealed vlog cut", func(v victim) { v.resize(v.numbered(".vlog", -2), -1) }, refused, badgerfs.ErrDamaged, ".vlog"},
	{"sealed vlog missing", func(v victim) { v.remove(v.numbered(".vlog", -2)) }, refused, badgerfs.ErrDamaged, ".vlog"},
	{"table missing", func(v victim) { v.remove(v.first(".sst")) }, refused, badgerfs.ErrDamaged, ".sst"},
	{"table not yet in the manifest", func(v victim) { v.write(v.path("badger/000099.sst"), "half") }, fine, nil, ""},
	{"manifest missing", func(v victim) { v.remove(v.path("badger/MANIFEST")) }, refused, badgerfs.ErrDamaged, "MANIFEST"},
	{"manifest cut after an entry", func(v victim) { v.must(os.Truncate(v.path("badger/MANIFEST"), 16)) }, refused, badgerfs.ErrDamaged, "MANIFEST"},
	{"manifest with half an entry", func(v victim) { v.resize(v.path("badger/MANIFEST"), 5) }, fine, nil, ""},
}

func TestDamageClosed(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	build(t, base, sample())
	runDamage(t, base, closedCases)
}

func TestDamageCrashed(t *testing.T) {
	t.Parallel()
	dir, base := t.TempDir(), t.TempDir()
	files := sample()
	build(t, dir, map[string]string{"/small/0": files["/small/0"]})
	delete(files, "/small/0")
	s := open(t, dir, nil)
	for path, content := range files {
		write(t, s, path, content)
	}
	copyTree(t, dir, base)
	runDamage(t, base, crashedCases)
}

func runDamage(t *testing.T, base string, cases []damageCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v := victim{t, t.TempDir()}
			copyTree(t, base, v.dir)
			c.damage(v)
			if c.want == refused {
				refuse(t, v.dir, nil, c.err, c.text)
				refuse(t, v.dir, &badgerfs.Options{ReadOnly: true}, c.err, c.text)
				return
			}
			s := open(t, v.dir, nil)
			lost := 0
			for path, content := range sample() {
				f, err := s.Read(t.Context(), path)
				switch {
				case err != nil && (c.want == fine || !errors.Is(err, badgerfs.ErrDamaged)):
					t.Errorf("Read %s: %v", path, err)
				case err != nil:
					lost++
				case f.Content != content:
					t.Errorf("Read %s: other content", path)
				}
			}
			if c.want == fine {
				sound(t, s)
				return
			}
			if lost == 0 {
				t.Error("the damage was not noticed")
			}
			checkNames(t, s, lost)
		})
	}
}

// checkNames requires Check to name as many files as cannot be read, and each of
// them to be replaceable.
func checkNames(t *testing.T, s *badgerfs.FS, lost int) {
	t.Helper()
	var named []string
	if _, err := s.Check(t.Context(), func(p badgerfs.Problem) {
		if p.Path != "" {
			named = append(named, p.Path)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if len(named) != lost {
		t.Errorf("Check names %q, want %d files", named, lost)
	}
	for _, path := range named {
		info, err := vfs.Stat(t.Context(), s, path)
		if err == nil {
			_, err = s.Write(t.Context(), path, "restored", info.Revision)
		}
		if err != nil {
			t.Error(err)
		}
	}
}
