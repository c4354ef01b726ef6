package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// waysOut are the places in which the command reaches a stream of the process past
// the screen that shows names and texts of others without what a terminal would act
// on. Each must make visible itself what it shows of others.
var waysOut = []string{
	"colour.go: unscreened",       // its own colours, around texts made visible
	"main.go: os.Stderr",          // gets its screen
	"main.go: os.Stdout",          // gets its screen
	"matchprinter.go: unscreened", // its own colours, around texts made visible
	"program.go: unscreened",      // for the programs of the user that it starts
	"progress.go: unscreened",     // takes its display away, and shows numbers
	"record.go: unscreened",       // for the agent that it starts
	"terminal.go: unscreened",     // asks whether it is a terminal
}

// TestWaysOut: no verb writes to the terminal by another way than those above.
func TestWaysOut(t *testing.T) {
	var found []string
	files := token.NewFileSet()
	err := filepath.WalkDir(".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(files, name, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if way := wayOut(n); way != "" {
				found = append(found, fmt.Sprintf("%s: %s", filepath.ToSlash(name), way))
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	if diff := cmp.Diff(waysOut, slices.Compact(found)); diff != "" {
		t.Errorf("ways to the terminal (-known +found):\n%s", diff)
	}
}

// wayOut returns what in a piece of code may write past the screen, "" for nothing.
func wayOut(n ast.Node) string {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		pkg, ok := n.X.(*ast.Ident)
		if !ok {
			return ""
		}
		name := pkg.Name + "." + n.Sel.Name
		if name == "os.Stdout" || name == "os.Stderr" || pkg.Name == "fmt" && strings.HasPrefix(n.Sel.Name, "Print") || name == "os.NewFile" {
			return name
		}
	case *ast.CallExpr:
		if f, ok := n.Fun.(*ast.Ident); ok && slices.Contains([]string{"println", "unscreened"}, f.Name) {
			return f.Name
		}
	case *ast.ImportSpec:
		if n.Path.Value == `"log"` {
			return n.Path.Value
		}
	case *ast.BasicLit:
		if n.Kind == token.STRING && (strings.Contains(n.Value, "/dev/tty") || strings.Contains(n.Value, "/dev/std")) {
			return n.Value
		}
	}
	return ""
}
