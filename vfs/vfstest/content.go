package vfstest

import (
	"context"
	"strings"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
)

var contentRules = []rule{
	{"read/bytes", "a file's content is kept byte for byte", 0, contentBytes},
	{"read/missing", "reading or describing a file that does not exist is ErrNotFound", 0, readMissing},
	{"read/seed-copied", "what the caller does to the seed afterwards changes nothing", 0, seedCopied},
	{"info/agrees", "Read, Stat and List tell the same of a file", 0, infoAgrees},
	{"context/canceled", "a context that has ended stops every operation", 0, contextCanceled},
	{"write/bytes", "a written content is kept byte for byte", writes, writeBytes},
	{"write/limit", "content up to the limit is kept, one byte more is ErrTooLarge and changes nothing", writes, writeLimit},
	{"write/text", "content that is not valid UTF-8 is ErrNotText and changes nothing", writes, writeText},
	{"info/write", "Write tells what Read, Stat and List tell afterwards", writes, infoWrite},
}

// contents are texts that a careless store changes.
var contents = map[string]string{
	"empty": "", "newline": "\n", "no newline": "a", "crlf": "a\r\nb\r\n", "mixed": "a\r\nb\nc\rd", "lone cr": "\r",
	"bom": "\ufeffimport os\n", "nul": "a\x00b\x00", "separators": "a\u2028b\u2029c\u0085d\vf\fg", "controls": "\x01\x02\x1a\x1b\x7f",
	"spaces": "  \t trailing \t \n\n\n", "emoji": "👩‍👩‍👧 \U0010FFFF \uFFFF \uE000", "decomposed": "e\u0301 é", "quotes": `"' \ \n %s ${x}`,
	"long line": strings.Repeat("x", 70_000) + "\nend", "replacement": "\ufffd",
}

func contentBytes(c *checker) {
	seed := map[string]string{}
	for name, content := range contents {
		seed["/"+name] = content
	}
	s := c.open(seed)
	for path, content := range seed {
		f := s.read(path)
		if f.Content != content {
			c.errorf("read %q: content %s, want %s", path, clip(f.Content), clip(content))
		}
		if f.Path != path {
			c.errorf("read %q: path %q", path, f.Path)
		}
	}
}

func readMissing(c *checker) {
	s := c.open(files("/a", "/a/b", "/d/e/f"))
	for _, path := range []string{"/missing", "/b", "/a/b/c", "/d", "/d/e", "/A", "/a0"} {
		_, err := vfs.Read(c.ctx(), s.b, path)
		c.match(err, vfs.ErrNotFound, "read %s", path)
		_, err = vfs.Stat(c.ctx(), s.b, path)
		c.match(err, vfs.ErrNotFound, "stat %s", path)
	}
}

func seedCopied(c *checker) {
	seed := map[string]string{"/a": "first", "/b": "first"}
	for path := range c.fixture.decoys {
		seed[path] = "decoy"
	}
	if c.fixture.seedPrefix != "" {
		seed[c.fixture.seedPrefix+"/a"] = "first"
	}
	raw := c.cfg.New(c.t, seed)
	for path := range seed {
		seed[path] = "changed"
	}
	delete(seed, "/b")
	seed["/new"] = "new"
	s := c.storeOf(raw)
	if f := s.read("/a"); f.Content != "first" {
		c.errorf("read /a: content %q after the seed was changed, want %q", f.Content, "first")
	}
	_, err := vfs.Read(c.ctx(), s.b, "/new")
	c.match(err, vfs.ErrNotFound, "read of a file added to the seed afterwards")
}

// agree records a problem unless two descriptions of one file are the same.
func (s *store) agree(a vfs.Info, from string, b vfs.Info, other string) {
	switch {
	case a.Path != b.Path:
		s.errorf("%s says path %q, %s says %q", from, a.Path, other, b.Path)
	case a.Revision != b.Revision:
		s.errorf("%s: %s says revision %q, %s says %q", a.Path, from, a.Revision, other, b.Revision)
	case a.Size != b.Size && (s.cfg.BuiltIn || a.Size >= 0 && b.Size >= 0):
		s.errorf("%s: %s says size %d, %s says %d", a.Path, from, a.Size, other, b.Size)
	case !a.ModTime.Equal(b.ModTime) && (s.cfg.BuiltIn || !a.ModTime.IsZero() && !b.ModTime.IsZero()):
		s.errorf("%s: %s says time %v, %s says %v", a.Path, from, a.ModTime, other, b.ModTime)
	}
}

// describe checks that all ways to describe the file at path agree, and returns it.
func (s *store) describe(path string) vfs.File {
	f := s.read(path)
	if f.Path != path || f.Revision == "" {
		s.errorf("read %q: path %q, revision %q", path, f.Path, f.Revision)
	}
	if f.Size != int64(len(f.Content)) && (s.cfg.BuiltIn || f.Size != -1) {
		s.errorf("read %q: size %d of %d bytes", path, f.Size, len(f.Content))
	}
	s.agree(f.Info, "Read", s.stat(path), "Stat")
	page := s.list(path, vfs.ListOptions{Limit: 1})
	if len(page.Files) == 0 {
		s.fatalf("list %q: no files", path)
	}
	s.agree(f.Info, "Read", page.Files[0], "List")
	return f
}

