package vpath

import "strings"

// Aside returns the name under which a file shows where a directory has its
// name: "a" becomes "a@file", with more "@" until the name is not taken.
func Aside(name string, taken func(string) bool) string { return marked(name, "file", taken) }

// Held returns the name under which something shows whose own name would make a
// program take it for what it is not: ".git" becomes ".git@held", see OfRepository.
func Held(name string, taken func(string) bool) string { return marked(name, "held", taken) }

func marked(name, mark string, taken func(string) bool) string {
	for ats := "@"; ; ats += "@" {
		if shown := name + ats + mark; !taken(shown) {
			return shown
		}
	}
}

// AsideOf returns the name that Aside or Held was given for this result, and false
// when it can be a result of neither.
func AsideOf(shown string) (string, bool) {
	rest, ok := strings.CutSuffix(shown, "@file")
	if !ok {
		rest, ok = strings.CutSuffix(shown, "@held")
	}
	if !ok {
		return "", false
	}
	name := strings.TrimRight(rest, "@")
	return name, name != ""
}
