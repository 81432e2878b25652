package table

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"fossick/export"
	"fossick/export/collection"
	"fossick/export/exporttest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// some are pages with what formats stumble over: quotes, line ends, bytes that are no
// UTF-8, missing values.
func some() []*collection.Page {
	source := &collection.Source{Name: "crawl"}
	half, kept, never := 0.5, true, math.NaN()
	return []*collection.Page{
		{
			ID: "urn:uuid:1", Node: 0, Source: source, Number: 1, URL: "http://a.test/", Host: "a.test:80", Site: "a.test",
			Title: "Loans, \"cheap\"", Language: "en", ContentType: "text/html", Fetched: time.Unix(1e9, 0).UTC(), Bytes: 10, Checksum: "0a",
			Label: "banking", Probability: &half, Kept: &kept, Relevant: true, Score: 0.25, Rank: &half, Why: "loan → banking", Via: "seed",
			Text: "Cheap loans.\n\n\tOf all\u2028kinds.", Markdown: "# Loans\n\nCheap loans.\n",
		},
		{
			ID: "urn:uuid:2", Node: 1, Source: source, Number: 2, URL: "http://a.test/ü", Host: "a.test:80", Site: "a.test",
			Title: "--- \xff: 東京", Fetched: time.Unix(1e9+1, 5e8).UTC(), Probability: &never, Score: 1e-7, FoundBy: "http://a.test/", Via: "link", Depth: 1,
			Text: "\xff東京", Markdown: "\xff東京\n",
		},
		{ID: "urn:uuid:3", Node: 2, Source: source, Number: 9, URL: "http://b.test/", Damaged: true},
	}
}

// write exports the pages in a format.
func write(t *testing.T, open func(export.Place) (export.Sink, error)) exporttest.Shelf {
	t.Helper()
	files := exporttest.Shelf{}
	s, err := open(files)
	exporttest.Write(t, s, err, some())
	return files
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: got\n%s\nwant\n%s\n%v", name, got, want, err)
	}
}

func TestJSONL(t *testing.T) {
	text := write(t, func(at export.Place) (export.Sink, error) { return NewJSONL(at, "pages.jsonl") })["pages.jsonl"].Bytes()
	golden(t, "pages.jsonl", text)
	lines := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	for i, p := range some() {
		var row map[string]any
		if err := json.Unmarshal(lines[i], &row); err != nil {
			t.Fatal(err)
		}
		if len(row) != len(Columns()) || row["title"] != nil && row["title"] != valid(p.Title) || row["node"] != float64(p.Node) {
			t.Errorf("row %d reads back as %v", i, row)
		}
	}
}

func TestCSV(t *testing.T) {
	text := write(t, func(at export.Place) (export.Sink, error) { return NewCSV(at, "pages.csv") })["pages.csv"].Bytes()
	golden(t, "pages.csv", text)
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(rows) != 1+len(some()) || rows[1][11] != some()[0].Title {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

// TestParquet reads the rows back, in the order of the columns, twice the same bytes.
func TestParquet(t *testing.T) {
	open := func(at export.Place) (export.Sink, error) { return NewParquet(at, "pages.parquet") }
	text := write(t, open)["pages.parquet"].Bytes()
	if again := write(t, open)["pages.parquet"].Bytes(); !bytes.Equal(text, again) {
		t.Error("the same pages give other bytes")
	}
	f, err := parquet.OpenFile(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	columns := Columns()
	for i, field := range f.Schema().Fields() {
		if field.Name() != columns[i].Name {
			t.Errorf("column %d is %s, want %s", i, field.Name(), columns[i].Name)
		}
	}
	r := parquet.NewReader(f)
	defer r.Close()
	rows := make([]parquet.Row, len(some())+1)
	if n, err := r.ReadRows(rows); n != len(some()) || err != nil && err != io.EOF {
		t.Fatalf("%d rows, %v", n, err)
	}
	for i, p := range some() {
		for j, c := range columns {
			want := c.Of(p)
			got := rows[i][j]
			if got.IsNull() != want.Null || !got.IsNull() && got.String() != cell(c.Kind, want) && c.Kind != Real {
				t.Errorf("row %d, %s: %v, want %+v", i, c.Name, got, want)
			}
			if c.Kind == Real && !want.Null && got.Double() != want.Real {
				t.Errorf("row %d, %s: %v, want %v", i, c.Name, got.Double(), want.Real)
			}
		}
	}
}

func TestLines(t *testing.T) {
	text := write(t, func(at export.Place) (export.Sink, error) { return NewLines(at, "pages.txt") })["pages.txt"].String()
	if want := "urn:uuid:1\tCheap loans. Of all kinds.\nurn:uuid:2\t�東京\nurn:uuid:3\t\n"; text != want {
		t.Errorf("got %q, want %q", text, want)
	}
}

func TestMarkdown(t *testing.T) {
	files := write(t, func(at export.Place) (export.Sink, error) { return NewMarkdown(at, "markdown/"), nil })
	all := ""
	for _, name := range []string{"markdown/0000/0000000-loans-cheap.md", "markdown/0000/0000001.md", "markdown/0000/0000002.md"} {
		if files[name] == nil {
			t.Fatalf("%s is missing", name)
		}
		all += files[name].String()
	}
	golden(t, "pages.md", []byte(all))
}

// TestWords counts words of scripts with and without blanks.
func TestWords(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, " .,": 0, "one": 1, "one, two 3": 3, "l'été très chaud": 4, "naïve cafe\u0301": 2, "東京 is big": 4, "ไทย": 3, "Привет, мир": 2,
	} {
		if got := Words(text); got != want {
			t.Errorf("%q: %d words, want %d", text, got, want)
		}
	}
}

// TestNames makes names of titles that file systems and shells take.
func TestNames(t *testing.T) {
	for title, want := range map[string]string{
		"": "", "Loans & more": "loans-more", "../../etc/passwd": "etc-passwd", "東京": "", "-rf ~": "rf",
	} {
		if got := slugOf(title); got != want {
			t.Errorf("%q: %q, want %q", title, got, want)
		}
	}
	if n := len(slugOf(strings.Repeat("long ", 100))); n < maxSlug || n > maxSlug+5 {
		t.Errorf("a long title gives %d characters", n)
	}
}

// TestColumnsAreKept: others read the tables by these names.
func TestColumnsAreKept(t *testing.T) {
	names := []string{}
	for _, c := range Columns() {
		names = append(names, c.Name)
	}
	if got := strings.Join(names[:9], " "); got != "text id dump url date file_path language language_score token_count" {
		t.Errorf("the columns begin with %s", got)
	}
}
