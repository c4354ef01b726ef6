package main

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"time"
)

// tellAgain is how long a note that helps a newcomer is not told again.
const tellAgain = 24 * time.Hour

// toldLately reports whether a note was told to this user, from this folder, not long ago,
// and keeps that it is now. Where that cannot be kept it is told each time.
func toldLately(note string) bool {
	dir, err := stateDir()
	if err != nil {
		return false
	}
	here, err := os.Getwd() // stores are named from here
	if err != nil {
		return false
	}
	dir = filepath.Join(dir, "told")
	sum := sha256.Sum256([]byte(here + "\x00" + note))
	name := filepath.Join(dir, hex.EncodeToString(sum[:16]))
	if info, err := os.Stat(name); err == nil && time.Since(info.ModTime()).Abs() < tellAgain {
		return true
	}
	if os.MkdirAll(dir, 0o700) != nil {
		return false
	}
	entries, _ := os.ReadDir(dir) // what cannot be listed stays
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) >= tellAgain {
			_ = os.Remove(filepath.Join(dir, e.Name())) // it says nothing any more
		}
	}
	_ = os.WriteFile(name, nil, 0o600) // else it is told once more
	return false
}
