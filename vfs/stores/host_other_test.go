//go:build !linux

package stores_test

import (
	"context"
	"fmt"
	"io"
	"os/exec"
)

// runOnHost has the roles that only Linux can play.
func (j job) runOnHost(context.Context, io.Writer) error {
	return fmt.Errorf("no role is called %q", j.Role)
}

func isolate(*exec.Cmd) {}
