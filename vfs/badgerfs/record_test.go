package badgerfs_test

import (
	"errors"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/vfs/badgerfs"
)

// The metadata of one file is damaged under the key of another one: of another path, and
// of the same path in another namespace.
func TestRecordBelongsToItsKey(t *testing.T) {
	key, content := badgerfs.Key("default", "/a"), []byte("text")
	value := badgerfs.EncodeRecord(key, content, "r1", time.UnixMilli(1))
	if info, holds, err := badgerfs.DecodeRecord(key, value, content); err != nil || !holds || info.Revision != "r1" {
		t.Errorf("under its own key: %+v, %v, %v", info, holds, err)
	}
	for _, other := range [][]byte{badgerfs.Key("default", "/b"), badgerfs.Key("other", "/a")} {
		if info, _, err := badgerfs.DecodeRecord(other, value, content); err == nil {
			t.Errorf("under the key %q it is %+v", other, info)
		}
	}
}

// A file whose content is damaged can be replaced, and watchers are asked to look, for
// what was there cannot be told.
func TestDamagedContentIsReplaced(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	rev := write(t, s, "/a", "text")
	told := watching(t, s)
	if err := s.Spoil("/a"); err != nil {
		t.Fatal(err)
	}
	if f, err := s.Read(t.Context(), "/a"); !errors.Is(err, badgerfs.ErrDamaged) {
		t.Errorf("the damaged file is read: %+v, %v", f, err)
	}
	if _, err := s.Write(t.Context(), "/a", "new", rev); err != nil {
		t.Fatal(err)
	}
	if e := <-told; !e.Overflow || e.Old != nil {
		t.Errorf("told %+v, want an overflow", e)
	}
	if f, err := s.Read(t.Context(), "/a"); err != nil || f.Content != "new" {
		t.Errorf("replaced it is %+v, %v", f, err)
	}
}
