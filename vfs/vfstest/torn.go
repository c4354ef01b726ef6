package vfstest

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/goliathfs/goliathfs/vfs"
)

// bodies are contents of one letter repeated, each letter with a length of its
// own, so that a mixture or a cut shows; and what is known of each revision.
type bodies struct {
	sizes []int

	mu      sync.Mutex
	lengths map[vfs.Revision]int // what was written or read at a revision
}

func (c *checker) bodies() *bodies {
	b := &bodies{sizes: []int{1, 100, 4_000, 4_097, 65_537, 300_000, 1 << 20}, lengths: map[vfs.Revision]int{}}
	if limit, ok := c.maxBytes(); ok {
		for i := range b.sizes {
			b.sizes[i] = min(b.sizes[i], limit-len(b.sizes)+i+1)
		}
	}
	return b
}

func (b *bodies) body(i int) string { return strings.Repeat(string(rune('a'+i)), b.sizes[i]) }

// learn notes the length of a revision's content, which must stay the same.
func (b *bodies) learn(rev vfs.Revision, n int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if known, ok := b.lengths[rev]; ok && known != n {
		return fmt.Errorf("the revision %q has %d bytes once and %d bytes another time", rev, known, n)
	}
	b.lengths[rev] = n
	return nil
}

// whole returns an error unless f is one of the bodies.
func (b *bodies) whole(f vfs.File) error {
	if f.Content == "" {
		return errors.New("a read was empty, which no one wrote")
	}
	i := int(f.Content[0]) - 'a'
	if i < 0 || i >= len(b.sizes) {
		return fmt.Errorf("a read starts with %q, which no one wrote", f.Content[:1])
	}
	if want := b.body(i); f.Content != want {
		return fmt.Errorf("a read of %d bytes is no body that was written: the one that starts so has %d", len(f.Content), len(want))
	}
	if f.Size >= 0 && f.Size != int64(len(f.Content)) {
		return fmt.Errorf("a read of %d bytes says size %d", len(f.Content), f.Size)
	}
	return b.learn(f.Revision, len(f.Content))
}

// replace writes body i over what is there.
func (s *store) replace(b *bodies, i int) error {
	info, err := vfs.Stat(s.ctx(), s.b, "/a")
	if err != nil {
		return err
	}
	info, err = vfs.Write(s.ctx(), s.w, "/a", b.body(i), info.Revision)
	if err != nil {
		return err
	}
	return b.learn(info.Revision, b.sizes[i])
}

// readUntil reads until done is closed or a read is wrong.
func (s *store) readUntil(done <-chan struct{}, b *bodies) error {
	for {
		select {
		case <-done:
			return nil
		default:
		}
		f, err := vfs.Read(s.ctx(), s.b, "/a")
		if err == nil {
			err = b.whole(f)
		}
		if err != nil {
			return err
		}
	}
}

func raceTorn(c *checker) {
	const each = 4 // writes of each body
	b := c.bodies()
	s := c.open(nil)
	s.write("/a", b.body(0), "")

	done := make(chan struct{})
	var readers sync.WaitGroup
	reads := make([]error, 3)
	for i := range reads {
		readers.Go(func() { reads[i] = s.readUntil(done, b) })
	}
	writes := atOnce(len(b.sizes), func(i int) error {
		for range each {
			if err := retry(each*len(b.sizes), func() error { return s.replace(b, i) }); err != nil {
				return err
			}
		}
		return nil
	})
	close(done)
	readers.Wait()
	c.ok(errors.Join(append(writes, reads...)...), "racing writes and reads")
}
