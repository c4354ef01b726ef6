package vfstest_test

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/goliathfs/goliathfs/internal/teststore"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// rewrite makes b change every content that it is read.
func rewrite(change func(string) string) func(b *broken) {
	return func(b *broken) {
		b.read = func(ctx context.Context, path string) (vfs.File, error) {
			f, err := b.FS.Read(ctx, path)
			f.Content = change(f.Content)
			return f, err
		}
	}
}

// rename makes b look under another name.
func rename(change func(string) string) func(b *broken) {
	return func(b *broken) {
		b.read = func(ctx context.Context, path string) (vfs.File, error) {
			f, err := b.FS.Read(ctx, path)
			if errors.Is(err, vfs.ErrNotFound) {
				f, err = b.FS.Read(ctx, change(path))
			}
			return f, err
		}
	}
}

var pathFaults = []fault{
	{"refuses characters that a host would", "path/special", func(b *broken) {
		b.read = func(ctx context.Context, path string) (vfs.File, error) {
			if strings.ContainsAny(path, `*?":<>|`) {
				return vfs.File{}, vfs.ErrInvalidPath
			}
			return b.FS.Read(ctx, path)
		}
	}},
	{"decodes percent signs", "path/special", rewriteName(func(path string) string { return strings.ReplaceAll(path, "%41", "A") })},
	{"composes names", "path/normal-forms", rewriteName(norm.NFC.String)},
	{"ignores case in names", "path/normal-forms", rewriteName(strings.ToLower)},
	{"finds a file under another case", "read/missing", rename(strings.ToLower)},
	{"counts the length of a path in bytes", "path/longest", func(b *broken) {
		b.read = func(ctx context.Context, path string) (vfs.File, error) {
			if len(path) > 512 {
				return vfs.File{}, vfs.ErrInvalidPath
			}
			return b.FS.Read(ctx, path)
		}
	}},
	{"has no files where directories are", "path/file-and-dir", func(b *broken) {
		b.read = func(ctx context.Context, path string) (vfs.File, error) {
			page, err := b.FS.List(ctx, path, vfs.ListOptions{Limit: 2})
			if err == nil && len(page.Files) == 2 {
				return vfs.File{}, vfs.ErrNotFound
			}
			return b.FS.Read(ctx, path)
		}
	}},
	{"names a file without its slash", "path/refused", func(b *broken) {
		b.read = func(ctx context.Context, path string) (vfs.File, error) {
			f, err := b.FS.Read(ctx, path)
			f.Path = strings.TrimPrefix(f.Path, "/")
			return f, err
		}
	}},
	{"cleans a path in silence", "path/unclean", func(b *broken) {
		b.read = func(ctx context.Context, path string) (vfs.File, error) {
			clean, err := vpath.CleanFile(path)
			if err != nil {
				return vfs.File{}, err
			}
			return b.FS.Read(ctx, clean)
		}
	}},
	{"calls an invalid path missing", "path/unclean", func(b *broken) {
		b.stat = func(ctx context.Context, path string) (vfs.Info, error) {
			info, err := b.FS.Stat(ctx, path)
			if errors.Is(err, vfs.ErrInvalidPath) {
				err = vfs.ErrNotFound
			}
			return info, err
		}
	}},
}

// rewriteName makes b look under a changed name always.
func rewriteName(change func(string) string) func(b *broken) {
	return func(b *broken) {
		b.read = func(ctx context.Context, path string) (vfs.File, error) {
			f, err := b.FS.Read(ctx, change(path))
			f.Path = path
			return f, err
		}
	}
}

