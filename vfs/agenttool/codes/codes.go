// Package codes names the errors of the agent tools for programs and for models:
// each stands in front of the sentence that a model is shown, in scenarios, and
// in what the command prints. They are stable: one may be added, none is renamed.
package codes

// Code is the stable name of a tool error; "" is no error.
type Code string

// The codes.
const (
	NotFound        Code = "not-found"
	Conflict        Code = "conflict" // the file is at another revision than was given
	ReadOnly        Code = "read-only"
	OutsideRoot     Code = "outside-root"
	InvalidPath     Code = "invalid-path"
	InvalidArgument Code = "invalid-argument"
	InvalidCursor   Code = "invalid-cursor" // altered, or of another query
	StaleCursor     Code = "stale-cursor"   // the file that it is inside changed
	BudgetTooSmall  Code = "budget-too-small"
	TooLarge        Code = "too-large"
	NotText         Code = "not-text"
	NoMatch         Code = "no-match"        // the text to replace does not occur
	AmbiguousMatch  Code = "ambiguous-match" // it occurs more than once
	NotApproved     Code = "not-approved"    // for harnesses: no tool returns it by itself
	Canceled        Code = "canceled"
	Store           Code = "store" // the store itself failed
)

// All returns every code.
func All() []Code {
	return []Code{
		NotFound, Conflict, ReadOnly, OutsideRoot, InvalidPath, InvalidArgument, InvalidCursor, StaleCursor,
		BudgetTooSmall, TooLarge, NotText, NoMatch, AmbiguousMatch, NotApproved, Canceled, Store,
	}
}
