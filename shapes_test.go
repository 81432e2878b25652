package fossick

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// What one type may have: who reads it must be able to keep it in mind. A type of few
// methods may have many fields, as settings and records do.
const (
	mostMethods = 35
	mostFields  = 18 // of a type with more than fewMethods
	fewMethods  = 10
)

type shape struct{ methods, fields int }

func (s shape) tooLarge() bool {
	return s.methods > mostMethods || s.methods > fewMethods && s.fields > mostFields
}

// TestShapes counts the methods and fields of each type; what is embedded counts once.
func TestShapes(t *testing.T) {
	for name, s := range shapes(t) {
		if s.tooLarge() {
			t.Errorf("%s has %d methods and %d fields, want at most %d and, with more than %d methods, %d; divide it by what its parts know",
				name, s.methods, s.fields, mostMethods, fewMethods, mostFields)
		}
	}
}

// shapes returns the types declared outside of tests, by folder and name.
func shapes(t *testing.T) map[string]shape {
	found := map[string]shape{}
	fset := token.NewFileSet()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range f.Decls {
			for name, s := range declared(d) {
				key := fmt.Sprintf("%s.%s", filepath.ToSlash(filepath.Dir(path)), name)
				had := found[key]
				found[key] = shape{had.methods + s.methods, had.fields + s.fields}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// declared is what a declaration adds to types: a method, or the fields of structs.
func declared(d ast.Decl) map[string]shape {
	adds := map[string]shape{}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			break
		}
		on := d.Recv.List[0].Type
		if pointer, ok := on.(*ast.StarExpr); ok {
			on = pointer.X
		}
		switch generic := on.(type) {
		case *ast.IndexExpr:
			on = generic.X
		case *ast.IndexListExpr:
			on = generic.X
		}
		adds[on.(*ast.Ident).Name] = shape{methods: 1}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			typ, ok := spec.(*ast.TypeSpec)
			if !ok {
				continue
			}
			if s, ok := typ.Type.(*ast.StructType); ok {
				n := 0
				for _, field := range s.Fields.List {
					n += max(1, len(field.Names))
				}
				adds[typ.Name.Name] = shape{fields: n}
			}
		}
	}
	return adds
}
