package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goliathfs/goliathfs/agentsim/internal/archive"
	"github.com/goliathfs/goliathfs/agentsim/internal/strictyaml"
	"github.com/goliathfs/goliathfs/internal/txtar"
)

// The names inside a scenario's archive.
const (
	SpecName   = "scenario.yaml"
	seedPrefix = "files/"
)

// Read reads a scenario from memory, and fills the part of its kind: parts[i]
// for the i that is returned. The file is named in errors only.
func Read(file, name string, data []byte, parts ...Part) (sc *Scenario, i int, err error) {
	comment, sections := txtar.Split(archive.Text(data))
	sc = &Scenario{Path: file, Name: name, Description: strings.TrimSpace(comment), Seeds: map[string]string{}}
	found := false
	for _, s := range sections {
		pos := strictyaml.Pos{File: file, Line: s.Line - 1, Column: 1}
		switch path, isSeed := strings.CutPrefix(s.Name, seedPrefix); {
		case s.Name == SpecName && found:
			return nil, 0, pos.Errorf("%s is given twice, keep one", SpecName)
		case s.Name == SpecName:
			found = true
			doc, err := strictyaml.Parse(file, s.Line, []byte(s.Text))
			if err != nil {
				return nil, 0, err
			}
			if i, err = sc.decode(doc, parts); err != nil {
				return nil, 0, err
			}
		case isSeed:
			if err := sc.seed(pos, "/"+path, s.Text); err != nil {
				return nil, 0, err
			}
		default:
			return nil, 0, pos.Errorf("%q is not a name that is known here; allowed are %s and %s<path of a seed>", s.Name, SpecName, seedPrefix)
		}
	}
	if !found {
		return nil, 0, strictyaml.Pos{File: file, Line: 1, Column: 1}.Errorf("there is no %s in this archive, add the line \"-- %s --\" and the scenario below it", SpecName, SpecName)
	}
	return sc, i, sc.plant()
}

// decode finds out which kind the document is of and fills what belongs to it.
func (sc *Scenario) decode(doc *strictyaml.Document, parts []Part) (int, error) {
	var keys, given []string
	kind := -1
	for i, p := range parts {
		keys = append(keys, p.Key())
		if slices.ContainsFunc(doc.Names, func(n strictyaml.Name) bool { return n.Text == p.Key() }) {
			given, kind = append(given, p.Key()), i
		}
	}
	if err := known(doc, sc, parts); err != nil {
		return 0, err
	}
	pos := doc.Names[0].Pos
	switch len(given) {
	case 0:
		return 0, pos.Errorf("a scenario needs one of %s, this has none of them", list(keys))
	case 1:
	default:
		return 0, pos.Errorf("a scenario needs one of %s, this has %s: make it %d scenarios", list(keys), list(given), len(given))
	}
	part := parts[kind]
	if err := strangers(doc, sc, part, parts); err != nil {
		return 0, err
	}
	if err := doc.Decode(&sc.Base, part); err != nil {
		return 0, err
	}
	return kind, pos.At(part.Check(&sc.Base))
}

// known refuses a name that belongs to no kind.
func known(doc *strictyaml.Document, sc *Scenario, parts []Part) error {
	names := strictyaml.NamesOf(&sc.Base)
	for _, p := range parts {
		for _, name := range strictyaml.NamesOf(p) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	for _, n := range doc.Names {
		if !slices.Contains(names, n.Text) {
			return n.Pos.Errorf("%q is not a name that is known here; allowed are %s", n.Text, strings.Join(names, ", "))
		}
	}
	return nil
}

// strangers refuses a name that belongs to another kind than the part's.
func strangers(doc *strictyaml.Document, sc *Scenario, part Part, parts []Part) error {
	own := append(strictyaml.NamesOf(&sc.Base), strictyaml.NamesOf(part)...)
	for _, n := range doc.Names {
		if slices.Contains(own, n.Text) {
			continue
		}
		var kinds []string
		for _, p := range parts {
			if slices.Contains(strictyaml.NamesOf(p), n.Text) {
				kinds = append(kinds, p.Key())
			}
		}
		return n.Pos.Errorf("%s belongs to a scenario with %s and means nothing beside %s, leave it out", n.Text, list(kinds), part.Key())
	}
	return nil
}

// list joins names as a sentence does.
func list(names []string) string {
	if n := len(names); n > 1 {
		return fmt.Sprintf("%s and %s", strings.Join(names[:n-1], ", "), names[n-1])
	}
	return strings.Join(names, "")
}
