// Package fossick_test holds the test that keeps the rooms apart.
package fossick_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestImports reads the table in docs/architecture.md. It fails on an import
// between rooms that is not in it. It fails too on a room that is missing from
// it, and on one that does not exist.
func TestImports(t *testing.T) {
	allowed := readTable(t, "docs/architecture.md")
	found := map[string]bool{}
	for _, pkg := range listPackages(t) {
		room, ok := strings.CutPrefix(pkg.ImportPath, "fossick/")
		if !ok {
			continue // this test's own package
		}
		found[room] = true
		may, ok := allowed[room]
		if !ok {
			t.Errorf("room %s is not in the table of docs/architecture.md", room)
			continue
		}
		for _, imp := range slices.Concat(pkg.Imports, pkg.TestImports) {
			other, ours := strings.CutPrefix(imp, "fossick/")
			if slices.Contains(ofTests, imp) && !slices.Contains(pkg.Imports, imp) {
				continue
			}
			if ours && other != room && !allows(may, other) && !allows(allowed[forAll], other) {
				t.Errorf("%s imports %s; the table allows it only %v", room, other, may)
			}
		}
	}
	for room := range allowed {
		if !found[room] && room != forAll {
			t.Errorf("room %s is in the table but not in the tree", room)
		}
	}
}

// ofTests are rooms that any room's tests may import.
var ofTests = []string{"fossick/internal/fulltest", "fossick/internal/peers", "fossick/internal/tries"}

// forAll stands in the table for the rooms that any room may import.
const forAll = "*"

// allows says whether a list of rooms has one; x/ stands for all below x.
func allows(may []string, room string) bool {
	return slices.ContainsFunc(may, func(one string) bool {
		return one == room || one == "anything" || strings.HasSuffix(one, "/") && strings.HasPrefix(room, one)
	})
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

var (
	row     = regexp.MustCompile("^\\| `([a-z/]+?)/?` \\| .* \\| ([a-z/, ]+) \\|$")
	anyRoom = regexp.MustCompile("^Any room may import `([a-z/`, ]+)`\\.$")
)

// readTable returns, for every room of the table, the rooms that it may import, and
// under forAll those that all may.
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
		} else if m := anyRoom.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			table[forAll] = strings.Split(m[1], "`, `")
		}
	}
	if len(table) < 10 {
		t.Fatalf("%s: only %d rows of the table were understood", path, len(table))
	}
	return table
}
