package agentsim

import (
	"github.com/goliathfs/goliathfs/agentsim/internal/calls"
	"github.com/goliathfs/goliathfs/agentsim/internal/library"
	"github.com/goliathfs/goliathfs/agentsim/internal/replay"
	"github.com/goliathfs/goliathfs/agentsim/internal/scenario"
	"github.com/goliathfs/goliathfs/agentsim/internal/turns"
	"github.com/goliathfs/goliathfs/internal/regular"
)

// Scenario is one loaded scenario. It is not changed by a replay, so one can be
// replayed many times and at the same time.
type Scenario struct {
	Path        string // the file it was loaded from
	Name        string // area/name, without the extension
	Description string // the archive's comment, without space around it

	read   *scenario.Scenario
	script replay.Script
}

// Kind is a kind of scenario beside calls and turns: it reads its part of
// scenario.yaml, runs it, and fills the transcript. A package that brings one
// along says how it is made; it is handed to Load, Parse and Runner.
type Kind = replay.Kind

// Location is where a scenario is and where its golden belongs.
type Location struct {
	Path   string // the scenario's file
	Name   string // area/name
	Golden string // the golden's file
}

// Find returns the scenarios at the given paths, in order of their names: files
// as they are, directories with all .txtar files below them. Below a directory
// "scenarios" a name is the path from there and the golden is in "golden" beside
// that directory; elsewhere the name is the path from the one given, and the
// golden is in "golden" there. With goldenDir, all goldens are in that. It is an
// error when a path has none, and when two scenarios would share a golden.
func Find(goldenDir string, paths ...string) ([]Location, error) {
	found, err := library.Find(goldenDir, paths...)
	return locations(found), err
}

func locations(found []library.Location) []Location {
	var out []Location
	for _, l := range found {
		out = append(out, Location(l))
	}
	return out
}

// Load reads the scenario in the file at path. The YAML is read strictly: an
// unknown name, a value of the wrong type or one that is not among the allowed
// ones is an error that names file, line, column and what is allowed. The
// scenario's Name is area/name as Find would give it. It may be of one of the
// kinds beside calls and turns.
func Load(path string, kinds ...Kind) (*Scenario, error) {
	return Location(library.Locate(path)).Load(kinds...)
}

// Load reads the scenario at the location.
func (l Location) Load(kinds ...Kind) (*Scenario, error) {
	data, err := regular.Read(l.Path)
	if err != nil {
		return nil, library.Unread(l.Path, err)
	}
	return Parse(l.Path, l.Name, data, kinds...)
}

// Parse reads a scenario from memory. The file is named in errors only.
func Parse(file, name string, data []byte, kinds ...Kind) (*Scenario, error) {
	var scripts []replay.Script
	var parts []scenario.Part
	for _, kind := range append([]Kind{turns.New, calls.New}, kinds...) {
		script := kind()
		scripts, parts = append(scripts, script), append(parts, script)
	}
	read, kind, err := scenario.Read(file, name, data, parts...)
	if err != nil {
		return nil, err
	}
	return &Scenario{Path: read.Path, Name: read.Name, Description: read.Description, read: read, script: scripts[kind]}, nil
}