func infoAgrees(c *checker) {
	seed := map[string]string{"/a": "", "/a/b": "two", "/c": "😀", "/d": strings.Repeat("x", 5000)}
	s := c.open(seed)
	for path := range seed {
		s.describe(path)
	}
	for _, info := range s.list("/", vfs.ListOptions{}).Files {
		s.agree(info, "List of /", s.stat(info.Path), "Stat")
	}
}

func contextCanceled(c *checker) {
	s := c.open(files("/a"))
	rev := s.stat("/a").Revision
	ended, cancel := context.WithCancel(c.ctx())
	cancel()
	late, cancel2 := context.WithDeadline(c.ctx(), time.Now().Add(-time.Hour))
	defer cancel2()
	for _, end := range []struct {
		ctx  context.Context
		want error
	}{{ended, context.Canceled}, {late, context.DeadlineExceeded}} {
		_, err := s.b.Read(end.ctx, "/a")
		c.match(err, end.want, "Read")
		_, err = s.b.List(end.ctx, "/", vfs.ListOptions{})
		c.match(err, end.want, "List")
		if st, ok := s.b.(vfs.Statter); ok {
			_, err = st.Stat(end.ctx, "/a")
			c.match(err, end.want, "Stat")
		}
		if w, ok := s.w.(vfs.Writer); ok && !c.cfg.ReadOnly {
			_, err = w.Write(end.ctx, "/a", "late", rev)
			c.match(err, end.want, "Write")
		}
		if r, ok := s.w.(vfs.Remover); ok && !c.cfg.ReadOnly && !c.cfg.NoRemove {
			c.match(r.Remove(end.ctx, "/a", rev), end.want, "Remove")
		}
		if w, ok := s.b.(vfs.Watcher); ok && !c.cfg.NoWatch {
			err := c.soon(func() error { return w.Watch(end.ctx, "/", func(vfs.Event) {}) })
			c.match(err, end.want, "Watch")
		}
	}
	if f := s.read("/a"); f.Revision != rev || f.Content != "content of /a" {
		c.errorf("a write under an ended context changed the file to %q", f.Content)
	}
}

func writeBytes(c *checker) {
	s := c.open(nil)
	for name, content := range contents {
		path := "/" + name
		rev := s.write(path, content, "").Revision
		if f := s.describe(path); f.Content != content || f.Revision != rev {
			c.errorf("read %q: content %s at %q, want %s at %q", path, clip(f.Content), f.Revision, clip(content), rev)
		}
	}
	rev := vfs.Revision("")
	for _, content := range contents { // and one over the other
		rev = s.write("/same", content, rev).Revision
		if f := s.describe("/same"); f.Content != content {
			c.errorf("read after replacing: content %s, want %s", clip(f.Content), clip(content))
		}
	}
}

func writeLimit(c *checker) {
	limit, ok := c.maxBytes()
	if !ok {
		return
	}
	s := c.open(nil)
	for i, fill := range []string{"x", "é", "\x00", "😀", "\n"} {
		path := "/" + string(rune('a'+i))
		most := strings.Repeat("y", limit%len(fill)) + strings.Repeat(fill, limit/len(fill))
		rev := s.write(path, most, "").Revision
		if f := s.describe(path); f.Content != most {
			c.errorf("%d bytes of %q came back as %d others", limit, fill, len(f.Content))
		}
		_, err := vfs.Write(c.ctx(), s.w, path, most+"z", rev)
		c.match(err, vfs.ErrTooLarge, "write of %d bytes", limit+1)
		if f := s.read(path); f.Revision != rev || f.Content != most {
			c.errorf("a write that was too large changed the file")
		}
		_, err = vfs.Write(c.ctx(), s.w, path+"new", most+"z", "")
		c.match(err, vfs.ErrTooLarge, "create with %d bytes", limit+1)
		_, err = vfs.Read(c.ctx(), s.b, path+"new")
		c.match(err, vfs.ErrNotFound, "read after a create that was too large")
		s.write(path, "small", rev)
		s.describe(path)
	}
}

func writeText(c *checker) {
	s := c.open(files("/a"))
	rev := s.stat("/a").Revision
	for _, content := range []string{"\xff", "a\xc3", "\xed\xa0\x80", "ok\x80", "\xf4\x90\x80\x80", "\xc0\x80"} {
		_, err := vfs.Write(c.ctx(), s.w, "/a", content, rev)
		c.match(err, vfs.ErrNotText, "write of %q", content)
		_, err = vfs.Write(c.ctx(), s.w, "/new", content, "")
		c.match(err, vfs.ErrNotText, "create with %q", content)
	}
	if f := s.read("/a"); f.Revision != rev || f.Content != "content of /a" {
		c.errorf("a refused write changed the file to %q", f.Content)
	}
	c.same(s.all("/", "", 0), []string{"/a"}, "the list of / after refused creates")
}

func infoWrite(c *checker) {
	s := c.open(nil)
	before := time.Now().Truncate(time.Millisecond)
	info := s.write("/d/a", "one", "")
	f := s.describe("/d/a")
	s.agree(info, "Write", f.Info, "Read")
	if info = s.write("/d/a", "other", info.Revision); c.cfg.BuiltIn {
		if after := time.Now(); info.ModTime.Before(before) || info.ModTime.After(after) {
			c.errorf("Write says time %v, want one from %v to %v", info.ModTime, before, after)
		}
	}
	s.agree(info, "Write", s.describe("/d/a").Info, "Read")
}
