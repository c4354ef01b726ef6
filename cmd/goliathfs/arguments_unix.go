//go:build unix

package main

import "unsafe"

// overwrite puts a shorter text in the place of an argument of the process. On Unix the
// runtime makes its arguments of the memory that the system shows of a process, which is
// there to be written to; nobody else may hold arg afterwards.
func overwrite(arg, with string) {
	shown := unsafe.Slice(unsafe.StringData(arg), len(arg))
	n := copy(shown, with)
	clear(shown[n:])
}
