package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/internal/visible"
)

// eachPath runs fn for each path that a verb was given. One that fails does not keep
// the others back: its error is told where it comes, and the exit status is 1.
func eachPath(cmd *cobra.Command, s *storeurl.Store, paths []string, fn func(path string) error) error {
	if len(paths) == 1 {
		return fn(paths[0])
	}
	failed := false
	for _, path := range paths {
		err := fn(path)
		if err == nil {
			continue
		}
		if cmd.Context().Err() != nil || isOutput(err) {
			return err
		}
		failed = true
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", cmd.CommandPath(), visible.Line(explain(err, storeWords(s.Spec))))
	}
	if failed {
		return errReported
	}
	return nil
}
