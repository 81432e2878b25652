package export

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"fossick/internal/testkit"
)

// somePages have difficult values: quotes, line ends, invalid UTF-8, missing values.
func somePages() []*Page {
	source := &Source{Name: "crawl"}
	half, kept, never := 0.5, true, math.NaN()
	return []*Page{
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

func TestJSONL(t *testing.T) {
	text := written(t, eachPage(appendObject), "pages.jsonl", somePages())["pages.jsonl"].Bytes()
	golden(t, "pages.jsonl", text)
	lines := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	for i, p := range somePages() {
		var row map[string]any
		testkit.Must(t, json.Unmarshal(lines[i], &row))
		if len(row) != len(columns) || row["title"] != nil && row["title"] != valid(p.Title) || row["node"] != float64(p.Node) {
			t.Errorf("row %d reads back as %v", i, row)
		}
	}
}

func TestCSV(t *testing.T) {
	text := written(t, newCSV, "pages.csv", somePages())["pages.csv"].Bytes()
	golden(t, "pages.csv", text)
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(rows) != 1+len(somePages()) || rows[1][11] != somePages()[0].Title {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

// TestParquet: rows read back in column order, and the bytes are reproducible.
func TestParquet(t *testing.T) {
	text := written(t, newParquet, "pages.parquet", somePages())["pages.parquet"].Bytes()
	if again := written(t, newParquet, "pages.parquet", somePages())["pages.parquet"].Bytes(); !bytes.Equal(text, again) {
		t.Error("the same pages give other bytes")
	}
	f := testkit.Call(parquet.OpenFile(bytes.NewReader(text), int64(len(text)))).Must(t)
	for i, field := range f.Schema().Fields() {
		if field.Name() != columns[i].name {
			t.Errorf("column %d is %s, want %s", i, field.Name(), columns[i].name)
		}
	}
	r := parquet.NewReader(f)
	defer r.Close()
	rows := make([]parquet.Row, len(somePages())+1)
	if n, err := r.ReadRows(rows); n != len(somePages()) || err != nil && err != io.EOF {
		t.Fatalf("%d rows, %v", n, err)
	}
	for i, p := range somePages() {
		for j, c := range columns {
			want := c.of(p)
			got := rows[i][j]
			if got.IsNull() != (want == nil) || c.kind != real && got.String() != cmp.Or(cellText(want), "<null>") || c.kind == real && want != nil && got.Double() != want {
				t.Errorf("row %d, %s: %v, want %v", i, c.name, got, want)
			}
		}
	}
}

func TestLines(t *testing.T) {
	text := written(t, eachPage(appendLine), "pages.txt", somePages())["pages.txt"].String()
	if want := "urn:uuid:1\tCheap loans. Of all kinds.\nurn:uuid:2\t�東京\nurn:uuid:3\t\n"; text != want {
		t.Errorf("got %q, want %q", text, want)
	}
}

func TestMarkdown(t *testing.T) {
	files := written(t, newMarkdown, "markdown/", somePages())
	all := ""
	for _, name := range []string{"markdown/0000/0000000-loans-cheap.md", "markdown/0000/0000001.md", "markdown/0000/0000002.md"} {
		if files[name] == nil {
			t.Fatalf("%s is missing", name)
		}
		all += files[name].String()
	}
	golden(t, "pages.md", []byte(all))
}

func TestWords(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, " .,": 0, "one": 1, "one, two 3": 3, "l'été très chaud": 4, "naïve cafe\u0301": 2, "東京 is big": 4, "ไทย": 3, "Привет, мир": 2,
	} {
		if got := words(text); got != want {
			t.Errorf("%q: %d words, want %d", text, got, want)
		}
	}
}

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
