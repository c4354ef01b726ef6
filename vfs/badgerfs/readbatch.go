package badgerfs

import (
	"bytes"
	"context"

	"github.com/dgraph-io/badger/v4"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/batchread"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// ReadBatch implements vfs.BatchReader, by one pass over the keys: it is quick for
// paths that lie near each other, in order.
func (s *FS) ReadBatch(ctx context.Context, paths []string) ([]vfs.ReadResult, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	paths = paths[:min(len(paths), batchread.MaxFiles)]
	if len(paths) == 0 {
		return nil, nil
	}
	results := make([]vfs.ReadResult, 0, len(paths))
	err := s.st.read(func(txn *badger.Txn) (err error) {
		results, err = s.pass(ctx, txn, paths, results)
		return err
	})
	if ended := ctx.Err(); ended != nil && err != nil {
		return nil, ended
	}
	if err != nil { // a table or log is damaged: one by one it shows whose file that is
		f, err := s.readPath(paths[0])
		return []vfs.ReadResult{{File: f, Err: err}}, nil
	}
	for i := range results {
		// Compact may have moved a content between looking up its place and reading it,
		// and an iterator passes over what it cannot read: looking itself tells.
		if results[i].Err != nil {
			results[i].File, results[i].Err = s.readPath(paths[i])
		}
	}
	return results, nil
}

// readPath is readFile for a path that may be none.
func (s *FS) readPath(path string) (vfs.File, error) {
	if err := vpath.CheckFile(path); err != nil {
		return vfs.File{}, err
	}
	return s.readFile(path)
}

// pass reads a beginning of paths by walking over metadata and contents together.
func (s *FS) pass(ctx context.Context, txn *badger.Txn, paths []string, results []vfs.ReadResult) ([]vfs.ReadResult, error) {
	metas := newWalker(txn, s.space.meta)
	defer metas.it.Close()
	contents := newWalker(txn, s.space.content)
	defer contents.it.Close()
	total := 0
	for i, path := range paths {
		if i%64 == 63 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var r vfs.ReadResult
		if r.Err = vpath.CheckFile(path); r.Err == nil {
			r.File, r.Err = s.passFile(txn, metas, contents, path)
		}
		results = append(results, r)
		if total += len(r.File.Content); total >= batchread.MaxBytes {
			break
		}
	}
	return results, nil
}

func (s *FS) passFile(txn *badger.Txn, metas, contents *walker, path string) (vfs.File, error) {
	if !metas.find(pathKey(s.space.meta, path)) {
		return vfs.File{}, vfs.ErrNotFound
	}
	rec, err := s.itemRecord(metas.it.Item())
	if err != nil {
		return vfs.File{}, err
	}
	content, err := s.st.walkContent(txn, contents, s.space, path, rec)
	if err != nil {
		return vfs.File{}, err
	}
	return vfs.File{Info: rec.info(path), Content: content}, nil
}

// walkContent is getContent by an iterator that comes by. Where that does not find the
// content, looking itself tells why.
func (st *store) walkContent(txn *badger.Txn, contents *walker, sp *space, path string, rec record) (content string, err error) {
	held := false
	if contents.find(pathKey(sp.content, path)) {
		err = contents.it.Item().Value(func(v []byte) error {
			if held = rec.holds(v); held {
				content = string(v)
			}
			return nil
		})
	}
	if err != nil || !held {
		return st.getContent(txn, sp, path, rec)
	}
	return content, nil
}

// walker is an iterator that is moved to one key after another.
type walker struct {
	it  *badger.Iterator
	key []byte // where it stands; nil before the first move
}

func newWalker(txn *badger.Txn, prefix []byte) *walker {
	return &walker{it: txn.NewIterator(badger.IteratorOptions{Prefix: prefix})}
}

// steps is how many keys are walked over rather than sought past.
const steps = 4

// find moves to a key and reports whether it is there.
func (w *walker) find(key []byte) bool {
	if w.key == nil || bytes.Compare(key, w.key) < 0 {
		w.it.Seek(key)
		return w.stands(key)
	}
	for range steps {
		if !w.it.Valid() || bytes.Compare(w.it.Item().Key(), key) >= 0 {
			return w.stands(key)
		}
		w.it.Next()
	}
	if w.it.Valid() && bytes.Compare(w.it.Item().Key(), key) < 0 {
		w.it.Seek(key)
	}
	return w.stands(key)
}

// stands notes that every key before this one is behind, and reports whether the
// iterator is at it.
func (w *walker) stands(key []byte) bool {
	w.key = key
	return w.it.Valid() && bytes.Equal(w.it.Item().Key(), key)
}
