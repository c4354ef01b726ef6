package badgerfs

import (
	"context"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/goliathfs/goliathfs/vfs"
)

// What the fuzz targets of the external tests need of the encodings.

// EncodeRecord returns the metadata of content as it is stored under key.
func EncodeRecord(key, content []byte, rev vfs.Revision, mod time.Time) []byte {
	rec := describe(content)
	rec.revision, rec.modTime = rev, mod
	return rec.encode(key)
}

// DecodeRecord returns what EncodeRecord encoded, and whether content fits it.
func DecodeRecord(key, value, content []byte) (info vfs.Info, holds bool, err error) {
	rec, err := decodeRecord(key, value)
	return rec.info(""), err == nil && rec.holds(content), err
}

// Key returns the metadata key of a path, and ParseKey takes it apart.
func Key(namespace, path string) []byte {
	return pathKey(namespacePrefix(kindMeta, namespace), path)
}

func ParseKey(key []byte) (namespace, path string, ok bool) { return parseKey(key) }

// AwaitIndex returns when nothing is being done for the index of searches in the
// background.
func (s *FS) AwaitIndex() { s.space.index.Wait() }

// ForgetIndexed makes the database look as if a program had changed it last that
// knows nothing of indexes.
func (s *FS) ForgetIndexed() error {
	return s.st.db.Update(func(txn *badger.Txn) error { return txn.Delete(indexedKey) })
}

// DirtyKeys returns how many files have a dirty key.
func (s *FS) DirtyKeys() (int, error) {
	paths, err := s.space.disk.noted(context.Background(), nil, 0)
	return len(paths), err
}

// Spoil puts another content under a file's key than its metadata describes.
func (s *FS) Spoil(path string) error {
	return s.st.db.Update(func(txn *badger.Txn) error {
		return txn.Set(pathKey(s.space.content, path), []byte("spoilt"))
	})
}
