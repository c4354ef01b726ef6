package vpath

import "strings"

// Aside returns the name under which a file shows where a directory has its
// name: "a" becomes "a@file", with more "@" until the name is not taken.
func Aside(name string, taken func(string) bool) string {
	for ats := "@"; ; ats += "@" {
		if aside := name + ats + "file"; !taken(aside) {
			return aside
		}
	}
}

// AsideOf returns the name that Aside was given for this result, and false when
// it cannot be a result of Aside.
func AsideOf(aside string) (string, bool) {
	rest, ok := strings.CutSuffix(aside, "@file")
	if !ok {
		return "", false
	}
	name := strings.TrimRight(rest, "@")
	return name, name != ""
}