var contentFaults = []fault{
	{"drops carriage returns", "read/bytes", rewrite(func(s string) string { return strings.ReplaceAll(s, "\r", "") })},
	{"drops a byte order mark", "read/bytes", rewrite(func(s string) string { return strings.TrimPrefix(s, "\ufeff") })},
	{"ends every file in a newline", "read/bytes", rewrite(func(s string) string {
		if s != "" && !strings.HasSuffix(s, "\n") {
			s += "\n"
		}
		return s
	})},
	{"ends a content at NUL", "read/bytes", rewrite(func(s string) string { s, _, _ = strings.Cut(s, "\x00"); return s })},
	{"composes contents", "read/bytes", rewrite(norm.NFC.String)},
	{"reads lines of at most 64 KiB", "read/bytes", rewrite(func(s string) string { return s[:min(len(s), 1<<16)] })},
	{"reads a missing file as empty", "read/missing", func(b *broken) {
		b.read = func(ctx context.Context, path string) (vfs.File, error) {
			f, err := b.FS.Read(ctx, path)
			if errors.Is(err, vfs.ErrNotFound) {
				return vfs.File{Info: vfs.Info{Path: path, Revision: "AAAAAAAAAAAA"}}, nil
			}
			return f, err
		}
	}},
	{"has an error of its own for a missing file", "read/missing", func(b *broken) {
		b.read = func(ctx context.Context, path string) (vfs.File, error) {
			f, err := b.FS.Read(ctx, path)
			if errors.Is(err, vfs.ErrNotFound) {
				err = fs.ErrNotExist
			}
			return f, err
		}
	}},
	{"describes directories as files", "read/missing", func(b *broken) {
		b.stat = func(ctx context.Context, path string) (vfs.Info, error) {
			page, err := b.FS.List(ctx, path, vfs.ListOptions{Limit: 1})
			if err != nil || len(page.Files) == 0 {
				return b.FS.Stat(ctx, path)
			}
			return page.Files[0], nil
		}
	}},
	{"counts the size in characters", "info/agrees", func(b *broken) {
		b.stat = func(ctx context.Context, path string) (vfs.Info, error) {
			f, err := b.FS.Read(ctx, path)
			f.Size = int64(utf8.RuneCountInString(f.Content))
			return f.Info, err
		}
	}},
	{"lists without revisions", "info/agrees", func(b *broken) {
		b.list = func(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
			page, err := b.FS.List(ctx, dir, opts)
			for i := range page.Files {
				page.Files[i].Revision = ""
			}
			return page, err
		}
	}},
	{"dates a file by when it is read", "info/write", func(b *broken) {
		b.read = func(ctx context.Context, path string) (vfs.File, error) {
			f, err := b.FS.Read(ctx, path)
			f.ModTime = time.Now()
			return f, err
		}
	}},
	{"returns another revision than it writes", "info/write", func(b *broken) {
		b.write = func(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
			info, err := b.FS.Write(ctx, path, content, expected)
			if err == nil {
				info.Revision = "AAAAAAAAAAAA"
			}
			return info, err
		}
	}},
	{"reads under an ended context", "context/canceled", func(b *broken) {
		b.read = func(ctx context.Context, path string) (vfs.File, error) {
			return b.FS.Read(context.WithoutCancel(ctx), path)
		}
	}},
	{"writes under an ended context", "context/canceled", func(b *broken) {
		b.write = func(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
			info, err := b.FS.Write(context.WithoutCancel(ctx), path, content, expected)
			return info, errors.Join(err, ctx.Err())
		}
	}},
	{"reports an ended context as a failure of the store", "context/canceled", func(b *broken) {
		b.list = func(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
			page, err := b.FS.List(ctx, dir, opts)
			if errors.Is(err, context.Canceled) {
				err = errors.New("database is locked")
			}
			return page, err
		}
	}},
	{"writes lines as a text file of DOS", "write/bytes", func(b *broken) {
		b.write = func(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
			return b.FS.Write(ctx, path, strings.ReplaceAll(content, "\n", "\r\n"), expected)
		}
	}},
	{"refuses the largest content", "write/limit", func(b *broken) { b.write = limited(b, 1<<20-1) }},
	{"takes more than the limit", "write/limit", func(b *broken) {
		b.write = func(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
			return b.FS.Write(ctx, path, content[:min(len(content), 1<<20)], expected)
		}
	}},
	{"mends invalid UTF-8", "write/text", func(b *broken) {
		b.write = func(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
			return b.FS.Write(ctx, path, strings.ToValidUTF8(content, "\ufffd"), expected)
		}
	}},
}

