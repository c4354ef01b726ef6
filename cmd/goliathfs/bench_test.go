package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/transfer"
)

const (
	benchFiles = 2000
	benchSize  = 8 << 10 // bytes of each
)

// BenchmarkCopy copies a folder of 2,000 files of 8 KiB into each kind of store
// and out of it again, opening and closing included, and verifies it as the verb
// does. The baseline is os.CopyFS, which copies without looking again.
func BenchmarkCopy(b *testing.B) {
	src := b.TempDir()
	line := strings.Repeat("all work and no play makes a long line ", 2) + "\n"
	for i := range benchFiles {
		name := filepath.Join(src, fmt.Sprintf("d%d", i%50), fmt.Sprintf("f%d.md", i))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			b.Fatal(err)
		}
		text := fmt.Sprintf("%d\n%s", i, strings.Repeat(line, benchSize/len(line)))
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			if err := os.CopyFS(b.TempDir(), os.DirFS(src)); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, c := range []struct {
		name, url string
		want      storeurl.Want
	}{
		{"memory", "mem:", storeurl.Want{Write: true, Create: true, Relaxed: true}},
		{"badger", "badger:store", storeurl.Want{Write: true, Create: true, Relaxed: true}},
		{"badger-durable", "badger:store", storeurl.Want{Write: true, Create: true}},
		{"sqlite", "sqlite:store.db", storeurl.Want{Write: true, Create: true, Relaxed: true}},
		{"sqlite-durable", "sqlite:store.db", storeurl.Want{Write: true, Create: true}},
		{"folder", "dir:out", storeurl.Want{Write: true, Create: true, Relaxed: true}},
	} {
		b.Run(c.name+"/in", func(b *testing.B) {
			for b.Loop() {
				b.Chdir(b.TempDir())
				benchCopy(b, "dir:"+storeurl.Escape(src), c.url, c.want)
			}
		})
		if c.url == "mem:" {
			continue // nothing is left to copy out
		}
		b.Run(c.name+"/out", func(b *testing.B) {
			b.Chdir(b.TempDir())
			benchCopy(b, "dir:"+storeurl.Escape(src), c.url, c.want)
			for b.Loop() {
				benchCopy(b, c.url, "dir:"+storeurl.Escape(b.TempDir()), storeurl.Want{Write: true, Create: true, Relaxed: true})
			}
		})
	}
}

func benchCopy(b *testing.B, from, to string, want storeurl.Want) {
	src, err := new(storeFlags).spec(from)
	if err != nil {
		b.Fatal(err)
	}
	dst, err := new(storeFlags).spec(to)
	if err != nil {
		b.Fatal(err)
	}
	err = withOpener(func(o *storeurl.Opener) error {
		s, d, err := new(copyOptions).openBoth(context.Background(), o, src, dst, want)
		if err != nil {
			return err
		}
		res, err := transfer.Copy(context.Background(), s, d, transfer.Options{})
		if err == nil && res.Created != benchFiles {
			err = fmt.Errorf("%+v", res)
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
}
