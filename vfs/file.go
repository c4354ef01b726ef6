package vfs

import (
	"context"
	"fmt"

	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Read returns the file at path. Errors: those of Backend.Read, in a *fs.PathError.
func Read(ctx context.Context, b Backend, path string) (File, error) {
	clean, err := begin(ctx, path, vpath.CleanFile)
	if err != nil {
		return File{}, wrap("read", path, err)
	}
	f, err := Inner{b}.Read(ctx, clean)
	return f, wrap("read", clean, err)
}

// Write creates or replaces the file at path. Errors: those of Writer.Write, in
// a *fs.PathError; ErrReadOnly when b is no Writer.
func Write(ctx context.Context, b Backend, path, content string, expected Revision) (Info, error) {
	clean, err := begin(ctx, path, vpath.CleanFile)
	if err != nil {
		return Info{}, wrap("write", path, err)
	}
	info, err := Inner{b}.Write(ctx, clean, content, expected)
	return info, wrap("write", clean, err)
}

// Remove removes the file at path. Errors: those of Remover.Remove, in a
// *fs.PathError; ErrReadOnly when b is no Remover.
func Remove(ctx context.Context, b Backend, path string, expected Revision) error {
	clean, err := begin(ctx, path, vpath.CleanFile)
	if err != nil {
		return wrap("remove", path, err)
	}
	return wrap("remove", clean, Inner{b}.Remove(ctx, clean, expected))
}

// Stat describes the file at path. Without a Statter it asks for a list of one
// file, so it never reads contents itself. Errors: those of Statter.Stat, in a
// *fs.PathError.
func Stat(ctx context.Context, b Backend, path string) (Info, error) {
	clean, err := begin(ctx, path, vpath.CleanFile)
	if err != nil {
		return Info{}, wrap("stat", path, err)
	}
	info, err := Inner{b}.Stat(ctx, clean)
	return info, wrap("stat", clean, err)
}

// Watch reports the changes at or below dir until ctx ends. Errors: those of
// Watcher.Watch, in a *fs.PathError; errors.ErrUnsupported when b is no Watcher.
func Watch(ctx context.Context, b Backend, dir string, fn func(Event)) error {
	clean, err := begin(ctx, dir, vpath.Clean)
	if err != nil {
		return wrap("watch", dir, err)
	}
	return wrap("watch", clean, Inner{b}.Watch(ctx, clean, fn))
}

// RouteOf returns the place that path belongs to: its prefix, "/" where b has
// only one, and whether files there can be written. Errors: those of
// Router.Route, in a *fs.PathError; the Prefix of ErrUnavailable is kept.
func RouteOf(ctx context.Context, b Backend, path string) (Route, error) {
	clean, err := begin(ctx, path, vpath.Clean)
	if err != nil {
		return Route{}, wrap("route", path, err)
	}
	route, err := Inner{b}.Route(ctx, clean)
	return route, wrap("route", clean, err)
}

// begin canonicalizes a path unless the context has ended.
func begin(ctx context.Context, path string, clean func(string) (string, error)) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("not begun: %w", err)
	}
	return clean(path)
}
