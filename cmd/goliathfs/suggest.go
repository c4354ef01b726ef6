package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// nearFlags returns the flags of a verb that a mistyped name may mean, written with their
// dashes: those that it is the beginning of, else those that differ least.
func nearFlags(cmd *cobra.Command, name string) []string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	var near []string
	for _, n := range nearest(name, names) {
		near = append(near, "--"+n)
	}
	return near
}

// mostMeant is how many names a message offers in place of a mistyped one.
const mostMeant = 3

// nearest returns the names that a mistyped one may mean.
func nearest(typed string, names []string) []string {
	if len(typed) < 2 {
		return nil
	}
	var near []string
	least := len(typed)/3 + 1 // of as many mistakes anything could be meant
	for _, name := range names {
		cost := mistakes(typed, name)
		switch {
		case strings.HasPrefix(name, typed):
			cost = 0 // it was cut short
		case strings.HasPrefix(typed, name) && len(name) > 1:
			cost = min(cost, 2)
		}
		switch {
		case cost < least || cost == least && near == nil:
			near, least = []string{name}, cost
		case cost == least:
			near = append(near, name)
		}
	}
	if slices.Sort(near); len(near) > mostMeant {
		return nil
	}
	return near
}

// mistakes is how many letters must be put in, left out, changed, or swapped with their
// neighbour, to make one name of another.
func mistakes(a, b string) int {
	var before, last, row []int // of two letters before, of the letter before, and of this one
	for j := range len(b) + 1 {
		last = append(last, j)
	}
	for i := range len(a) {
		row = []int{i + 1}
		for j := range len(b) {
			change := 1
			if a[i] == b[j] {
				change = 0
			}
			cost := min(last[j+1]+1, row[j]+1, last[j]+change)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				cost = min(cost, before[j-1]+1)
			}
			row = append(row, cost)
		}
		before, last = last, row
	}
	return last[len(b)]
}

// unknownVerb is the error of a verb that there is not.
func unknownVerb(cmd *cobra.Command, name string) error {
	if near := nearVerbs(cmd, name); len(near) > 0 {
		return usagef("there is no verb %q, did you mean %s?", name, strings.Join(near, " or "))
	}
	return usagef("there is no verb %q, goliathfs --help lists them", name)
}

// nearVerbs returns the verbs below a command that a mistyped or a customary name may
// mean.
func nearVerbs(cmd *cobra.Command, name string) []string {
	var names []string
	for _, verb := range cmd.Commands() {
		if slices.Contains(verb.SuggestFor, name) {
			return []string{verb.Name()}
		}
		if verb.IsAvailableCommand() {
			names = append(names, verb.Name())
		}
	}
	return nearest(name, names)
}
