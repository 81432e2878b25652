package fossick

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// calledByLibraries are methods called by libraries through interfaces that our files do not name.
var calledByLibraries = []string{
	"String", "Error", "Unwrap", "Is", "As", "Read", "Write", "Close", "Format", "GoString", "LogValue",
	"MarshalText", "UnmarshalText", "MarshalJSON", "UnmarshalJSON", "MarshalJSONTo", "UnmarshalJSONFrom",
	"MarshalBinary", "UnmarshalBinary", "MarshalCBOR", "UnmarshalCBOR", "UnmarshalTOML",
	"ServeHTTP", "RoundTrip", "Len", "Less", "Swap", "Push", "Pop",
	"Decode", "Run", "Validate", "AfterApply", "BeforeApply", "BeforeReset", "BeforeResolve", "Resolve", "Help", "Enabled", "Handle", "WithAttrs", "WithGroup",
	"Control", "SyscallConn", "NetConn", "ReadFrom", "WriteTo", "Flush", "Describe", "Collect",
}

// forImplementers are optional interfaces, which a type may also implement.
var forImplementers = []string{"Marker", "SitemapScorer"}

// TestExportedNames: a name is exported only if another package, or an example, uses it; generated
// code and errors are exempt. It compares names, not types, so a name in several packages counts as
// used if one of them is.
func TestExportedNames(t *testing.T) {
	type export struct {
		pos  string
		name string
		dir  string
	}
	var exports []export
	users := map[string][]string{} // name → folders that use it, after a dot or as a key
	fset := token.NewFileSet()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		test := strings.HasSuffix(path, "_test.go")
		f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return err
		}
		dir := filepath.Dir(path)
		if test && strings.HasSuffix(f.Name.Name, "_test") {
			dir += " from outside"
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				users[n.Sel.Name] = append(users[n.Sel.Name], dir)
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok {
					users[key.Name] = append(users[key.Name], dir)
				}
			}
			return true
		})
		if test || f.Name.Name == "main" || ast.IsGenerated(f) {
			return nil
		}
		for _, name := range namedBySignatures(f) {
			users[name] = append(users[name], dir+" by signature")
		}
		for _, id := range exportedNames(f) {
			exports = append(exports, export{fset.Position(id.Pos()).String(), id.Name, dir})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	unused := 0
	for _, e := range exports {
		if slices.Contains(calledByLibraries, e.name) || slices.Contains(forImplementers, e.name) || strings.HasPrefix(e.name, "Err") || slices.ContainsFunc(users[e.name], func(dir string) bool { return dir != e.dir }) {
			continue
		}
		unused++
		t.Errorf("%s: nobody outside its package names %s", e.pos, e.name)
	}
	t.Logf("%d exported names, %d of them named by nobody else", len(exports), unused)
}

func exportedNames(f *ast.File) (ids []*ast.Ident) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil || ast.IsExported(receiver(d)) {
				ids = append(ids, d.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					ids = append(ids, s.Name)
				case *ast.ValueSpec:
					ids = append(ids, s.Names...)
				}
			}
		}
	}
	return slices.DeleteFunc(ids, func(id *ast.Ident) bool { return !id.IsExported() })
}

// namedBySignatures returns the types in the signatures of a file's exported functions and types,
// and the values of exported types, since a user of one must name the other.
func namedBySignatures(f *ast.File) (names []string) {
	add := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Field:
				if len(n.Names) > 0 && !slices.ContainsFunc(n.Names, (*ast.Ident).IsExported) {
					if _, inFunc := n.Type.(*ast.FuncType); inFunc {
						return false
					}
				}
			case *ast.Ident:
				names = append(names, n.Name)
			}
			return true
		})
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() {
				add(d.Type)
			}
		case *ast.GenDecl:
			enumerated := false // has the type of the group's first name
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						add(s.Type)
					}
				case *ast.ValueSpec:
					if t, ok := s.Type.(*ast.Ident); ok && t.IsExported() {
						names = append(names, t.Name)
						enumerated = true
					}
					for _, id := range s.Names {
						if enumerated {
							names = append(names, id.Name)
						}
					}
				}
			}
		}
	}
	return names
}

// receiver returns the type name of a method's receiver.
func receiver(d *ast.FuncDecl) string {
	expr := d.Recv.List[0].Type
	for {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}

// TestListsInErrors: an error that lists names gives the five nearest and the number of others
// (printable.SomeNames).
func TestListsInErrors(t *testing.T) {
	lists := regexp.MustCompile(`(there are|one of|has|have|are|is) %[sv]`)
	fset := token.NewFileSet()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) < 2 || !slices.Contains([]string{"Errorf", "usagef"}, called(call)) {
				return true
			}
			format, ok := call.Args[0].(*ast.BasicLit)
			if !ok || !lists.MatchString(format.Value) {
				return true
			}
			for _, arg := range call.Args[1:] {
				if list, ok := arg.(*ast.CallExpr); ok && called(list) == "Join" {
					t.Errorf("%s lists all that there is; use nearest.Some", fset.Position(call.Pos()))
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// called returns the name of the called function.
func called(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}
