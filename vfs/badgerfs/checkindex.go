package badgerfs

import (
	"errors"
	"fmt"
	"iter"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// ErrIndex is matched by a Problem of Check that concerns an index of searches. No
// file is harmed by it, and searches are right without the index.
var ErrIndex = errors.New("the search index cannot be used")

func (c *check) indexProblem(path string, why error) {
	c.report(Problem{File: filepath.Join(indexDir, filepath.Base(path)), Err: fmt.Errorf("%w: %v, so searches read every file until Compact or a search in a store open for writing has made it anew", ErrIndex, why)})
}

// indexes reads every index of searches in full, and compares it with the files.
func (c *check) indexes() error {
	err := surveyIndexes(c.st.dir, func(path string, m *manifest, err error) {
		if err == nil {
			c.st.mu.Lock()
			k := c.st.disk[m.Namespace]
			c.st.mu.Unlock()
			if k == nil || !k.published.Load() {
				err = errOtherIndex
			}
		}
		if err != nil {
			c.indexProblem(path, err)
		}
	})
	if err != nil {
		return err
	}
	c.st.mu.Lock()
	var all []*space
	for name, k := range c.st.disk {
		if k.published.Load() {
			all = append(all, c.st.space(name))
		}
	}
	c.st.mu.Unlock()
	for _, sp := range all {
		if err := c.index(sp); err != nil {
			return err
		}
	}
	return nil
}

func (c *check) index(sp *space) error {
	err := sp.index.Open(c.ctx)
	if err == nil {
		err = sp.index.Verify(c.ctx)
	}
	apart, first := 0, ""
	if err == nil {
		_, err = sp.index.Compare(c.ctx, c.infos(sp), func(path string) {
			if apart++; apart == 1 {
				first = path
			}
		})
	}
	if ended := c.ctx.Err(); ended != nil {
		return ended
	}
	if err == nil && apart > 0 {
		err = fmt.Errorf("it does not know %d files as they are, such as %s", apart, first)
	}
	if err != nil {
		c.indexProblem(sp.disk.path(sp.disk.stem+manifestExt), err)
	}
	return nil
}

// infos yields the metadata of a namespace that can be read.
func (c *check) infos(sp *space) iter.Seq2[vfs.Info, error] {
	return func(yield func(vfs.Info, error) bool) {
		s := &FS{st: c.st, space: sp}
		err := c.st.read(func(txn *badger.Txn) error {
			it := txn.NewIterator(badger.IteratorOptions{Prefix: sp.meta})
			defer it.Close()
			for it.Rewind(); it.Valid(); it.Next() {
				rec, err := s.itemRecord(it.Item())
				if err != nil {
					rec = record{} // which is told as a problem of the file
				}
				if !yield(rec.info(vpath.ParseKey(it.Item().Key()[len(sp.meta):])), nil) {
					return nil
				}
			}
			return nil
		})
		if err != nil {
			yield(vfs.Info{}, err)
		}
	}
}
