package codes_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
)

// All leaves out none of the constants, and no two are spelled alike.
func TestAll(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "codes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var declared []codes.Code
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		for _, v := range spec.Values {
			text, err := strconv.Unquote(v.(*ast.BasicLit).Value)
			if err != nil {
				t.Error(err)
			}
			declared = append(declared, codes.Code(text))
		}
		return true
	})
	if diff := cmp.Diff(declared, codes.All()); diff != "" {
		t.Errorf("-declared +All\n%s", diff)
	}
	seen := map[codes.Code]bool{}
	for _, c := range codes.All() {
		if seen[c] || c == "" {
			t.Errorf("%q twice, or empty", c)
		}
		seen[c] = true
	}
}
