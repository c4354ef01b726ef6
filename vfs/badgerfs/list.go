package badgerfs

import (
	"bytes"
	"context"
	"errors"

	"github.com/dgraph-io/badger/v4"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// List implements vfs.Backend. It reads no contents; a page costs the same
// wherever it lies.
func (s *FS) List(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
	opts, err := opts.Checked()
	if err != nil {
		return vfs.Page{}, err
	}
	if err := vpath.Check(dir); err != nil {
		return vfs.Page{}, err
	}
	if err := s.enter(ctx); err != nil {
		return vfs.Page{}, err
	}
	defer s.leave()
	var page vfs.Page
	err = s.st.read(func(txn *badger.Txn) (err error) {
		page, err = s.page(txn, dir, opts)
		return err
	})
	return page, err
}

func (s *FS) page(txn *badger.Txn, dir string, opts vfs.ListOptions) (vfs.Page, error) {
	var page vfs.Page
	below := "/"
	if dir != "/" {
		below = dir + "/"
		if vpath.Compare(opts.After, dir) < 0 { // siblings such as dir + "-x" sort between it and its children
			rec, err := s.st.getRecord(txn, s.space, dir)
			if err == nil {
				page.Files = append(page.Files, rec.info(dir))
			} else if !errors.Is(err, vfs.ErrNotFound) {
				return vfs.Page{}, err
			}
		}
	}
	prefix := pathKey(s.space.meta, below)
	from, after := prefix, pathKey(s.space.meta, opts.After)
	if bytes.Compare(after, from) > 0 {
		from = after
	}
	it := txn.NewIterator(badger.IteratorOptions{Prefix: prefix})
	defer it.Close()
	for it.Seek(from); it.Valid(); it.Next() { // Valid ends at the prefix
		key := it.Item().Key()
		if bytes.Equal(key, after) {
			continue
		}
		if len(page.Files) == opts.Limit {
			page.Next = page.Files[opts.Limit-1].Path
			break
		}
		rec, err := s.itemRecord(it.Item())
		if err != nil {
			return vfs.Page{}, err
		}
		page.Files = append(page.Files, rec.info(vpath.ParseKey(key[len(s.space.meta):])))
	}
	return page, nil
}

// itemRecord decodes a metadata item of this namespace.
func (s *FS) itemRecord(item *badger.Item) (rec record, err error) {
	err = item.Value(func(v []byte) error {
		rec, err = decodeRecord(item.Key(), v)
		return err
	})
	if errors.Is(err, errRecord) {
		err = damagedFile(s.space.name, vpath.ParseKey(item.Key()[len(s.space.meta):]), err.Error())
	}
	return rec, err
}
