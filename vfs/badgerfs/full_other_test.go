//go:build !linux

package badgerfs_test

import (
	"context"
	"io"
	"os/exec"
)

var hostRoles map[string]func(ctx context.Context, dir string, out io.Writer) error

func isolate(*exec.Cmd, string) {}
