package strictyaml

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/goccy/go-yaml/ast"
)

// json renders a node as compact JSON that keeps the order of its names.
func (d *decoder) json(n ast.Node, depth int) (json.RawMessage, error) {
	var b bytes.Buffer
	err := d.appendJSON(&b, n, depth)
	return b.Bytes(), err
}

func (d *decoder) appendJSON(b *bytes.Buffer, n ast.Node, depth int) error {
	pos := d.pos(n.GetToken())
	if depth > maxDepth {
		return pos.Errorf("this is nested more than %d deep", maxDepth)
	}
	switch v := n.(type) {
	case *ast.NullNode:
		b.WriteString("null")
	case *ast.BoolNode:
		fmt.Fprint(b, v.Value)
	case *ast.IntegerNode, *ast.FloatNode:
		if err := decimal(v); err != nil {
			return pos.Errorf("%v", err)
		}
		b.WriteString(v.GetToken().Value)
	case *ast.StringNode, *ast.LiteralNode:
		if err := decimal(v); err != nil {
			return pos.Errorf("%v", err)
		}
		s, _ := text(n)
		appendText(b, s)
	case *ast.SequenceNode:
		b.WriteByte('[')
		for i, item := range v.Values {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := d.appendJSON(b, item, depth+1); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	case *ast.MappingNode, *ast.MappingValueNode:
		return d.appendObject(b, n, depth)
	default:
		return pos.Errorf("%s cannot stand here, write the value itself", kindOf(n))
	}
	return nil
}

func (d *decoder) appendObject(b *bytes.Buffer, n ast.Node, depth int) error {
	pairs, err := d.pairs(n)
	if err != nil {
		return err
	}
	b.WriteByte('{')
	for i, p := range pairs {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := d.key(p)
		if err != nil {
			return err
		}
		appendText(b, name)
		b.WriteByte(':')
		if err := d.appendJSON(b, p.Value, depth+1); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

// appendText writes a JSON string without the escapes that only HTML needs.
func appendText(b *bytes.Buffer, s string) {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes, and a Buffer takes it
	b.Truncate(b.Len() - 1)
}
