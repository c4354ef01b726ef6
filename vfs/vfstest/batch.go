package vfstest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/batchread"
)

// These rules hold for every backend: of one that is no vfs.BatchReader the files are
// read one by one.
var batchRules = []rule{
	{"batch/reads", "a batch reads of each path what Read reads, in the order of the paths, which may repeat", 0, batchReads},
	{"batch/missing", "a file that does not exist is ErrNotFound in its own result, and the others are read", 0, batchMissing},
	{"batch/beginning", "a batch is of a beginning of the paths: at least one, at most BatchFiles, none of none", 0, batchBeginning},
	{"batch/bytes", "no result follows the one with which the contents come to BatchBytes", 0, batchBytes},
	{"batch/no-text", "a file that is no text is ErrNotText in its own result, and the others are read", spoils, batchNoText},
	{"batch/paths", "a path that is not canonical is ErrInvalidPath in its own result", builtIn, batchPaths},
	{"batch/canceled", "a context that has ended stops a batch", 0, batchCanceled},
	{"batch/changes", "a change is seen by every batch that begins after it", writes | removes, batchChanges},
	{"batch/torn", "racing with writes, a batch has each file as one write left it", writes, batchTorn},
}

// batch asks the backend itself for one batch, unless it is no vfs.BatchReader.
func (s *store) batch(paths []string) []vfs.ReadResult {
	b, ok := s.b.(vfs.BatchReader)
	if !ok {
		b = vfs.Inner{Backend: s.b}
	}
	results, err := b.ReadBatch(s.ctx(), paths)
	s.ok(err, "a batch of %d paths from %q", len(paths), clip(paths[0]))
	if len(results) == 0 || len(results) > min(len(paths), batchread.MaxFiles) {
		s.fatalf("a batch of %d paths has %d results", len(paths), len(results))
	}
	return results
}

// each follows batches to the end.
func (s *store) each(paths []string) []vfs.ReadResult {
	var all []vfs.ReadResult
	for len(all) < len(paths) {
		all = append(all, s.batch(paths[len(all):])...)
	}
	return all
}

// batched checks that batches say of each path what Read says.
func (s *store) batched(paths []string, what string, args ...any) {
	for i, r := range s.each(paths) {
		want, err := vfs.Read(s.ctx(), s.b, paths[i])
		switch {
		case err != nil && vfs.Code(r.Err) != vfs.Code(err):
			s.errorf(what+": of %s a batch says %v, Read says %v", append(args, clip(paths[i]), r.Err, err)...)
		case err == nil && r.Err != nil:
			s.errorf(what+": %s in a batch: %v", append(args, clip(paths[i]), r.Err)...)
		case err == nil && r.File.Content != want.Content:
			s.errorf(what+": %s has %s in a batch, Read says %s", append(args, clip(paths[i]), clip(r.File.Content), clip(want.Content))...)
		case err == nil:
			s.agree(want.Info, "Read", r.File.Info, "a batch")
		}
	}
}

func batchReads(c *checker) {
	rng := rand.New(rand.NewPCG(43, 47))
	seed := library(rng)
	for _, path := range unordered {
		seed[path] = "content of " + path
	}
	s := c.open(seed)
	paths := sorted(seed, "/", "")
	s.batched(paths, "in order")
	for round := range 5 {
		rng.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
		s.batched(append(paths[:20:20], paths...), "shuffled, round %d", round)
	}
	at := 0
	for f, err := range batchread.Files(c.ctx(), s.b, paths) {
		if err != nil || at == len(paths) || f.Path != paths[at] || f.Content != seed[f.Path] {
			c.fatalf("Files yields %s, %v as file %d of %d", clip(f.Path), err, at, len(paths))
		}
		at++
	}
	if at != len(paths) {
		c.errorf("Files yields %d of %d files", at, len(paths))
	}
}

func batchMissing(c *checker) {
	s := c.open(files("/a", "/a/b", "/c", "/d/e/f"))
	s.batched([]string{"/missing", "/a", "/a/b/c", "/a/b", "/b", "/c", "/d", "/d/e", "/d/e/f", "/d/e/g", "/z", "/A", "/a"}, "some are missing")
	s.batched([]string{"/z"}, "one is missing")
}

