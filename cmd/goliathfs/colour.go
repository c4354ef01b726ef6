package main

import (
	"bytes"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/transfer"
	"github.com/goliathfs/goliathfs/internal/visible"
)

// colourFlag is --color.
type colourFlag struct{ when string }

// The values of --color.
const (
	colourAuto   = "auto"
	colourAlways = "always"
	colourNever  = "never"
)

func (c *colourFlag) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.when, "color", colourAuto, "`when` to use colours: auto, always or never")
}

func (c *colourFlag) check() error {
	if !slices.Contains([]string{colourAuto, colourAlways, colourNever}, c.when) {
		return usagef("--color %s is unknown, it takes auto, always or never", c.when)
	}
	return nil
}

// wanted reports whether what a verb prints is to be in colour.
func (c *colourFlag) wanted(cmd *cobra.Command) bool {
	switch c.when {
	case colourAlways:
		return true
	case colourNever:
		return false
	}
	return isTerminal(cmd.OutOrStdout()) && wantsColour()
}

// diffOutput returns where a unified diff goes, in colour or not.
func diffOutput(cmd *cobra.Command, colour bool) *output {
	if file, ok := unscreened(cmd.OutOrStdout()); ok && colour {
		return outputTo(file) // colours are colouredDiff's own, around text made visible
	}
	return newOutput(cmd)
}

// printUnified prints a change as a unified diff.
func printUnified(out *output, c transfer.Change, colour bool) {
	if text := c.Unified(); colour {
		out.Printf("%s", colouredDiff(text))
	} else {
		out.Printf("%s", text)
	}
}

// colouredDiff returns a unified diff with the colours of a terminal, and without what
// one would obey in the texts themselves.
func colouredDiff(text []byte) string {
	const bold, red, green, cyan, reset = "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[36m", "\x1b[m"
	var b strings.Builder
	header := true // until the first hunk: a line that was removed can begin with "--- ", too
	for line := range bytes.Lines(text) {
		body, end := strings.TrimSuffix(string(line), "\n"), ""
		if len(body) < len(line) {
			end = "\n"
		}
		colour := ""
		switch {
		case strings.HasPrefix(body, "@@"):
			header, colour = false, cyan
		case header:
			colour = bold
		case strings.HasPrefix(body, "-"):
			colour = red
		case strings.HasPrefix(body, "+"):
			colour = green
		}
		if body = visible.Text(body); colour != "" {
			body = colour + body + reset
		}
		b.WriteString(body + end)
	}
	return b.String()
}
