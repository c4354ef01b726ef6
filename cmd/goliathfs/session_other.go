//go:build !unix

package main

import "syscall"

// canDetach reports whether this system lets a program go on without its
// terminal.
const canDetach = false

func ownSession() *syscall.SysProcAttr { return nil }
