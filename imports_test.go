// Package fossick_test tests the module as a whole.
package fossick_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestImports reads the table of rooms in docs/architecture.md. It fails on an import between rooms
// that the table does not allow, a room without a row, and a row without a room. A package belongs
// to the longest row that is a prefix of its path.
func TestImports(t *testing.T) {
	allowed := readTable(t, "docs/architecture.md")
	found := map[string]bool{}
	for _, pkg := range listPackages(t) {
		path, ok := strings.CutPrefix(pkg.ImportPath, "fossick/")
		if !ok {
			continue // this test's own package
		}
		row := rowOf(allowed, path)
		if row == "" {
			t.Errorf("package %s is of no room in the table of docs/architecture.md", path)
			continue
		}
		found[row] = true
		for _, imp := range slices.Concat(pkg.Imports, pkg.TestImports) {
			other, ours := strings.CutPrefix(imp, "fossick/")
			room, own := roomOf(other), roomOf(row)
			if ours && !slices.Contains(allowed[row], room) && !slices.Contains(allowed[row], "anything") && (room != own || row == own && rowOf(allowed, other) != row) {
				t.Errorf("%s imports %s; the table allows it only %v", path, other, allowed[row])
			}
		}
	}
	for row := range allowed {
		if !found[row] {
			t.Errorf("room %s is in the table but not in the tree", row)
		}
	}
}

func roomOf(path string) string {
	room, _, _ := strings.Cut(path, "/")
	return room
}

// rowOf returns the row of the table that a package belongs to, or "".
func rowOf(table map[string][]string, path string) string {
	for ; path != "."; path = filepath.Dir(path) {
		if _, ok := table[path]; ok {
			return path
		}
	}
	return ""
}

type listed struct {
	ImportPath           string
	Imports, TestImports []string
}

func listPackages(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []listed
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		pkgs = append(pkgs, p)
	}
}

var row = regexp.MustCompile("^\\| `([a-z/]+?)/?` \\| .* \\| ([a-z/, ]+) \\|$")

// readTable returns the rooms that each row may import.
func readTable(t *testing.T, path string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	table := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		if m := row.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			table[m[1]] = strings.Split(m[2], ", ")
		}
	}
	if len(table) < 10 {
		t.Fatalf("%s: only %d rows of the table were understood", path, len(table))
	}
	return table
}
