package badgerfs_test

import (
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
