package fossick_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// waiting lists functions that may wait for ever for a pipe's writer, or read a device.
var waiting = []string{"os.Open", "os.ReadFile", "os.DirFS", "zip.OpenReader", "tls.LoadX509KeyPair", "toml.DecodeFile", "ioutil.ReadFile"}

// mayOpen lists files that may open files themselves, and why.
var mayOpen = map[string]string{
	"internal/reading/reading.go":  "the one way to open",
	"internal/release/licences.go": "of the module cache, when a release is made",
	"internal/release/modules.go":  "likewise",
}

// TestOneWayToOpen: only internal/reading opens files, since it refuses pipes and devices instead
// of waiting. Files to be written must be new (O_EXCL), or opened in a file that was reviewed.
func TestOneWayToOpen(t *testing.T) {
	opens := []string{"crawler/frontier/run.go", "export/tables/tables.go", "store/badgerfiles/reached.go", "store/badgerfiles/mend.go", "store/badgerfiles/logs.go", "cmd/fossick/serve.go"}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (path == "scripts" || strings.HasPrefix(d.Name(), ".") && path != ".") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || mayOpen[path] != "" {
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			f, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			room, ok := f.X.(*ast.Ident)
			if !ok {
				return true
			}
			name := room.Name + "." + f.Sel.Name
			switch {
			case slices.Contains(waiting, name):
				t.Errorf("%s: %s; use internal/reading", files.Position(call.Pos()), name)
			case name == "os.OpenFile" && !slices.Contains(opens, path) && !made(call):
				t.Errorf("%s: %s of what may be there; use internal/reading", files.Position(call.Pos()), name)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// made reports whether a call of os.OpenFile has O_EXCL.
func made(call *ast.CallExpr) bool {
	found := false
	ast.Inspect(call.Args[1], func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "O_EXCL" {
			found = true
		}
		return true
	})
	return found
}
