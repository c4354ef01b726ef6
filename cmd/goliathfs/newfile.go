package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/internal/reason"
)

// checkNew finds out whether a file can be written later, before something begins
// that cannot be repeated. It leaves nothing behind.
func checkNew(name string) error {
	if exists(name) {
		return existsAlready(name)
	}
	dir := filepath.Dir(name)
	for !exists(dir) && filepath.Dir(dir) != dir { // those below are made when there is a file for them
		dir = filepath.Dir(dir)
	}
	f, err := os.CreateTemp(dir, ".goliathfs-")
	if err != nil {
		return fmt.Errorf("%s cannot be made, choose another place: %w", name, reason.Of(err))
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

func existsAlready(name string) error {
	return fmt.Errorf("%s exists already, move it away or choose another place", name)
}

// writeNew writes a file that is not there yet, and the directories above it. A
// file that cannot be written whole is removed.
func writeNew(name string, data []byte, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return fmt.Errorf("the directory %s cannot be made, choose another place: %w", filepath.Dir(name), reason.Of(err))
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, fs.ErrExist) {
		return existsAlready(name)
	}
	if err != nil {
		return fmt.Errorf("%s cannot be made, choose another place: %w", name, reason.Of(err))
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(name) // err is what matters
		return fmt.Errorf("%s cannot be written, choose another place: %w", name, reason.Of(err))
	}
	return nil
}

// writeRecording is writeNew for what cannot be had again: where it cannot be
// written to its place it goes among the temporary files, or else is printed.
func writeRecording(cmd *cobra.Command, name string, data []byte, mode fs.FileMode) error {
	err := writeNew(name, data, mode)
	if err == nil {
		return nil
	}
	f, elsewhere := os.CreateTemp("", "recording-*.txtar")
	if elsewhere == nil {
		_, elsewhere = f.Write(data)
		elsewhere = errors.Join(elsewhere, f.Close())
	}
	if elsewhere == nil {
		return fmt.Errorf("%w; the recording is in %s", err, f.Name())
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s\n", data)
	return fmt.Errorf("%w; the recording stands above", err)
}
