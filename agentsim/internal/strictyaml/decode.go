package strictyaml

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Enum is implemented by a string type that takes only some values.
type Enum interface{ Allowed() []string }

// Many is implemented by a slice type that may be given as its only item, without
// the brackets.
type Many interface{ OneOrMany() }

// Short is implemented by a struct, by its pointer, that may be given as one text
// in place of its names.
type Short interface{ SetText(text string) }

// Validator is implemented by a decoded struct with rules of its own. Its error
// is reported at the struct's place unless it is an *Error already.
type Validator interface{ Validate() error }

// maxDepth bounds nesting, so that no input exhausts the stack.
const maxDepth = 64

type decoder struct {
	file      string
	firstLine int
}

func (d *decoder) parse(src []byte) (body ast.Node, err error) {
	// The parser is third-party code that is fed arbitrary files here; one that
	// breaks it must not take the other scenarios down.
	defer func() {
		if r := recover(); r != nil {
			body, err = nil, d.at(1, 1).Errorf("this is not YAML: the parser gave up on it (%v)", r)
		}
	}()
	f, err := parser.ParseBytes(src, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, d.syntaxError(err)
	}
	for _, doc := range f.Docs {
		if doc.Body == nil {
			continue
		}
		if body != nil {
			return nil, d.pos(doc.GetToken()).Errorf("a second document is not allowed here, keep one")
		}
		body = doc.Body
	}
	if body == nil {
		return nil, d.at(1, 1).Errorf("there is nothing in it, start with \"version: 1\"")
	}
	return body, nil
}

// deepLine returns the line at which flow brackets or indentation nest too deep
// for the parser, which recurses, or 0.
func deepLine(src []byte) int {
	open, line, indent, start := 0, 1, 0, true
	for _, c := range src {
		switch c {
		case '\n':
			line, indent, start = line+1, 0, true
			continue
		case ' ', '-', '?':
			if start {
				indent++
			}
		case '[', '{':
			open, start = open+1, false
		case ']', '}':
			open, start = max(0, open-1), false
		default:
			start = false
		}
		// Brackets inside texts count too; a text with a thousand unmatched ones is
		// refused with the rest.
		if open > 16*maxDepth || indent > 16*maxDepth && c != ' ' {
			return line
		}
	}
	return 0
}

func (d *decoder) at(line, column int) Pos { return Pos{d.file, d.firstLine + line - 1, column} }

func (d *decoder) pos(t *token.Token) Pos {
	if t == nil || t.Position == nil {
		return d.at(1, 1)
	}
	return d.at(t.Position.Line, t.Position.Column)
}

var (
	posType = reflect.TypeFor[Pos]()
	rawType = reflect.TypeFor[json.RawMessage]()
)

func (d *decoder) value(n ast.Node, v reflect.Value, depth int) error {
	if depth > maxDepth {
		return d.pos(n.GetToken()).Errorf("this is nested more than %d deep", maxDepth)
	}
	if v.Type() == rawType {
		raw, err := d.json(n, depth)
		v.SetBytes(raw)
		return err
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		return d.value(n, v.Elem(), depth)
	}
	switch v.Kind() {
	case reflect.Struct:
		if short, ok := v.Addr().Interface().(Short); ok {
			if done, err := d.short(n, v, short); done {
				return err
			}
		}
		return d.structure(n, []reflect.Value{v}, depth)
	case reflect.Map:
		return d.mapping(n, v, depth)
	case reflect.Slice:
		return d.list(n, v, depth)
	}
	return d.scalar(n, v)
}

// pairs returns the entries of a mapping, whose names must differ. The parser
// could check that, but counts lines from where the YAML begins.
func (d *decoder) pairs(n ast.Node) ([]*ast.MappingValueNode, error) {
	var pairs []*ast.MappingValueNode
	switch m := n.(type) {
	case *ast.MappingNode:
		pairs = m.Values
	case *ast.MappingValueNode:
		pairs = append(pairs, m)
	default:
		return nil, d.pos(n.GetToken()).Errorf("names with values belong here, not %s", kindOf(n))
	}
	seen := make(map[string]bool, len(pairs))
	for _, p := range pairs {
		name, err := d.key(p)
		if err != nil {
			return nil, err
		}
		if seen[name] {
			return nil, d.pos(p.Key.GetToken()).Errorf("%q is given twice", name)
		}
		seen[name] = true
	}
	return pairs, nil
}

func (d *decoder) key(p *ast.MappingValueNode) (string, error) {
	switch k := p.Key.(type) {
	case *ast.StringNode:
		return k.Value, nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return k.GetToken().Value, nil
	}
	return "", d.pos(p.Key.GetToken()).Errorf("a name must be a plain or quoted text, not %s", kindOf(p.Key))
}

// short fills a struct from the text that stands for it.
func (d *decoder) short(n ast.Node, v reflect.Value, short Short) (done bool, err error) {
	s, ok := text(n)
	if !ok {
		return false, nil
	}
	pos := d.pos(n.GetToken())
	if err := decimal(n); err != nil {
		return true, pos.Errorf("%v", err)
	}
	for i := range v.NumField() {
		if v.Type().Field(i).Type == posType {
			v.Field(i).Set(reflect.ValueOf(pos))
		}
	}
	short.SetText(s)
	return true, d.validate(v, pos)
}