// The store shares the seed with its caller.
func TestSuiteCatchesAliasedSeed(t *testing.T) {
	cfg := config(func(*broken) {})
	cfg.New = func(t *testing.T, seed map[string]string) vfs.Backend {
		b := &broken{FS: teststore.Memory(t, seed)}
		b.read = func(ctx context.Context, path string) (vfs.File, error) {
			f, err := b.FS.Read(ctx, path)
			if content, ok := seed[path]; ok && err == nil {
				f.Content = content
			}
			return f, err
		}
		return b
	}
	mustCatch(t, cfg, "read/seed-copied")
}

var raceFaults = []fault{
	{"checks first and writes then", "race/write", func(b *broken) { b.write = checkThenWrite(b) }},
	{"checks first and creates then", "race/create", func(b *broken) { b.write = checkThenWrite(b) }},
	{"writes what is being removed", "race/mixed", func(b *broken) { b.write = checkThenWrite(b) }},
	{"loses edits", "race/edits", func(b *broken) { b.write = checkThenWrite(b) }},
	{"removes for everyone", "race/remove", func(b *broken) {
		b.remove = func(ctx context.Context, path string, expected vfs.Revision) error {
			info, err := b.FS.Stat(ctx, path)
			switch {
			case err != nil:
				return err
			case info.Revision != expected:
				return vfs.ErrConflict
			}
			linger()
			if err := b.FS.Remove(ctx, path, expected); !errors.Is(err, vfs.ErrNotFound) {
				return err
			}
			return nil
		}
	}},
	{"reads revision and content apart", "race/torn", func(b *broken) {
		b.read = func(ctx context.Context, path string) (vfs.File, error) {
			info, err := b.FS.Stat(ctx, path)
			if err != nil {
				return vfs.File{}, err
			}
			linger()
			f, err := b.FS.Read(ctx, path)
			f.Info = info
			return f, err
		}
	}},
	{"writes a content in two steps", "race/torn", func(b *broken) {
		b.write = func(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
			half, err := b.FS.Write(ctx, path, content[:len(content)/2], expected)
			if err != nil {
				return half, err
			}
			linger()
			return b.FS.Write(ctx, path, content, half.Revision)
		}
	}},
	{"fails beside another writer", "race/apart", func(b *broken) {
		var mu sync.Mutex
		b.write = func(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
			if !mu.TryLock() {
				return vfs.Info{}, errors.New("database is locked")
			}
			defer mu.Unlock()
			linger()
			return b.FS.Write(ctx, path, content, expected)
		}
	}},
}

// linger lets other goroutines run, so that a race shows.
func linger() {
	for range 100 {
		runtime.Gosched()
	}
}

// checkThenWrite is a write whose check and change are two steps.
func checkThenWrite(b *broken) func(context.Context, string, string, vfs.Revision) (vfs.Info, error) {
	return func(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
		info, err := b.FS.Stat(ctx, path)
		if err != nil && !errors.Is(err, vfs.ErrNotFound) {
			return vfs.Info{}, err
		}
		if info.Revision != expected {
			return vfs.Info{}, vfs.ErrConflict
		}
		linger()
		return force(ctx, b, path, content)
	}
}

// force writes whatever revision the file has.
func force(ctx context.Context, b *broken, path, content string) (vfs.Info, error) {
	for {
		now, err := b.FS.Stat(ctx, path)
		if err != nil && !errors.Is(err, vfs.ErrNotFound) {
			return vfs.Info{}, err
		}
		info, err := b.FS.Write(ctx, path, content, now.Revision)
		if !errors.Is(err, vfs.ErrConflict) {
			return info, err
		}
	}
}
