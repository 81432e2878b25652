package datasets

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// tableRow has columns of all kinds that others' tables have.
type tableRow struct {
	URL   string            `parquet:"url"`
	Text  *string           `parquet:"text,optional,zstd"`
	HTML  *string           `parquet:"html,optional"`
	Label string            `parquet:"label,dict"`
	Date  string            `parquet:"date"`
	N     int64             `parquet:"n"`
	Tags  []string          `parquet:"tags,list"`
	More  map[string]string `parquet:"more"`
}

func tableOf[Row any](t testing.TB, rows []Row, options ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[Row](&b, options...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func someRows() []tableRow {
	text, html := "words\xff", "<p>more"
	return []tableRow{
		{URL: "http://a.test/", Text: &text, Label: "bees", Date: "2020-01-02T03:04:05Z", N: 1, Tags: []string{"x", "y"}, More: map[string]string{"k": "v"}},
		{URL: "", Text: &text},
		{URL: "http://a.test/2", HTML: &html, Label: "ants"},
	}
}

func TestParquet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.parquet")
	if err := os.WriteFile(path, tableOf(t, someRows()), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []*Example
	bad := 0
	for e, err := range s.Examples() {
		if err != nil {
			if bad++; !IsRow(err) || err.Error() != path+`:2: no "url"; each row needs one, as the page's name` {
				t.Error(err)
			}
			continue
		}
		got = append(got, e)
	}
	if len(got) != 2 || bad != 1 || got[0].Text != "words\uFFFD" || got[0].Label != "bees" || got[0].Fields["date"] != "2020-01-02T03:04:05Z" || got[0].Fields["tags"] != "" ||
		got[1].HTML != "<p>more" || got[1].Line != 3 {
		t.Errorf("%d rows, %d bad: %+v", len(got), bad, got)
	}
}

// FuzzParquet: whatever a file holds, reading it ends with an error or rows with URLs.
func FuzzParquet(f *testing.F) {
	f.Add(tableOf(f, someRows()))
	f.Add([]byte("PAR1PAR1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "t.parquet")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		readParquet(path)(&Report{}, func(e *Example, err error) bool {
			if err == nil && e.URL == "" {
				t.Error("a row without a URL")
			}
			return true
		})
	})
}
