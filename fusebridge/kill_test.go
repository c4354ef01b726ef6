//go:build linux

package fusebridge_test

func serveUntilKilled(string) {}
func mapOnDemand(string)      {}
