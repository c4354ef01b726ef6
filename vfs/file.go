package vfs

import (
	"context"
	"fmt"

	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Read returns the file at path. Errors: those of Backend.Read, in a PathError.
func Read(ctx context.Context, b Backend, path string) (File, error) {
	clean, err := begin(ctx, path, vpath.CleanFile)
	if err != nil {
		return File{}, wrap("read", path, err)
	}
	f, err := b.Read(ctx, clean)
	return f, wrap("read", clean, err)
}

// Write creates or replaces the file at path. Errors: those of Writer.Write, in
// a PathError; ErrReadOnly when b is no Writer.
func Write(ctx context.Context, b Backend, path, content string, expected Revision) (Info, error) {
	clean, err := begin(ctx, path, vpath.CleanFile)
	if err != nil {
		return Info{}, wrap("write", path, err)
	}
	w, ok := b.(Writer)
	if !ok {
		return Info{}, wrap("write", clean, ErrReadOnly)
	}
	info, err := w.Write(ctx, clean, content, expected)
	return info, wrap("write", clean, err)
}

// Remove removes the file at path. Errors: those of Remover.Remove, in a
// PathError; ErrReadOnly when b is no Remover.
func Remove(ctx context.Context, b Backend, path string, expected Revision) error {
	clean, err := begin(ctx, path, vpath.CleanFile)
	if err != nil {
		return wrap("remove", path, err)
	}
	r, ok := b.(Remover)
	if !ok {
		return wrap("remove", clean, ErrReadOnly)
	}
	return wrap("remove", clean, r.Remove(ctx, clean, expected))
}

// Stat describes the file at path. Without a Statter it asks for a list of one
// file, so it never reads contents itself. Errors: those of Statter.Stat, in a
// PathError.
func Stat(ctx context.Context, b Backend, path string) (Info, error) {
	clean, err := begin(ctx, path, vpath.CleanFile)
	if err != nil {
		return Info{}, wrap("stat", path, err)
	}
	if s, ok := b.(Statter); ok {
		info, err := s.Stat(ctx, clean)
		return info, wrap("stat", clean, err)
	}
	page, err := b.List(ctx, clean, ListOptions{Limit: 1})
	if err == nil && (len(page.Files) == 0 || page.Files[0].Path != clean) {
		err = ErrNotFound
	}
	if err != nil {
		return Info{}, wrap("stat", clean, err)
	}
	return page.Files[0], nil
}

// Watch reports the changes at or below dir until ctx ends. Errors: those of
// Watcher.Watch, in a PathError; errors.ErrUnsupported when b is no Watcher.
func Watch(ctx context.Context, b Backend, dir string, fn func(Event)) error {
	clean, err := begin(ctx, dir, vpath.Clean)
	if err != nil {
		return wrap("watch", dir, err)
	}
	w, ok := b.(Watcher)
	if !ok {
		return wrap("watch", clean, errNoWatch)
	}
	return wrap("watch", clean, w.Watch(ctx, clean, fn))
}

// RouteOf returns where the file at the canonical path comes from: the prefix
// of its route, "/" where b has none, and whether it can be written.
func RouteOf(b Backend, path string) (prefix string, writable bool) {
	if r, ok := b.(Router); ok {
		return r.Route(path)
	}
	_, writable = b.(Writer)
	return "/", writable
}

// begin canonicalizes a path unless the context has ended.
func begin(ctx context.Context, path string, clean func(string) (string, error)) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("not begun: %w", err)
	}
	return clean(path)
}
