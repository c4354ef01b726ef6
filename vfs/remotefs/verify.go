package remotefs

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// What follows is the one place that judges what an agent sends, be it broken or
// hostile: what passes is what vfs.Backend promises. Each error is the end of the
// sentence that session.wrong begins.

// The bounds of what an agent says of a file.
const (
	maxRevision = 1 << 10 // bytes
	maxSize     = 1 << 40 // bytes, of a file that may be too large to be read
	maxBound    = 8 << 10 // bytes of the place where a search goes on
)

// verify returns what is wrong with the answer to r.
func (r request) verify(res result) error {
	switch r.op {
	case opRead:
		return r.verifyFile(res.file)
	case opReadBatch:
		return r.verifyBatch(res.batch)
	case opStat, opWrite:
		return r.verifyInfo(res.file.Info)
	case opList, opSearch:
		return r.verifyPage(res.page)
	case opRoute:
		return r.verifyRoute(res.prefix)
	}
	return nil
}

// verifyFile judges a file that was read.
func (r request) verifyFile(f vfs.File) error {
	switch {
	case f.Size >= 0 && f.Size != int64(len(f.Content)):
		return fmt.Errorf("a file of %d bytes that has %d", f.Size, len(f.Content))
	case !utf8.ValidString(f.Content):
		return errors.New("a content that is no text")
	}
	return r.verifyInfo(f.Info)
}

func (r request) verifyInfo(info vfs.Info) error {
	if info.Path != r.path {
		return fmt.Errorf("the file %.80q in place of %.80q", info.Path, r.path)
	}
	return verifyVersion(info)
}

// verifyVersion judges what is said of a file that exists, but for its path.
func verifyVersion(info vfs.Info) error {
	switch {
	case info.Revision == "" || len(info.Revision) > maxRevision || !utf8.ValidString(string(info.Revision)):
		return fmt.Errorf("the revision %.80q", info.Revision)
	case info.Size < -1 || info.Size > maxSize:
		return fmt.Errorf("a file of %d bytes", info.Size)
	case info.ModTime.Year() < 0 || info.ModTime.Year() > 9999:
		return fmt.Errorf("a file of the year %d", info.ModTime.Year())
	}
	return nil
}

// verifyPage judges a page: its files are in the directory, each after the one
// before it, and the next page comes after this one.
func (r request) verifyPage(page vfs.Page) error {
	if int64(len(page.Files)) > r.limit {
		return fmt.Errorf("%d files where %d were asked for", len(page.Files), r.limit)
	}
	last := r.after
	for _, info := range page.Files {
		if err := vpath.CheckFile(info.Path); err != nil {
			return fmt.Errorf("the path %.80q (%v)", info.Path, err)
		}
		if !vpath.Within(info.Path, r.path) {
			return fmt.Errorf("the file %.80q in the directory %.80q", info.Path, r.path)
		}
		if vpath.Compare(info.Path, last) <= 0 {
			return fmt.Errorf("the file %.80q after %.80q", info.Path, last)
		}
		if err := verifyVersion(info); err != nil {
			return err
		}
		last = info.Path
	}
	return r.verifyNext(page.Next, last, len(page.Files))
}

// verifyNext judges where the next page begins, after a page of n files whose last
// one is last.
func (r request) verifyNext(next, last string, n int) error {
	switch {
	case next == "":
	case r.op == opList && (n == 0 || next != last):
		return fmt.Errorf("a list that goes on after %.80q where it came to %.80q", next, last)
	case len(next) > maxBound || !utf8.ValidString(next) || !vpath.Within(next, r.path) ||
		vpath.Compare(next, last) < 0 || vpath.Compare(next, r.after) <= 0:
		return fmt.Errorf("a search of %.80q that goes on after %.80q where it came to %.80q", r.path, next, last)
	}
	return nil
}

func (r request) verifyRoute(prefix string) error {
	if vpath.Check(prefix) != nil || !vpath.Within(r.path, prefix) {
		return fmt.Errorf("the route %.80q of %.80q", prefix, r.path)
	}
	return nil
}

// verifyEvent returns what is wrong with an event of a watch of dir.
func verifyEvent(dir string, e vfs.Event) error {
	switch {
	case e.Overflow && e.Path == dir && e.Old == nil:
		return nil
	case e.Overflow || vpath.CheckFile(e.Path) != nil || !vpath.Within(e.Path, dir) ||
		e.Info.Revision != "" && e.Info.Path != e.Path:
		return fmt.Errorf("a change of %.80q to the watch of %.80q", e.Path, dir)
	case e.Info.Revision != "":
		if err := verifyVersion(e.Info); err != nil {
			return err
		}
	}
	if e.Old == nil {
		return nil
	}
	return request{path: e.Path}.verifyFile(*e.Old)
}
