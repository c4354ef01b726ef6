package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/internal/visible"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

func newWatch() *cobra.Command {
	var flags storeFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "watch STORE [PATH]",
		Short: "Print changes as they happen, until interrupted",
		Long: `Print each change at or below PATH (default /) until interrupted. The first line
is "ready"; "overflow" means that changes may have been missed, so look again.`,
		Example: "  goliathfs watch unix:/tmp/agent.sock /notes\n  goliathfs watch --json unix:/tmp/agent.sock | jq .path",
		GroupID: groupLook,
		Args:    takes(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := vpath.Clean(orRoot(args[1:])[0])
			if err != nil {
				return usagef("%s: %w", args[1], err)
			}
			return flags.withStore(cmd, args[0], storeurl.Want{Long: true, Await: true}, func(s *storeurl.Store) error {
				for _, part := range s.Parts {
					switch part.URL.Scheme {
					case storeurl.Badger:
						fmt.Fprintf(cmd.ErrOrStderr(), "no one else can write to %s while it is watched: watch its agent instead, with unix:SOCKET (see goliathfs serve)\n", part.URL)
					case storeurl.Mem:
						fmt.Fprintf(cmd.ErrOrStderr(), "%s is in the memory of this process, so no one else can write to it: watch the agent that has the files, with unix:SOCKET (see goliathfs serve)\n", part.URL)
					case storeurl.Static:
						fmt.Fprintf(cmd.ErrOrStderr(), "%s was read once and never changes: watch the store that is written to\n", part.URL)
					}
				}
				return watch(cmd.Context(), s.Backend, dir, newOutput(cmd), asJSON)
			})
		},
	}
	flags.register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return cmd
}

// change is one line of watch.
type change struct {
	Event    string       `json:"event"` // ready, write, remove or overflow
	Path     string       `json:"path"`
	Revision vfs.Revision `json:"revision,omitempty"`
	Size     *int64       `json:"size,omitempty"`
	Time     jsonTime     `json:"time"` // when it was seen
}

// watch prints until ctx ends, which is no error, or output fails.
func watch(ctx context.Context, b vfs.Backend, dir string, out *output, asJSON bool) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ready := false
	err := vfs.Watch(ctx, b, dir, func(e vfs.Event) {
		c := changeOf(e)
		if !ready {
			c.Event, ready = "ready", true
		}
		if asJSON {
			out.JSON(c)
		} else {
			out.Printf("%-8s  %s  %s\n", c.Event, c.Path, visible.Name(string(c.Revision)))
		}
		if out.Flush() != nil {
			stop() // no one reads any more
		}
	})
	if out.Err() != nil {
		return out.Err()
	}
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func changeOf(e vfs.Event) change {
	c := change{Event: "write", Path: e.Path, Revision: e.Info.Revision, Time: jsonTime(time.Now())}
	switch {
	case e.Overflow:
		c.Event = "overflow"
	case e.Info.Revision == "":
		c.Event = "remove"
	case e.Info.Size >= 0:
		c.Size = &e.Info.Size
	}
	return c
}
