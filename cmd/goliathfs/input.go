package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// maxStdin bounds what a verb reads into memory from standard input, in bytes;
// stores have limits of their own, built-in ones 1 MiB.
const maxStdin = 64 << 20

func readStdin(cmd *cobra.Command) (string, error) {
	if isTerminal(cmd.InOrStdin()) {
		fmt.Fprintln(cmd.ErrOrStderr(), "type the content, end with Ctrl-D on a line of its own")
	}
	data, err := await(cmd.Context(), func() ([]byte, error) {
		return io.ReadAll(io.LimitReader(cmd.InOrStdin(), maxStdin+1))
	})
	switch {
	case cmd.Context().Err() != nil:
		return "", cmd.Context().Err()
	case err != nil:
		return "", fmt.Errorf("cannot read standard input: %w", err)
	case len(data) > maxStdin:
		return "", fmt.Errorf("standard input is longer than %d bytes, split it into several files", maxStdin)
	}
	return string(data), nil
}

// await returns what fn returns, or the error of ctx when that ends first. It is for
// reads of terminals and pipes, and the opening of a named one, which wait for someone
// else and cannot be interrupted: fn is left behind then, and ends with the process.
func await[T any](ctx context.Context, fn func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := fn()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
