package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/goliathfs/goliathfs/internal/reason"
)

// writeManual writes a page of the manual for the command and for each verb into a
// folder, and names what is in the way of that before it writes any.
func writeManual(root *cobra.Command, dir string) (pages int, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, fmt.Errorf("the folder %s cannot be made, choose another place: %w", dir, reason.Of(err))
	}
	all := []*cobra.Command{root}
	for i := 0; i < len(all); i++ {
		for _, c := range all[i].Commands() {
			if !c.Hidden && c.Name() != "help" && c.Deprecated == "" {
				all = append(all, c)
			}
		}
	}
	for _, c := range all {
		name := filepath.Join(dir, pageName(c)+".1")
		if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() {
			return 0, fmt.Errorf("%s is in the place of a page and is no file, choose another place", name)
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, fmt.Errorf("%s cannot be looked at, choose another place: %w", name, reason.Of(err))
		}
	}
	for _, c := range all {
		name := filepath.Join(dir, pageName(c)+".1")
		if err := os.WriteFile(name, manualPage(c), 0o644); err != nil {
			return 0, fmt.Errorf("%s cannot be written, choose another place: %w", name, reason.Of(err))
		}
	}
	return len(all), nil
}

// pageName is how man calls a verb: goliathfs-memory-show.
func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manualPage is the page of a verb in the language of man.
func manualPage(c *cobra.Command) []byte {
	var b bytes.Buffer
	c.InitDefaultHelpFlag()
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"goliathfs\" \"goliathfs\"\n", strings.ToUpper(pageName(c)))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(pageName(c)), roff(c.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(c.UseLine()))
	if c.Long != "" {
		b.WriteString(".SH DESCRIPTION\n")
		for line := range strings.SplitSeq(c.Long, "\n") {
			if line == "" {
				b.WriteString(".PP\n")
				continue
			}
			fmt.Fprintf(&b, "%s\n", roff(line))
		}
	}
	if c.HasAvailableLocalFlags() {
		b.WriteString(".SH OPTIONS\n")
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { manualFlag(&b, f) })
	}
	if c.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(c.Example))
	}
	var others []string
	if c.HasParent() {
		others = append(others, pageName(c.Parent()))
	}
	for _, below := range c.Commands() {
		if !below.Hidden && below.Name() != "help" {
			others = append(others, pageName(below))
		}
	}
	b.WriteString(".SH SEE ALSO\n")
	for i, name := range others {
		end := ","
		if i == len(others)-1 {
			end = ""
		}
		fmt.Fprintf(&b, ".BR %s (1)%s\n", roff(name), end)
	}
	return b.Bytes()
}

func manualFlag(b *bytes.Buffer, f *pflag.Flag) {
	if f.Hidden {
		return
	}
	value, usage := pflag.UnquoteUsage(f)
	names := `\fB` + roff("--"+f.Name) + `\fR`
	if f.Shorthand != "" {
		names = `\fB` + roff("-"+f.Shorthand) + `\fR, ` + names
	}
	if value != "" {
		names += ` \fI` + roff(value) + `\fR`
	}
	fmt.Fprintf(b, ".TP\n%s\n%s", names, roff(usage))
	if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" && f.DefValue != "0" && f.DefValue != "0s" {
		fmt.Fprintf(b, " (%s when not given)", roff(f.DefValue))
	}
	b.WriteString("\n")
}

// roff writes text so that man takes it as it is: a dot or a quote at the beginning of a
// line would be a command.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
