package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/fusebridge"
)

func newMounts() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "mounts",
		Short: "List the mounted stores",
		Long: `List the stores that are mounted on this machine: health (ok, away, dead, hung),
process, access, directory and store. Of one that is away the store cannot be reached,
and the mount shows its last known state.`,
		Example: "  goliathfs mounts",
		GroupID: groupMount,
		Args:    takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			mounts, err := fusebridge.List()
			if err != nil {
				return err
			}
			out := newOutput(cmd)
			for _, m := range mounts {
				if asJSON {
					out.JSON(mountedJSON{m.Dir, m.Name, m.ReadOnly, m.PID, m.Health})
					continue
				}
				out.Printf("%-4s  %7s  %s  %s  %s\n", m.Health, pidText(m.PID), accessText(m.ReadOnly), printable(m.Dir), printable(m.Name))
			}
			return out.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return cmd
}

type mountedJSON struct {
	Dir      string            `json:"dir"`
	Store    string            `json:"store"`
	ReadOnly bool              `json:"readOnly"`
	PID      int               `json:"pid,omitempty"` // absent when not known
	Health   fusebridge.Health `json:"health"`
}

func pidText(pid int) string {
	if pid == 0 {
		return "?"
	}
	return fmt.Sprint(pid)
}

func accessText(readOnly bool) string {
	if readOnly {
		return "ro"
	}
	return "rw"
}
