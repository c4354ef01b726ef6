package main

import (
	"fmt"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/database"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/hostpath"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
)

// found is what check prints as JSON of a problem.
type found struct {
	Store string `json:"store,omitempty"`
	database.Problem
}

// filePath is a path in a namespace.
type filePath struct{ namespace, path string }

// checkReport prints problems and counts them.
type checkReport struct {
	out    *output
	asJSON bool
	named  map[filePath]bool // files with problems in the store being checked
	read   map[string]bool   // databases, by their real names

	problems, repaired, mendable int
	lost                         int
	unsure                       bool // more may be lost than can be counted
	files                        int
	entries                      int  // of journals
	stores, journals             bool // what there was to read
	bytes                        int64
	quarantine                   string // where replaced things are kept, "" for none
}

// database notes that a database is being checked now. It is false for one that was
// checked before, in another of its namespaces.
func (r *checkReport) database(u storeurl.URL) bool {
	name := u.Target
	if u.OnHost() {
		name = hostpath.Real(name)
	}
	if r.read[name] {
		return false
	}
	if r.read == nil {
		r.read = map[string]bool{}
	}
	r.read[name] = true
	r.named = map[filePath]bool{}
	return true
}

func (r *checkReport) add(f found) {
	r.problems++
	if r.named != nil {
		r.named[filePath{f.Namespace, f.Path}] = true
	}
	if f.Lost {
		r.lost++
	}
	switch {
	case f.Repaired:
		r.repaired++
	case f.Mend != "" && !f.Lost:
		r.mendable++
	}
	if r.asJSON {
		r.out.JSON(f)
		return
	}
	r.out.Printf("%s: %s\n", f.where(), f.Text)
	switch {
	case f.Lost:
		r.out.Printf("    lost: %s\n", f.Mend)
	case f.Repaired:
		r.out.Printf("    --repair, done: %s\n", f.Mend)
	case f.Mend != "":
		r.out.Printf("    --repair: %s\n", f.Mend)
	}
}

func (f found) where() string {
	switch {
	case f.File != "":
		return printable(f.File)
	case f.Path == "":
		return "the database"
	case f.Namespace != "":
		return fmt.Sprintf("%s (namespace %s)", printable(f.Path), printable(f.Namespace))
	}
	return printable(f.Path)
}

// what is how much was read.
func (r *checkReport) what() string {
	files, entries := count(r.files, "file", "files"), count(r.entries, "entry", "entries")
	switch {
	case !r.journals:
		return files
	case !r.stores:
		return entries
	}
	return files + " and " + entries
}

// finish prints the sum. It returns errReported when something is still wrong.
func (r *checkReport) finish() error {
	if !r.asJSON {
		r.out.Printf("read %s (%s): %s", r.what(), count(int(r.bytes), "byte", "bytes"), count(r.problems, "problem", "problems"))
		if r.repaired > 0 {
			r.out.Printf(", %d repaired", r.repaired)
		}
		if r.lost > 0 {
			r.out.Printf(", %d lost", r.lost)
		}
		if r.mendable > 0 {
			r.out.Printf(", %d can be mended with --repair", r.mendable)
		}
		r.out.Printf("\n")
		if r.quarantine != "" {
			r.out.Printf("what was replaced is kept in %s\n", r.quarantine)
		}
	}
	if r.problems > r.repaired || r.unsure {
		return errReported
	}
	return r.out.Err()
}
