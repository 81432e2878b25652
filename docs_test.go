package fossick_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// word is anything between blanks with a letter or a digit, unlike a bar of a table.
var word = regexp.MustCompile(`[^\s\p{L}\p{N}]*[\p{L}\p{N}]\S*`)

const (
	maxWords    = 1_400  // per page, so that it is read in one sitting
	maxAllWords = 30_000 // of all pages, as wc -w counts; may only fall
	maxPages    = 28     // in docs/; may only fall
)

// TestPagesAreShort limits the length of each page and of all, and their number.
func TestPagesAreShort(t *testing.T) {
	all, inDocs := 0, 0
	for _, page := range pages(t) {
		if page == "CHANGELOG.md" {
			continue
		}
		text := read(t, page)
		if n := len(word.FindAllString(text, -1)); n > maxWords {
			t.Errorf("%s has %d words; %d are allowed", page, n, maxWords)
		}
		all += len(strings.Fields(text))
		if filepath.Dir(page) == "docs" {
			inDocs++
		}
	}
	if all > maxAllWords {
		t.Errorf("the pages have %d words; %d are allowed: shorten another page", all, maxAllWords)
	}
	if inDocs > maxPages {
		t.Errorf("docs has %d pages; %d are allowed: merge two", inDocs, maxPages)
	}
}

func TestTablesOfPages(t *testing.T) {
	if out, err := exec.Command("go", "run", "scripts/tables.go", "-check").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestLinksOfPages follows each relative link of a page to its file and heading.
func TestLinksOfPages(t *testing.T) {
	for _, page := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(read(t, page), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			path, anchor, _ := strings.Cut(m[1], "#")
			target := page
			if path != "" {
				target = filepath.Join(filepath.Dir(page), path)
			}
			checkTarget(t, page, target, anchor)
		}
	}
}

var pageInCode = regexp.MustCompile(`\bdocs/[a-zA-Z0-9_/-]+\.md(#[a-z0-9-]+)?`)

// TestPagesNamedInCode finds each page and heading named in code or a script.
func TestPagesNamedInCode(t *testing.T) {
	for _, suffix := range []string{".go", ".sh", ".py", ".yml", ".md"} {
		walk(t, suffix, func(path string) {
			if path == "CHANGELOG.md" { // it names the pages of each release
				return
			}
			for _, name := range pageInCode.FindAllString(read(t, path), -1) {
				target, anchor, _ := strings.Cut(name, "#")
				checkTarget(t, path, target, anchor)
			}
		})
	}
}

var (
	testNamed    = regexp.MustCompile(`\b(?:Test|Benchmark)[A-Z]\w+`)
	scriptNamed  = regexp.MustCompile(`\bscripts/\w+(?:\.\w+)?`)
	packageNamed = regexp.MustCompile(`\bgo test (?:-\S+ )*(\./[a-z/]+)`)
	testDeclared = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark)\w+)\(`)
)

// TestCommandsOfPages finds the tests, scripts and packages named in pages and data files.
func TestCommandsOfPages(t *testing.T) {
	declared := map[string]bool{}
	walk(t, "_test.go", func(path string) {
		for _, m := range testDeclared.FindAllStringSubmatch(read(t, path), -1) {
			declared[m[1]] = true
		}
	})
	data, err := filepath.Glob("docs/data/*.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages(t), data...) {
		if page == "CHANGELOG.md" {
			continue
		}
		text := read(t, page)
		for _, name := range testNamed.FindAllString(text, -1) {
			if !declared[name] {
				t.Errorf("%s names %s; there is no such test", page, name)
			}
		}
		for _, script := range scriptNamed.FindAllString(text, -1) {
			checkTarget(t, page, script, "")
		}
		for _, m := range packageNamed.FindAllStringSubmatch(text, -1) {
			checkTarget(t, page, m[1], "")
		}
	}
}

// TestDataFilesAreNamed: each data file is named on some page.
func TestDataFilesAreNamed(t *testing.T) {
	var all strings.Builder
	for _, page := range pages(t) {
		all.WriteString(read(t, page))
	}
	data, err := filepath.Glob("docs/data/*.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range data {
		if !strings.Contains(all.String(), strings.TrimPrefix(path, "docs/")) {
			t.Errorf("no page names %s", path)
		}
	}
}

// walk calls do for each file of the module whose name ends in suffix.
func walk(t *testing.T, suffix string, do func(path string)) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return filepath.SkipDir
		case !d.IsDir() && strings.HasSuffix(path, suffix):
			do(path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func checkTarget(t *testing.T, from, target, anchor string) {
	t.Helper()
	info, err := os.Stat(target)
	if err != nil {
		t.Errorf("%s names %s, which does not exist", from, target)
		return
	}
	if anchor != "" && (info.IsDir() || !anchors(read(t, target))[anchor]) {
		t.Errorf("%s names %s#%s; there is no such heading", from, target, anchor)
	}
}

var (
	heading  = regexp.MustCompile(`(?m)^#+ (.+)$`)
	named    = regexp.MustCompile(`<a id="([^"]+)">`)
	noAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors returns the anchors of a page's headings as Git hosts make them.
func anchors(text string) map[string]bool {
	found := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		plain := noAnchor.ReplaceAllString(strings.ToLower(m[1]), "")
		found[strings.ReplaceAll(plain, " ", "-")] = true
	}
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		found[m[1]] = true
	}
	return found
}

// pages returns the pages for people: those of the root and of docs/.
func pages(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	if len(all) < 10 {
		t.Fatalf("only %d pages were found", len(all))
	}
	return all
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
