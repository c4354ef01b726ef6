package goliathfs_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A wrapper is a backend that is made of others. Each forwards every optional
// interface of package vfs, unless it is named here with what it leaves out, "*"
// for all, and why.
var leaves = map[string]map[string]string{
	"vfs/wrap.readOnly": {
		"Writer":  "that is its whole point",
		"Remover": "that is its whole point",
	},
	"agentsim/internal/replay.faultFS": {"*": "it stands for a damaged disk: what it does not have falls back on what fails"},
	"cmd/goliathfs.side":               {"*": "it carries a backend next to what it came from, and is none itself"},
	"cmd/goliathfs.diffSide":           {"*": "it carries a backend next to what it came from, and is none itself"},
	"cmd/goliathfs/internal/database.All": {
		"Writer":  "a database is looked at as a whole, and written to in one namespace",
		"Remover": "a database is looked at as a whole, and written to in one namespace",
	},
	"cmd/goliathfs/internal/storeurl.unborn": {"*": "there is nothing to watch or to search before it is made, and a command writes to it only"},
}

// forwarders are backends that carry the calls of another one and hold none, so
// that they cannot be found by what they are made of.
var forwarders = []string{"vfs/remotefs.Client"}

// TestWrappersForwardEverything finds the optional interfaces of package vfs, and
// the wrappers of this module, by their types: a new one of either cannot be
// forgotten.
func TestWrappersForwardEverything(t *testing.T) {
	found, names := map[string]bool{}, map[string]bool{}
	for _, pkg := range checkedPackages(t) {
		contract := contractOf(pkg)
		if contract == nil {
			continue
		}
		backend := interfaceOf(contract, "Backend")
		for _, name := range pkg.Scope().Names() {
			typ, ok := pkg.Scope().Lookup(name).(*types.TypeName)
			if !ok || typ.IsAlias() {
				continue
			}
			full := strings.TrimPrefix(pkg.Path(), module+"/") + "." + name
			pointer := types.NewPointer(typ.Type())
			if !types.Implements(pointer, backend) || types.IsInterface(typ.Type()) ||
				!slices.Contains(forwarders, full) && !holds(typ.Type(), backend, map[types.Type]bool{}) {
				continue
			}
			found[full] = true
			for _, optional := range optionalOf(contract) {
				names[optional] = true
				if why := leaves[full]; why["*"] == "" && why[optional] == "" && !types.Implements(pointer, interfaceOf(contract, optional)) {
					t.Errorf("%s is made of backends and is no vfs.%s: forward it to a vfs.Inner, or say in leaves why not", full, optional)
				}
			}
		}
	}
	for _, full := range slices.Concat(forwarders, slices.Collect(maps.Keys(leaves)), []string{"vfs.Inner", "vfs/wrap.sub", "vfs/journalfs.FS", "vfs/routefs.FS"}) {
		if !found[full] {
			t.Errorf("%s is not among the wrappers found: %v", full, slices.Sorted(maps.Keys(found)))
		}
	}
	for _, optional := range []string{"BatchReader", "Remover", "Router", "Searcher", "Statter", "Watcher", "Writer"} {
		if !names[optional] {
			t.Errorf("vfs.%s is not among the optional interfaces found: %v", optional, slices.Sorted(maps.Keys(names)))
		}
	}
}

// Who writes a backend reads the whole of package vfs: what is not the contract
// belongs beside it.
func TestContractIsSmall(t *testing.T) {
	const most = 34
	for _, pkg := range checkedPackages(t) {
		if pkg.Path() != module+"/vfs" {
			continue
		}
		exported := slices.DeleteFunc(pkg.Scope().Names(), func(name string) bool { return !token.IsExported(name) })
		if n := len(exported); n == 0 || n > most {
			t.Errorf("package vfs exports %d names where at most %d are its contract: %v", n, most, exported)
		}
	}
}

// contractOf returns package vfs as pkg sees it, nil when it does not import it.
func contractOf(pkg *types.Package) *types.Package {
	const vfs = module + "/vfs"
	if pkg.Path() == vfs {
		return pkg
	}
	for _, imported := range pkg.Imports() {
		if imported.Path() == vfs {
			return imported
		}
	}
	return nil
}

func interfaceOf(pkg *types.Package, name string) *types.Interface {
	return pkg.Scope().Lookup(name).Type().Underlying().(*types.Interface)
}

// optionalOf returns the exported interfaces of package vfs besides Backend.
func optionalOf(contract *types.Package) []string {
	var names []string
	for _, name := range contract.Scope().Names() {
		typ, ok := contract.Scope().Lookup(name).(*types.TypeName)
		if ok && typ.Exported() && types.IsInterface(typ.Type()) && name != "Backend" {
			names = append(names, name)
		}
	}
	return names
}

// holds reports whether a value of a type of this module is made of backends: by
// its fields, and theirs.
func holds(typ types.Type, backend *types.Interface, seen map[types.Type]bool) bool {
	if seen[typ] {
		return false
	}
	seen[typ] = true
	if named, ok := types.Unalias(typ).(*types.Named); ok && (named.Obj().Pkg() == nil || !strings.HasPrefix(named.Obj().Pkg().Path(), module)) {
		return false
	}
	switch under := typ.Underlying().(type) {
	case *types.Interface:
		return types.Implements(under, backend)
	case *types.Struct:
		for field := range under.Fields() {
			if holds(field.Type(), backend, seen) {
				return true
			}
		}
	case *types.Pointer:
		return holds(under.Elem(), backend, seen)
	case *types.Slice:
		return holds(under.Elem(), backend, seen)
	case *types.Map:
		return holds(under.Elem(), backend, seen)
	}
	return false
}

// listed is a package as the go command tells of it.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	Module                  *struct{ Path string }
}

// checkedPackages returns the packages of this module, tests left out, read from
// their source, with what they import as the compiler left it.
func checkedPackages(t *testing.T) []*types.Package {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Module", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	exports := map[string]string{}
	var own []listed
	for in := json.NewDecoder(strings.NewReader(string(out))); ; {
		var pkg listed
		if err := in.Decode(&pkg); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[pkg.ImportPath] = pkg.Export
		if pkg.Module != nil && pkg.Module.Path == module {
			own = append(own, pkg)
		}
	}
	fset := token.NewFileSet()
	compiled := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("go list tells nothing of %s", path)
		}
		return os.Open(exports[path])
	})
	var checked []*types.Package
	for _, pkg := range own {
		var files []*ast.File
		for _, name := range pkg.GoFiles {
			file, err := parser.ParseFile(fset, filepath.Join(pkg.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		result, err := (&types.Config{Importer: compiled}).Check(pkg.ImportPath, fset, files, nil)
		if err != nil {
			t.Fatal(err)
		}
		checked = append(checked, result)
	}
	return checked
}
