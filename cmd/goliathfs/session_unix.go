//go:build unix

package main

import "syscall"

// canDetach reports whether this system lets a program go on without its
// terminal.
const canDetach = true

// ownSession keeps a child from the signals of the terminal that started it.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
