package badgerfs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/badgerfs/internal/layout"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Problem is something that Check found wrong.
type Problem struct {
	// File is the host file concerned, relative to the store's directory; "" when
	// a virtual file is.
	File string
	// Namespace and Path are the virtual file concerned.
	Namespace, Path string
	// Err says what is wrong, in one sentence.
	Err error
}

// Checked says how much Check read.
type Checked struct {
	Namespaces, Files int
	Bytes             int64 // of contents
}

// Check reads the whole database, all namespaces, and calls report for each
// problem: tables and value logs whose checksums do not match, metadata that
// cannot be read, paths no file may have, revisions that two files of a namespace
// share, contents that are missing, altered or belong to no file. It changes
// nothing, and keeps the revisions of one namespace in memory meanwhile. Its own error means that it could not
// go on. Compact waits for it.
func (s *FS) Check(ctx context.Context, report func(Problem)) (Checked, error) {
	if err := s.enter(ctx); err != nil {
		return Checked{}, err
	}
	defer s.leave()
	if err := acquire(ctx, s.st.upkeep); err != nil {
		return Checked{}, err
	}
	defer func() { <-s.st.upkeep }()
	if report == nil {
		report = func(Problem) {}
	}
	c := &check{st: s.st, ctx: ctx, report: report, spaces: map[string]*space{}}
	for _, step := range []func() error{c.tables, c.valueLogs, c.files, c.strays, c.indexes} {
		if err := step(); err != nil {
			return c.Checked, fmt.Errorf("check %s: %w", s.st.home.Name, err)
		}
	}
	return c.Checked, nil
}

// check is one run of Check.
type check struct {
	Checked
	st     *store
	ctx    context.Context // of this one call
	report func(Problem)
	spaces map[string]*space
}

func (c *check) hostFile(name string, err error) {
	c.report(Problem{File: filepath.Join(layout.BadgerDir, name), Err: fmt.Errorf("%w: %v, so restore a backup", ErrDamaged, err)})
}

// tables reads every table in full.
func (c *check) tables() error {
	for _, t := range c.st.db.Tables() {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		name := layout.TableName(t.ID)
		tm := badger.TableManifest{Level: uint8(t.Level)}
		_, err := layout.CheckTable(filepath.Join(c.st.dir, layout.BadgerDir, name), t.ID, tm, true)
		if err != nil && !c.gone(name) {
			c.hostFile(name, err)
		}
	}
	return nil
}

// gone reports whether Badger has removed a file since it was listed.
func (c *check) gone(name string) bool {
	_, err := os.Lstat(filepath.Join(c.st.dir, layout.BadgerDir, name))
	return errors.Is(err, fs.ErrNotExist)
}

// valueLogs reads every value log that is no longer written to.
func (c *check) valueLogs() error {
	sizes, err := layout.List(c.st.dir)
	if err != nil {
		return err
	}
	newest := c.st.files.NewestLog()
	for name, size := range sizes {
		if filepath.Ext(name) != layout.ValueExt || layout.FileNumber(name) >= newest || size <= layout.LogHeader {
			continue
		}
		if err := c.ctx.Err(); err != nil {
			return err
		}
		end, err := layout.ReadLog(filepath.Join(c.st.dir, layout.BadgerDir, name))
		if err == nil && end < size {
			err = fmt.Errorf("nothing can be read from byte %d of %d", end, size)
		}
		if err != nil && !c.gone(name) {
			c.hostFile(name, err)
		}
	}
	return nil
}

// files reads every file of every namespace.
func (c *check) files() error {
	var last *space
	var owners map[vfs.Revision]string // to the first path that has it, in last
	return c.walk(kindMeta, func(txn *badger.Txn, contents *walker, sp *space, path string) {
		c.Files++
		if err := vpath.CheckFile(path); err != nil {
			c.report(Problem{Namespace: sp.name, Path: path, Err: err})
		}
		var content string
		err := layout.Guard(func() error {
			rec, err := c.st.getRecord(txn, sp, path)
			if err != nil {
				return err
			}
			if sp != last { // keys come namespace by namespace
				last, owners = sp, map[vfs.Revision]string{}
			}
			if other, taken := owners[rec.revision]; taken {
				c.report(Problem{Namespace: sp.name, Path: path, Err: fmt.Errorf("%w: %s is that of %s, too, and an edit of one could pass for the other, so write this one again", ErrSharedRevision, rec.revision, other)})
			} else {
				owners[rec.revision] = path
			}
			content, err = c.st.walkContent(txn, contents, sp, path, rec)
			return err
		})
		if err != nil {
			c.report(Problem{Namespace: sp.name, Path: path, Err: err})
		}
		c.Bytes += int64(len(content))
	})
}

// strays looks for contents without a file.
func (c *check) strays() error {
	return c.walk(kindContent, func(txn *badger.Txn, _ *walker, sp *space, path string) {
		if _, err := c.st.getRecord(txn, sp, path); errors.Is(err, vfs.ErrNotFound) {
			c.report(Problem{Namespace: sp.name, Path: path, Err: damagedFile(sp.name, path, "its metadata is missing")})
		}
	})
}

// walk calls fn for every key of a kind.
func (c *check) walk(kind byte, fn func(txn *badger.Txn, contents *walker, sp *space, path string)) error {
	return c.st.read(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte{kind}})
		defer it.Close()
		contents := newWalker(txn, []byte{kindContent})
		defer contents.it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			if err := c.ctx.Err(); err != nil {
				return err
			}
			name, path, ok := parseKey(it.Item().Key())
			if !ok {
				c.report(Problem{Err: fmt.Errorf("%w: the key %q belongs to no file, so restore a backup", ErrDamaged, it.Item().Key())})
				continue
			}
			fn(txn, contents, c.space(name), path)
		}
		return nil
	})
}

// space returns what is needed to look into a namespace, counting new ones.
func (c *check) space(name string) *space {
	sp := c.spaces[name]
	if sp == nil {
		sp = newSpace(name)
		c.spaces[name] = sp
		c.Namespaces++
	}
	return sp
}
