package agenttool

import (
	"errors"
	"fmt"

	"github.com/goliathfs/goliathfs/vfs"
)

// Code is the stable name of a tool error, for programs and for models.
type Code string

// The codes. CodeNotApproved is for harnesses: no tool returns it by itself.
const (
	CodeNotFound        Code = "not-found"
	CodeConflict        Code = "conflict"
	CodeReadOnly        Code = "read-only"
	CodeOutsideRoot     Code = "outside-root"
	CodeInvalidPath     Code = "invalid-path"
	CodeInvalidArgument Code = "invalid-argument"
	CodeInvalidCursor   Code = "invalid-cursor"
	CodeStaleCursor     Code = "stale-cursor"
	CodeBudgetTooSmall  Code = "budget-too-small"
	CodeTooLarge        Code = "too-large"
	CodeNotText         Code = "not-text"
	CodeNoMatch         Code = "no-match"
	CodeAmbiguousMatch  Code = "ambiguous-match"
	CodeNotApproved     Code = "not-approved"
	CodeCanceled        Code = "canceled"
	CodeStore           Code = "store"
)

// Error is the error of every call. Message is one sentence that says what was
// refused and what the model can do next.
type Error struct {
	Code    Code
	Message string
	Err     error // the cause, or nil
}

// Error returns code and message: what the model is shown.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of an error of this package or of package vfs, "" for
// nil.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return Code(vfs.Code(err))
}

func refuse(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}
