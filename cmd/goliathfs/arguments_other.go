//go:build !unix

package main

// overwrite does nothing: here other users do not see the arguments of a process.
func overwrite(string, string) {}
