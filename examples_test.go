package fossick_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

var example = regexp.MustCompile(`(?m)^func Example\w*\(\) \{$`)

// TestExamples: every room at the top of the tree has an example.
func TestExamples(t *testing.T) {
	docs, err := filepath.Glob("*/doc.go")
	if err != nil || len(docs) < 10 {
		t.Fatalf("%d rooms, %v", len(docs), err)
	}
	for _, doc := range docs {
		dir := filepath.Dir(doc)
		tests, _ := filepath.Glob(filepath.Join(dir, "*_test.go"))
		shown := false
		for _, path := range tests {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			shown = shown || example.Match(text)
		}
		if !shown {
			t.Errorf("%s has no Example: write %s", dir, filepath.Join(dir, "example_test.go"))
		}
	}
}
