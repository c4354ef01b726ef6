package backupfile_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/backupfile"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vfstest"
)

// written returns the name of a backup of these files.
func written(t testing.TB, files func(add func(namespace, path, content string))) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "store.backup")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := backupfile.NewWriter(f, "badger:x", time.Date(2026, 7, 8, 0, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	files(func(namespace, path, content string) {
		n++
		info := vfs.Info{Path: path, Revision: vfs.Revision(fmt.Sprintf("%012d", n)), Size: int64(len(content))}
		if err := w.Add(backupfile.Record{Namespace: namespace, File: vfs.File{Info: info, Content: content}}); err != nil {
			t.Fatal(err)
		}
	})
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	return name
}

func open(t testing.TB, name string) *backupfile.Store {
	t.Helper()
	s, err := backupfile.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestStoreIsABackend(t *testing.T) {
	vfstest.TestBackend(t, vfstest.Config{
		BuiltIn:  true,
		ReadOnly: true,
		New: func(t *testing.T, seed map[string]string) vfs.Backend {
			name := written(t, func(add func(namespace, path, content string)) {
				add("other", "/other", "x")
				for path, content := range seed { // in any order
					add("default", path, content)
				}
			})
			return open(t, name).Files("default")
		},
	})
}

// Contents stay in the file: a backup of any size is looked at in little memory.
func TestStoreMemory(t *testing.T) {
	const files, each = 24, 1 << 20
	content := strings.Repeat("0123456789abcde\n", each/16)
	name := written(t, func(add func(namespace, path, content string)) {
		for n := range files {
			add("default", fmt.Sprintf("/f%03d", n), content)
		}
	})
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	s := open(t, name)
	if after := heap(); after > before+files*each/4 {
		t.Errorf("%d bytes of content take %d bytes of memory", files*each, after-before)
	}
	for n := range files {
		f, err := vfs.Read(t.Context(), s.Files("default"), fmt.Sprintf("/f%03d", n))
		if err != nil || f.Content != content {
			t.Fatalf("/f%03d: %d bytes, %v", n, len(f.Content), err)
		}
	}
	runtime.KeepAlive(s)
}

// What is altered while it is open shows, and is never taken for content.
func TestStoreAltered(t *testing.T) {
	name := written(t, func(add func(namespace, path, content string)) { add("default", "/a", "hello") })
	s := open(t, name)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, bytes.Replace(text, []byte("hello"), []byte("hellO"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err := vfs.Read(t.Context(), s.Files("default"), "/a"); err == nil || !strings.Contains(err.Error(), "altered") {
		t.Errorf("read %q, %v", f.Content, err)
	}
	if err := os.Truncate(name, 10); err != nil {
		t.Fatal(err)
	}
	if f, err := vfs.Read(t.Context(), s.Files("default"), "/a"); err == nil {
		t.Errorf("read %q of what was cut off", f.Content)
	}
}

// A backup with two files of one name cannot be looked at: neither of them would be the
// one that is meant. In two namespaces they are two.
func TestStoreRefusesTwins(t *testing.T) {
	for namespace, whole := range map[string]bool{"default": false, "other": true} {
		name := written(t, func(add func(namespace, path, content string)) {
			add("default", "/a", "one")
			add("default", "/b", "")
			add(namespace, "/a", "two")
		})
		s, err := backupfile.Open(name)
		if whole != (err == nil) || !whole && !errors.Is(err, backupfile.ErrFormat) {
			t.Errorf("the other is in %s: %v", namespace, err)
		}
		if err == nil {
			s.Close()
		}
	}
}

// A store shows what Read yields, and refuses what Read refuses.
func FuzzOpen(f *testing.F) {
	f.Add(backup(f))
	f.Add(bytes.ReplaceAll(backup(f), []byte("\n"), []byte("\r\n")))
	f.Add([]byte(`{"format":"goliathfs-backup","version":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		name := filepath.Join(t.TempDir(), "b")
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		var readErr error
		for r, err := range backupfile.Read(bytes.NewReader(data)) {
			readErr = err
			key, _ := json.Marshal([]string{r.Namespace, r.File.Path})
			want[string(key)] = r.File.Content
		}
		s, err := backupfile.Open(name)
		if err != nil {
			return
		}
		defer s.Close()
		if readErr != nil {
			t.Fatalf("it was opened, and cannot be read: %v", readErr)
		}
		names, err := s.Namespaces(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, namespace := range names {
			files := s.Files(namespace)
			left, err := files.Unlisted(t.Context(), "/")
			if err != nil {
				t.Fatal(err)
			}
			for _, entry := range left {
				key, _ := json.Marshal([]string{namespace, entry.Path})
				if _, ok := want[string(key)]; !ok {
					t.Fatalf("%q is told of and not there", entry.Path)
				}
			}
			page, err := vfs.List(t.Context(), files, "/", vfs.ListOptions{Limit: 256})
			if err != nil {
				t.Fatal(err)
			}
			for _, info := range page.Files {
				got, err := vfs.Read(t.Context(), files, info.Path)
				key, _ := json.Marshal([]string{namespace, info.Path})
				if err != nil || got.Content != want[string(key)] {
					t.Fatalf("%s: %q, %v, want %q", info.Path, got.Content, err, want[string(key)])
				}
			}
		}
	})
}
