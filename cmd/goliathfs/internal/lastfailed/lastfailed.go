// Package lastfailed keeps which scenarios failed when they were replayed last
// from a directory, in the user's cache, so that they can be replayed alone.
package lastfailed

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// File is where the list of a directory is kept; "" keeps none.
type File string

// In returns the file of the working directory, below the user's cache.
func In(cache string) (File, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(dir))
	return File(filepath.Join(cache, "goliathfs", "replay", hex.EncodeToString(sum[:8])+".json")), nil
}

type content struct {
	Failed []string `json:"failed"` // full paths of scenarios, in order
}

// Read returns the scenarios that failed, none if nothing was kept. A list that
// cannot be read is an error.
func (f File) Read() ([]string, error) {
	data, err := os.ReadFile(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var c content
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, fmt.Errorf("%s is no list of scenarios, remove it: %w", f, err)
	}
	return c.Failed, nil
}

// Note keeps how scenarios went: failed by full path. Those that it does not
// name stay as they were.
func (f File) Note(failed map[string]bool) error {
	if f == "" {
		return nil
	}
	before, err := f.Read()
	if err != nil {
		before = nil // it is written anew
	}
	now := map[string]bool{}
	for _, path := range before {
		now[path] = true
	}
	for path, bad := range failed {
		if now[path] = bad; !bad {
			delete(now, path)
		}
	}
	after := slices.Sorted(maps.Keys(now))
	if err == nil && slices.Equal(before, after) {
		return nil
	}
	data, err := json.MarshalIndent(content{after}, "", "  ")
	if err != nil {
		return err
	}
	return f.write(append(data, '\n'))
}

// write replaces the file in one step, since another replay may read it.
func (f File) write(data []byte) error {
	dir := filepath.Dir(string(f))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, "failed.*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(data)
	if closeErr := tmp.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), string(f))
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return nil
}
