package blackbox

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// leftBehind returns the processes of a group, and those that hold the token in
// their environment. One that has ended and is not collected yet is none.
func leftBehind(group int, token string) []int {
	var left []int
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well formed
	mark := []byte(runVariable + "=" + token)
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || pid == os.Getpid() {
			continue
		}
		state, pgid, ok := statOf(dir)
		if !ok || state == "Z" || state == "X" {
			continue
		}
		env, _ := os.ReadFile(filepath.Join(dir, "environ")) // of another user's process it cannot be read
		if pgid == group || slices.ContainsFunc(bytes.Split(env, []byte{0}), func(v []byte) bool { return bytes.Equal(v, mark) }) {
			left = append(left, pid)
		}
	}
	return left
}

// statOf reads the state and the group of a process.
func statOf(dir string) (state string, group int, ok bool) {
	data, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return "", 0, false
	}
	// The name stands in brackets and may hold any character.
	_, rest, found := strings.Cut(string(data[max(0, bytes.LastIndexByte(data, ')')):]), " ")
	fields := strings.Fields(rest)
	if !found || len(fields) < 3 {
		return "", 0, false
	}
	group, err = strconv.Atoi(fields[2])
	return fields[0], group, err == nil
}
