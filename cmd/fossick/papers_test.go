package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"fossick/internal/testkit"
)

// mechanism matches a row of docs/papers.md: the mechanism, its flags, its test.
var mechanism = regexp.MustCompile("(?m)^\\| ([^|]+) \\| ([^|]+) \\| `([a-z/]+)\\.(Test\\w+)` \\|$")

// TestPapersPage checks that the flags and tests named in docs/papers.md exist.
func TestPapersPage(t *testing.T) {
	page := testkit.Call(os.ReadFile("../../docs/papers.md")).Must(t)
	flags := flagsOfVerbs(t)
	rows := mechanism.FindAllStringSubmatch(string(page), -1)
	if len(rows) < 43 || len(rows) != strings.Count(string(page), ".Test") {
		t.Errorf("%d rows can be read: a row is | mechanism | `verb --flag` | `package.Test` |", len(rows))
	}
	for _, row := range rows {
		for _, command := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[2], -1) {
			verb, _, _ := strings.Cut(command[1], " --")
			if flags[verb] == nil {
				t.Errorf("%s: there is no verb %q", row[1], verb)
			}
			for _, flag := range regexp.MustCompile(` --([a-z-]+)`).FindAllStringSubmatch(command[1], -1) {
				if !flags[verb][flag[1]] {
					t.Errorf("%s: %s has no flag --%s", row[1], verb, flag[1])
				}
			}
		}
		if !declares(t, filepath.Join("../..", row[3]), row[4]) {
			t.Errorf("%s: package %s has no %s", row[1], row[3], row[4])
		}
	}
}

func flagsOfVerbs(t *testing.T) map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for _, verb := range verbsBelow(newParser(t).Model.Node) {
		names := map[string]bool{}
		for _, flag := range verb.Flags {
			names[flag.Name] = true
		}
		all[strings.Join(verbPath(verb), " ")] = names
	}
	return all
}

func declares(t *testing.T, folder, test string) bool {
	t.Helper()
	files := testkit.Call(filepath.Glob(filepath.Join(folder, "*_test.go"))).Must(t)
	for _, file := range files {
		text := testkit.Call(os.ReadFile(file)).Must(t)
		if strings.Contains(string(text), "\nfunc "+test+"(") {
			return true
		}
	}
	return false
}