func batchBeginning(c *checker) {
	seed := map[string]string{}
	for i := range 2*batchread.MaxFiles + 9 {
		seed[fmt.Sprintf("/many/%04d", i)] = fmt.Sprint("number ", i)
	}
	s := c.open(seed)
	paths := sorted(seed, "/", "")
	for i, r := range s.each(paths) {
		if r.Err != nil || r.File.Path != paths[i] || r.File.Content != seed[paths[i]] {
			c.fatalf("result %d is %s with %s, %v", i, clip(r.File.Path), clip(r.File.Content), r.Err)
		}
	}
	if b, ok := s.b.(vfs.BatchReader); ok {
		if results, err := b.ReadBatch(c.ctx(), nil); err != nil || len(results) > 0 {
			c.errorf("a batch of no paths has %d results, %v", len(results), err)
		}
	}
}

func batchBytes(c *checker) {
	size := 1 << 20
	if limit, ok := c.maxBytes(); ok {
		size = min(size, limit)
	}
	seed := map[string]string{}
	for i := range batchread.MaxBytes/size + 3 {
		seed[fmt.Sprintf("/large/%03d", i)] = strings.Repeat(fmt.Sprintf("%03d\n", i), size/4)
	}
	s := c.open(seed)
	paths := sorted(seed, "/", "")
	bytes, results := 0, s.batch(paths)
	for i, r := range results {
		if bytes >= batchread.MaxBytes {
			c.errorf("%d results come after %d bytes", len(results)-i, bytes)
			break
		}
		bytes += len(r.File.Content)
	}
	s.batched(paths, "large files")
}

func batchNoText(c *checker) {
	s := c.open(files("/a", "/d/spoiled", "/z"))
	c.cfg.Spoil(c.t, s.raw, c.fixture.seedPrefix+"/d/spoiled")
	results := s.each([]string{"/a", "/d/spoiled", "/z"})
	c.match(results[1].Err, vfs.ErrNotText, "a file that is no text, in a batch")
	for _, i := range []int{0, 2} {
		c.ok(results[i].Err, "result %d beside a file that is no text", i)
	}
}

func batchPaths(c *checker) {
	s := c.open(files("/a", "/b"))
	for _, bad := range []string{"", "a", "/", "/a/", "//a", "/x/../a", "/a\xff", "/" + strings.Repeat("x", 512)} {
		results := s.each([]string{"/a", bad, "/b"})
		c.match(results[1].Err, vfs.ErrInvalidPath, "%s in a batch", clip(bad))
		if results[0].Err != nil || results[2].Err != nil {
			c.errorf("beside %s in a batch: %v, %v", clip(bad), results[0].Err, results[2].Err)
		}
	}
}

func batchCanceled(c *checker) {
	s := c.open(files("/a"))
	ctx, cancel := context.WithCancel(c.ctx())
	cancel()
	if b, ok := s.b.(vfs.BatchReader); ok {
		_, err := b.ReadBatch(ctx, []string{"/a"})
		c.match(err, context.Canceled, "a batch")
	}
	for _, err := range batchread.Files(ctx, s.b, []string{"/a", "/b"}) {
		c.match(err, context.Canceled, "Files")
	}
}

func batchChanges(c *checker) {
	s := c.open(files("/a", "/b", "/c"))
	paths := []string{"/a", "/b", "/c", "/d"}
	s.each(paths)
	s.write("/b", "replaced", s.stat("/b").Revision)
	s.write("/d", "new", "")
	s.remove("/c", s.stat("/c").Revision)
	results := s.each(paths)
	c.match(results[2].Err, vfs.ErrNotFound, "a removed file in a batch")
	if b, d := results[1], results[3]; b.File.Content != "replaced" || d.File.Content != "new" {
		c.errorf("after the change a batch has %s and %s, %v, %v", clip(b.File.Content), clip(d.File.Content), b.Err, d.Err)
	}
	s.batched(paths, "after a change")
}

func batchTorn(c *checker) {
	b := c.bodies()
	s := c.open(files("/0", "/b"))
	s.write("/a", b.body(0), "")
	begun, done, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var wrong error
	go func() {
		defer close(ended)
		for wrong == nil {
			select {
			case <-done:
				return
			case begun <- struct{}{}:
			default: // the writers are at work
			}
			for f, err := range batchread.Files(c.ctx(), s.b, []string{"/0", "/a", "/b", "/a"}) {
				if err == nil && f.Path == "/a" {
					err = b.whole(f)
				}
				wrong = errors.Join(wrong, err)
			}
		}
	}()
	const rounds = 16 // of writers, each beside a batch, so that one falls into it
	var writes []error
	for range rounds {
		select {
		case <-begun:
		case <-ended:
		}
		writes = append(writes, atOnce(len(b.sizes), func(i int) error {
			return retry(len(b.sizes), func() error { return s.replace(b, i) })
		})...)
	}
	close(done)
	<-ended
	c.ok(errors.Join(append(writes, wrong)...), "racing writes and batches")
}
