package main

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestMistypedCommands checks that each mistake is answered with what was probably meant.
func TestMistypedCommands(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for args, want := range map[string]string{
		"crawl":        `there is no verb "crawl"; did you mean fossick focus?`,
		"focs":         `there is no verb focs; did you mean "focus"?`,
		"bees":         "there is no verb bees; see fossick --help",
		"eval":         "fossick eval needs STORE: Stores of crawls",
		"watch":        "fossick watch needs STORE: Store of a crawl",
		"export -o x":  "fossick export needs STORE: Stores of crawls",
		"why http://a": "fossick why needs --store=DIR; see fossick why --help",
	} {
		if code, told := runForErrors(t, strings.Fields(args)); code != exitUsage || !strings.Contains(told, want) {
			t.Errorf("%s: exit code %d, %q, want %q", args, code, told, want)
		}
	}
	verbs := childNames(newParser(t).Model.Node)
	for word, verb := range meant {
		first, _, _ := strings.Cut(verb, " ")
		if slices.Contains(verbs, word) || !slices.Contains(verbs, first) {
			t.Errorf("%s → %s: want a word that is no verb, and one that is", word, verb)
		}
	}
}

// TestHelpIsShort checks that --help of a verb fits into two screens.
func TestHelpIsShort(t *testing.T) {
	for _, verb := range verbsBelow(newParser(t).Model.Node) {
		var out bytes.Buffer
		run(t.Context(), append(verbPath(verb), "--help"), &out, &out)
		if n := strings.Count(out.String(), "\n"); n > 75 {
			t.Errorf("%v --help has %d lines", verbPath(verb), n)
		}
	}
}

// paperLetter finds a paper named by its letter, which only a reader of the docs understands.
var paperLetter = regexp.MustCompile(`(?i)\bpapers? [A-E]\b|\[[A-E][1-7]?\]|\(eq\. \d|\beq\. \d`)

// TestNoPapersInWords checks that no text or page names a paper by its letter or an equation by its
// number. It reads all strings and field tags of the source, and all templates.
func TestNoPapersInWords(t *testing.T) {
	files, strs := token.NewFileSet(), 0
	check := func(where, text string) {
		strs++
		if found := paperLetter.FindString(text); found != "" {
			t.Errorf("%s says %q: %.200s", where, found, text)
		}
	}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "docs" || d.Name() == "scripts" || d.Name() == "testdata" || d.Name() == ".git") {
			return cmp.Or(err, fs.SkipDir)
		}
		switch {
		case strings.HasSuffix(path, ".html"):
			text, err := os.ReadFile(path)
			check(path, string(text))
			return err
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				check(files.Position(lit.Pos()).String(), lit.Value)
			}
			return true
		})
		return nil
	})
	if err != nil || strs < 10000 {
		t.Errorf("%d strings read, %v", strs, err)
	}
}
