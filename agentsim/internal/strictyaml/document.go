package strictyaml

import (
	"bytes"
	"reflect"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
)

// Document is one document, parsed and not yet decoded. Who has to look at its
// names before it can say what it decodes to begins with one.
type Document struct {
	d    *decoder
	body ast.Node
	// Names are those of the document itself, in order, and none deeper.
	Names []Name
}

// Name is a name that a document gives.
type Name struct {
	Text string
	Pos  Pos
}

// Parse reads src, whose first line is line firstLine of file: a mapping whose
// names differ. Every error is an *Error.
func Parse(file string, firstLine int, src []byte) (*Document, error) {
	src = bytes.TrimPrefix(src, []byte("\ufeff")) // some editors begin a text with it
	d := &decoder{file, firstLine}
	if !utf8.Valid(src) {
		return nil, d.at(1, 1).Errorf("this is not valid UTF-8")
	}
	if line := deepLine(src); line > 0 {
		return nil, d.at(line, 1).Errorf("this is nested more than %d deep", maxDepth)
	}
	body, err := d.parse(src)
	if err != nil {
		return nil, err
	}
	pairs, err := d.pairs(body)
	if err != nil {
		return nil, err
	}
	doc := &Document{d: d, body: body}
	for _, p := range pairs {
		name, err := d.key(p)
		if err != nil {
			return nil, err
		}
		doc.Names = append(doc.Names, Name{name, d.pos(p.Key.GetToken())})
	}
	return doc, nil
}

// Decode fills the structs that the targets point to, each with the names that
// it has a field for. A name that none has is an error. Every error is an
// *Error.
func (doc *Document) Decode(targets ...any) error {
	values := make([]reflect.Value, len(targets))
	for i, v := range targets {
		values[i] = reflect.ValueOf(v).Elem()
	}
	return doc.d.structure(doc.body, values, 0)
}

// Decode fills the struct that v points to from src, whose first line is line
// firstLine of file. Fields are matched by their yaml tag; a field without one
// is not decoded. Every error is an *Error.
func Decode(file string, firstLine int, src []byte, v any) error {
	doc, err := Parse(file, firstLine, src)
	if err != nil {
		return err
	}
	return doc.Decode(v)
}

// NamesOf returns the names that the struct v points to has fields for.
func NamesOf(v any) []string {
	var names []string
	t := reflect.TypeOf(v).Elem()
	for i := range t.NumField() {
		if name := t.Field(i).Tag.Get("yaml"); name != "" {
			names = append(names, name)
		}
	}
	return names
}
