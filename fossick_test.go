// Package fossick_test tests the module as a whole.
package fossick_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"fossick"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"math"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// wrong returns at most this many scores of links, each NaN.
type wrong int

func (wrong) ScorePage(*fossick.Page, float64) fossick.Score { return fossick.Score{Value: math.NaN()} }

func (n wrong) ScoreLinks(p *fossick.Page, _ fossick.Score) (scores []float64) {
	for range min(int(n), len(p.Links)) {
		scores = append(scores, math.NaN())
	}
	return scores
}

// TestWrongScorer: too few scores end a crawl with an error; NaN counts as 0.
func TestWrongScorer(t *testing.T) {
	site := web()
	defer site.Close()
	for n, want := range map[wrong]string{0: "ScoreLinks returned 0 scores for the 1 links of " + site.URL + "/hive", 1: ""} {
		r, err := fossick.Crawl(t.Context(), options(t, n, site.URL+"/hive"))
		if want == "" && (err != nil || r.Pages != 2) {
			t.Errorf("not numbers: %+v, %v; want 2 pages", r, err)
		} else if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%d scores: %v; want %s", n, err, want)
		}
	}
}

// TestCrawlGoesOn: a second call continues with the existing store.
func TestCrawlGoesOn(t *testing.T) {
	site := web()
	defer site.Close()
	opt := options(t, bees{}, site.URL+"/")
	for _, pages := range []uint64{2, 4} {
		opt.MaxPages = pages
		if r, err := fossick.Crawl(t.Context(), opt); err != nil || r.Pages != pages || r.Stopped != "max_pages" {
			t.Errorf("to %d pages: %+v, %v", pages, r, err)
		}
	}
}

func options(t *testing.T, s fossick.Scorer, start string) fossick.Options {
	return fossick.Options{
		Scorer: s, Seeds: []string{start}, Store: filepath.Join(t.TempDir(), "crawl"), Workers: 1, Delay: -1,
		AllowNet: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Contact: "you@example.org",
	}
}

func web() *httptest.Server {
	pages := map[string]string{
		"/":       `<title>Start</title><p>Where to go. <a href="/rocks">all about rocks</a> <a href="/hive">life in the hive</a>`,
		"/rocks":  `<title>Rocks</title><p>Basalt is a rock of cooled lava. <a href="/basalt">basalt</a>`,
		"/basalt": `<title>Basalt</title><p>It is dark.`,
		"/hive":   `<title>The hive</title><p>Bees make honey of nectar. <a href="/honey">what honey is</a>`,
		"/honey":  `<title>Honey</title><p>Honey is nectar that bees have dried.`,
	}
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(text))
	}))
}

// bees scores pages by their text, and links by the words around them.
type bees struct{}

func (bees) ScorePage(p *fossick.Page, parent float64) fossick.Score {
	if strings.Contains(strings.ToLower(p.Text), "honey") {
		return fossick.Score{Value: 1, Relevant: true}
	}
	return fossick.Score{Value: parent / 2}
}

func (bees) ScoreLinks(p *fossick.Page, s fossick.Score) (scores []float64) {
	for _, l := range p.Links {
		score := s.Value / 2
		if strings.Contains(l.Anchor, "hive") || strings.Contains(l.Anchor, "honey") {
			score = 1
		}
		scores = append(scores, score)
	}
	return scores
}

// ExampleCrawl crawls in the order of a user's own scorer and reads the pages.
func ExampleCrawl() {
	site := web()
	defer site.Close()
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)

	r, err := fossick.Crawl(context.Background(), fossick.Options{
		Scorer: bees{}, Seeds: []string{site.URL + "/"}, Store: filepath.Join(dir, "bees"), MaxPages: 4,
		Workers: 1, Delay: -1, AllowNet: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Contact: "you@example.org",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Pages, "pages,", r.Relevant, "on topic,", r.Stopped)
	s, err := fossick.Open(r.Store)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	for p, err := range s.Pages() {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(p.Title, p.Score.Relevant)
	}
	// Output:
	// 4 pages, 2 on topic, max_pages
	// Start false
	// The hive true
	// Honey true
	// Rocks false
}

// ExampleCrawl_keywords crawls for a topic's words, without a model.
func ExampleCrawl_keywords() {
	site := web()
	defer site.Close()
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)

	r, err := fossick.Crawl(context.Background(), fossick.Options{
		Keywords: []string{"honey", "bee", "hive"}, Seeds: []string{site.URL + "/hive"}, Store: filepath.Join(dir, "bees"),
		Delay: -1, AllowNet: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Contact: "you@example.org",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Pages, r.Stopped)
	// Output: 2 frontier_empty
}

// ExampleTrain trains a model on labelled texts, stores it in a file, and labels a new text.
func ExampleTrain() {
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "bees.model")

	m, err := fossick.Train(context.Background(), []fossick.Example{
		{Label: "bees", Text: "The queen of the hive lays eggs."},
		{Label: "bees", Text: "Workers carry nectar to the hive."},
		{Label: "bees", Text: "Honey is nectar that a hive has dried."},
		{Label: "bees", Text: "A hive has one queen and many workers."},
		{Label: "bees", Text: "In winter the workers of a hive eat honey."},
		{Label: "rocks", Text: "Basalt is a rock of cooled lava."},
		{Label: "rocks", Text: "Lava that cools slowly is granite."},
		{Label: "rocks", Text: "Granite and basalt are rock."},
		{Label: "rocks", Text: "A rock of old lava is worn by rain."},
		{Label: "rocks", Text: "Under granite the rock is hot."},
	})
	if err == nil {
		err = m.WriteFile(file)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err = fossick.ReadModel(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Label("", "What nectar becomes in the hive").Name)
	// Output: bees
}

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
// (cli.SomeNames).
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
			if !ok || len(call.Args) < 2 || !slices.Contains([]string{"Errorf", "Usagef"}, called(call)) {
				return true
			}
			format, ok := call.Args[0].(*ast.BasicLit)
			if !ok || !lists.MatchString(format.Value) {
				return true
			}
			for _, arg := range call.Args[1:] {
				if list, ok := arg.(*ast.CallExpr); ok && called(list) == "Join" {
					t.Errorf("%s lists all that there is; use cli.SomeNames", fset.Position(call.Pos()))
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

// waiting lists functions that may wait for ever for a pipe's writer, or read a device.
var waiting = []string{"os.Open", "os.ReadFile", "os.DirFS", "zip.OpenReader", "tls.LoadX509KeyPair", "toml.DecodeFile", "ioutil.ReadFile"}

// mayOpen lists files that may open files themselves, and why.
var mayOpen = map[string]string{
	"internal/fileio/open.go":      "the one way to open",
	"internal/release/licences.go": "of the module cache, when a release is made",
	"internal/release/modules.go":  "likewise",
}

// TestOneWayToOpen: only internal/fileio opens files, since it refuses pipes and devices instead
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
				t.Errorf("%s: %s; use internal/fileio", files.Position(call.Pos()), name)
			case name == "os.OpenFile" && !slices.Contains(opens, path) && !made(call):
				t.Errorf("%s: %s of what may be there; use internal/fileio", files.Position(call.Pos()), name)
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
		case d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules"):
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
	for _, pattern := range []string{"*.md", "docs/*.md", ".github/*.md"} {
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
