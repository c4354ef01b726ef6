package main

import (
	"io"
	"strings"
	"testing"
)

// Who mistypes a verb or a flag is told the ones that can be meant, and no others.
func TestSuggestions(t *testing.T) {
	for line, want := range map[string]string{
		"lss":                           `there is no verb "lss", did you mean ls?`,
		"umount x":                      `did you mean unmount?`,
		"remove mem: /x":                `did you mean rm?`,
		"help demmo":                    `did you mean demo?`,
		"memory shwo mem:":              `"shwo" is neither a store nor a verb of memory, did you mean show?`,
		"frobnicate":                    `there is no verb "frobnicate", goliathfs --help lists them`,
		"x":                             `there is no verb "x", goliathfs --help lists them`,
		"call --sotre mem: grep {}":     `unknown flag: --sotre, did you mean --store?`,
		"ls --jsno mem:":                `did you mean --json?`,
		"grep --ignorecase x mem:":      `did you mean --ignore-case?`,
		"replay --run-agent":            `did you mean --run-agents?`,
		"replay --up":                   `did you mean --update?`,
		"serve --token f mem:":          `did you mean --token-file?`,
		"copy --nothing-like-it mem: x": `unknown flag: --nothing-like-it, goliathfs copy --help lists what it takes`,
		"ls --j mem:":                   `unknown flag: --j, goliathfs ls --help lists what it takes`,
	} {
		root := newRoot()
		root.SetArgs(strings.Fields(line))
		root.SetOut(io.Discard)
		root.SetErr(io.Discard)
		if err := root.ExecuteContext(t.Context()); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}

func TestMistakes(t *testing.T) {
	for pair, want := range map[[2]string]int{
		{"store", "store"}: 0, {"sotre", "store"}: 1, {"stroe", "store"}: 1, {"stor", "store"}: 1, {"storee", "store"}: 1,
		{"stere", "store"}: 1, {"", "ab"}: 2, {"ab", ""}: 2, {"abc", "cba"}: 2, {"ca", "abc"}: 3,
	} {
		if got := mistakes(pair[0], pair[1]); got != want {
			t.Errorf("%q and %q: %d, want %d", pair[0], pair[1], got, want)
		}
	}
}
