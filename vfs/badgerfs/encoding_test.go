package badgerfs_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/badgerfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// FuzzKey requires keys to sort as paths do, and to come back.
func FuzzKey(f *testing.F) {
	f.Add("a", "/x", "/y")
	f.Add("ns", "/\U0001F600", "/\uE000")
	f.Add("", "/a-b/y", "/a/x")
	f.Fuzz(func(t *testing.T, namespace, one, two string) {
		if len(namespace) > 255 {
			t.Skip("no namespace is that long")
		}
		a, b := badgerfs.Key(namespace, one), badgerfs.Key(namespace, two)
		if got, want := sign(bytes.Compare(a, b)), sign(vpath.Compare(one, two)); got != want {
			t.Errorf("keys of %q and %q compare as %d, the paths as %d", one, two, got, want)
		}
		if ns, path, ok := badgerfs.ParseKey(a); !ok || ns != namespace || path != one {
			t.Errorf("ParseKey = %q, %q, %v, want %q, %q", ns, path, ok, namespace, one)
		}
		badgerfs.ParseKey([]byte(one)) // must not panic
	})
}

func sign(n int) int { return max(-1, min(n, 1)) }

// FuzzRecord requires metadata to come back, and altered metadata to be noticed.
func FuzzRecord(f *testing.F) {
	f.Add([]byte("m\x01a/x"), []byte("content"), "rev", int64(1), 3, byte(1))
	f.Add([]byte{}, []byte{}, "r", int64(0), 0, byte(0x80))
	f.Fuzz(func(t *testing.T, key, content []byte, rev string, ms int64, at int, flip byte) {
		if rev == "" {
			t.Skip("no file has an empty revision")
		}
		mod := time.UnixMilli(ms)
		value := badgerfs.EncodeRecord(key, content, vfs.Revision(rev), mod)
		info, holds, err := badgerfs.DecodeRecord(key, value, content)
		if ms == 0 {
			mod = time.Time{}
		}
		if err != nil || !holds || string(info.Revision) != rev || !info.ModTime.Equal(mod) || info.Size != int64(len(content)) {
			t.Errorf("decoded %+v, %v, %v", info, holds, err)
		}
		if _, holds, _ := badgerfs.DecodeRecord(key, value, append(content, '!')); holds {
			t.Error("longer content was taken for it")
		}
		if flip != 0 && at >= 0 {
			value[at%len(value)] ^= flip
			if _, _, err := badgerfs.DecodeRecord(key, value, content); err == nil {
				t.Errorf("flipping byte %d of the record was not noticed", at%len(value))
			}
		}
		badgerfs.DecodeRecord(key, content, content) // must not panic
	})
}