// structure fills structs from one mapping.
func (d *decoder) structure(n ast.Node, structs []reflect.Value, depth int) error {
	pairs, err := d.pairs(n)
	if err != nil {
		return err
	}
	pos := d.pos(n.GetToken())
	if len(pairs) > 0 {
		pos = d.pos(pairs[0].Key.GetToken())
	}
	fields := map[string]reflect.Value{}
	var names []string
	for _, v := range structs {
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.Type == posType {
				v.Field(i).Set(reflect.ValueOf(pos))
			}
			if name := f.Tag.Get("yaml"); name != "" {
				fields[name] = v.Field(i)
				names = append(names, name)
			}
		}
	}
	for _, p := range pairs {
		name, err := d.key(p)
		if err != nil {
			return err
		}
		field, ok := fields[name]
		if !ok {
			return d.pos(p.Key.GetToken()).Errorf("%q is not a name that is known here; allowed are %s", name, strings.Join(names, ", "))
		}
		if err := d.value(p.Value, field, depth+1); err != nil {
			return err
		}
	}
	for _, v := range structs {
		if err := d.validate(v, pos); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) validate(v reflect.Value, pos Pos) error {
	check, ok := v.Addr().Interface().(Validator)
	if !ok {
		return nil
	}
	return pos.At(check.Validate())
}

func (d *decoder) mapping(n ast.Node, v reflect.Value, depth int) error {
	pairs, err := d.pairs(n)
	if err != nil {
		return err
	}
	v.Set(reflect.MakeMapWithSize(v.Type(), len(pairs)))
	for _, p := range pairs {
		name, err := d.key(p)
		if err != nil {
			return err
		}
		key := reflect.ValueOf(name).Convert(v.Type().Key())
		elem := reflect.New(v.Type().Elem()).Elem()
		if err := d.value(p.Value, elem, depth+1); err != nil {
			return err
		}
		v.SetMapIndex(key, elem)
	}
	return nil
}

func (d *decoder) list(n ast.Node, v reflect.Value, depth int) error {
	seq, ok := n.(*ast.SequenceNode)
	if _, one := v.Interface().(Many); one && !ok {
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		return d.value(n, v.Index(0), depth)
	}
	if !ok {
		return d.pos(n.GetToken()).Errorf("a list belongs here, not %s", kindOf(n))
	}
	v.Set(reflect.MakeSlice(v.Type(), len(seq.Values), len(seq.Values)))
	for i, item := range seq.Values {
		if err := d.value(item, v.Index(i), depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) scalar(n ast.Node, v reflect.Value) error {
	pos := d.pos(n.GetToken())
	switch v.Kind() {
	case reflect.Bool:
		b, ok := n.(*ast.BoolNode)
		if !ok {
			return pos.Errorf("true or false belongs here, not %s", kindOf(n))
		}
		v.SetBool(b.Value)
	case reflect.Int:
		i, err := wholeNumber(n)
		if err != nil {
			return pos.Errorf("%v", err)
		}
		v.SetInt(i)
	case reflect.String:
		s, ok := text(n)
		if e, isEnum := v.Interface().(Enum); isEnum && !(ok && slices.Contains(e.Allowed(), s)) {
			return pos.Errorf("%s is not a value that is known here; allowed are %s", strings.TrimPrefix(kindOf(n), "the text "), strings.Join(e.Allowed(), ", "))
		}
		if _, null := n.(*ast.NullNode); null {
			return pos.Errorf("a text belongs here, not nothing; write \"\" for an empty one")
		}
		if !ok {
			return pos.Errorf("a text belongs here, not %s; put it in double quotes if it is meant as text", kindOf(n))
		}
		if err := decimal(n); err != nil {
			return pos.Errorf("%v", err)
		}
		v.SetString(s)
	default:
		panic(fmt.Sprintf("strictyaml: a field of type %s cannot be decoded", v.Type())) // a programming error
	}
	return nil
}

func wholeNumber(n ast.Node) (int64, error) {
	if _, ok := n.(*ast.IntegerNode); !ok {
		return 0, fmt.Errorf("a whole number belongs here, not %s", kindOf(n))
	}
	if err := decimal(n); err != nil {
		return 0, err
	}
	written := n.GetToken().Value
	number, err := strconv.ParseInt(written, 10, 0)
	if err != nil {
		return 0, fmt.Errorf("the number %s is too large", written)
	}
	return number, nil
}

// text returns the text of a node that is one.
func text(n ast.Node) (string, bool) {
	switch s := n.(type) {
	case *ast.StringNode:
		return s.Value, true
	case *ast.LiteralNode:
		return s.Value.Value, true
	}
	return "", false
}

func kindOf(n ast.Node) string {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "names with values"
	case *ast.SequenceNode:
		return "a list"
	case *ast.StringNode, *ast.LiteralNode:
		return fmt.Sprintf("the text %q", n.GetToken().Value)
	case *ast.NullNode:
		return "nothing"
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode:
		return n.GetToken().Value
	case *ast.AnchorNode, *ast.AliasNode:
		return "an anchor or alias"
	case *ast.TagNode:
		return "a tag"
	}
	return "a " + strings.ToLower(n.Type().String())
}
