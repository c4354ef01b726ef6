package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/lastfailed"
)

// lastFailed returns the list of what failed last, and selects from it if that
// is asked for. Without a place for it, there is none.
func (o *replayOptions) lastFailed() (lastfailed.File, error) {
	var file lastfailed.File
	cache, err := os.UserCacheDir()
	if err == nil {
		file, err = lastfailed.In(cache)
	}
	if !o.failed {
		return file, nil // it is a help: a replay does without
	}
	if err == nil {
		o.runner.Only, err = file.Read()
	}
	if err != nil {
		return file, fmt.Errorf("what failed last is not known: %w", err)
	}
	failed := o.runner.Only
	o.runner.Only = nil
	found, err := o.runner.List()
	if err != nil {
		return file, withNames(err)
	}
	for _, l := range found {
		if path, err := filepath.Abs(l.Path); err == nil && slices.Contains(failed, path) {
			o.runner.Only = append(o.runner.Only, path)
		}
	}
	return file, nil
}

// notingReporter notes which scenarios failed.
type notingReporter struct {
	agentsim.Reporter
	failed map[string]bool // by full path
}

// Report implements agentsim.Reporter.
func (n *notingReporter) Report(res agentsim.Result) {
	n.Reporter.Report(res)
	path, err := filepath.Abs(res.Location.Path)
	if _, statErr := os.Stat(path); err != nil || statErr != nil || res.Status == agentsim.Skipped {
		return // a golden without a scenario, or one of which nothing new is known
	}
	n.failed[path] = res.Status == agentsim.Failed || res.Status == agentsim.Differs
}
