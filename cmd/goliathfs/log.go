package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/internal/visible"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/journalfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

type logOptions struct {
	most   int
	asJSON bool
}

func newLog() *cobra.Command {
	var o logOptions
	cmd := &cobra.Command{
		Use:   "log FILE [PATH]",
		Short: "Tell what happened to files, from a journal",
		Long: `Tell what the journal FILE has of the files at or below PATH (default /), the newest
first: the time at which it was seen, what it was, the revision, the size and the
path. "missed" is a revision that was replaced before it could be read; "gap" says
that changes before it may be missing; "base" is the first moment that can be looked
at, with what the files were then behind it.`,
		Example: "  goliathfs log agent.journal /notes\n  goliathfs log --json agent.journal | jq -r .revision",
		GroupID: groupLook,
		Args:    takes(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("number") && o.most < 1 {
				return usagef("--number %d tells nothing, write 1 or more", o.most)
			}
			dir, err := vpath.Clean(orRoot(args[1:])[0])
			if err != nil {
				return usagef("%s: %w", args[1], err)
			}
			return o.run(cmd, args[0], dir)
		},
	}
	cmd.Flags().IntVarP(&o.most, "number", "n", 0, "tell at most so `many` entries")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print one JSON object a line")
	return cmd
}

// logged is what log prints as JSON.
type logged struct {
	Event    string       `json:"event"` // write, remove, missed, gap or base
	Path     string       `json:"path"`
	Revision vfs.Revision `json:"revision,omitempty"`
	Size     *int64       `json:"size,omitempty"`
	Time     jsonTime     `json:"time"` // when it was seen
	ModTime  *jsonTime    `json:"modTime,omitempty"`
	Text     string       `json:"text,omitempty"`
}

func (o *logOptions) run(cmd *cobra.Command, file, dir string) (err error) {
	if prefix := string(storeurl.Journal) + ":"; strings.HasPrefix(file, prefix) {
		u, err := storeurl.Parse(file)
		switch {
		case err != nil:
			return usagef("%w", err)
		case u.Moment != "":
			return usagef("log tells all that a journal has, leave out @%s", u.Moment)
		}
		file = u.Target
	}
	h, err := storeurl.OpenJournal(file)
	if err != nil {
		return fmt.Errorf("%s: %w", printable(file), err)
	}
	defer h.Close()
	out := newOutput(cmd)
	n, about := 0, 0
	for e, err := range h.Log(cmd.Context(), dir) {
		if err != nil {
			_ = out.Flush() // what was found before stands before the error
			return fmt.Errorf("%s: %w", printable(file), err)
		}
		o.print(out, e)
		if e.Kind != journalfs.Gap && e.Kind != journalfs.Base {
			about++
		}
		if n++; n == o.most || out.Err() != nil {
			break
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if about == 0 {
		_, err = fmt.Fprintf(cmd.ErrOrStderr(), "%s has no change at or below %s\n", printable(file), printable(dir))
	}
	return err
}

func (o *logOptions) print(out *output, e journalfs.Entry) {
	if o.asJSON {
		l := logged{Event: e.Kind.String(), Path: e.Path, Revision: e.Revision, Time: jsonTime(e.Time), Text: e.Text}
		if e.Kind == journalfs.Write {
			l.Size, l.ModTime = &e.Size, timeOf(e.ModTime)
		}
		out.JSON(l)
		return
	}
	size := ""
	if e.Kind == journalfs.Write {
		size = fmt.Sprint(e.Size)
	}
	line := fmt.Sprintf("%s  %-6s  %-12s  %7s  %s", timeText(e.Time), e.Kind, visible.Name(string(e.Revision)), size, printable(e.Path))
	if e.Text != "" {
		line += "  (" + visible.Line(fmt.Errorf("%s", e.Text)) + ")"
	}
	out.Printf("%s\n", line)
}
