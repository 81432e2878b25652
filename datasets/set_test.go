package datasets

import (
	"compress/gzip"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// write puts files, by their paths below a new folder, and returns the folder.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, body := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// all reads a set to its end; it returns errors beside the rows.
func all(t testing.TB, path string, opt Options) ([]*Example, []error, Report) {
	t.Helper()
	s, err := Open(path, opt)
	if err != nil {
		t.Fatal(err)
	}
	var rows []*Example
	var errs []error
	for e, err := range s.Examples() {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		rows = append(rows, e)
	}
	rep, err := s.Report()
	if err != nil {
		t.Fatal(err)
	}
	return rows, errs, rep
}

func gz(t testing.TB, s string) string {
	t.Helper()
	var b strings.Builder
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(s)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zst(t testing.TB, s string) string {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(w.EncodeAll([]byte(s), nil))
}

const threeRows = `{"url":"http://a.test/1","label":"x","html":"<p>one","site":"a","encoding":"ascii","n":3}
{"url":"http://a.test/2","label":"y","labels":["y","yy"],"text":"two","split":"test"}

{"url":"http://b.test/3","labels":["z"],"title":"T","html":"<p>one","text":""}
`

func TestJSONL(t *testing.T) {
	for name, pack := range map[string]func(testing.TB, string) string{
		"set.jsonl":     func(_ testing.TB, s string) string { return s },
		"set.jsonl.gz":  gz,
		"set.jsonl.zst": zst,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(write(t, map[string]string{name: pack(t, threeRows)}), name)
			rows, errs, rep := all(t, path, Options{})
			if len(errs) > 0 || len(rows) != 3 {
				t.Fatalf("got %d rows and errors %v, want 3 and none", len(rows), errs)
			}
			if e := rows[0]; e.HTML != "<p>one" || e.Site != "a" || e.Fields["encoding"] != "ascii" || e.Line != 1 || e.File != path {
				t.Errorf("row 1: %+v", e)
			}
			if e := rows[1]; e.Split != "test" || e.Text != "two" || !e.Matches("yy") || e.Matches("x") {
				t.Errorf("row 2: %+v", e)
			}
			if e := rows[2]; e.Label != "z" || e.Line != 4 {
				t.Errorf("row 3: label %q line %d, want z and 4", e.Label, e.Line)
			}
			if rep.Duplicates != 1 || rep.Rows != 3 || !rep.Complete {
				t.Errorf("report %+v, want 3 rows, 1 duplicate, complete", rep)
			}
		})
	}
}

// TestLabels: numbers and booleans are labels as text is.
func TestLabels(t *testing.T) {
	for value, want := range map[string][]string{
		`"label":1`: {"1"}, `"label":0`: {"0"}, `"label":1.0`: {"1"}, `"label":-1`: {"-1"}, `"label":0.5`: {"0.5"}, `"label":1e0`: {"1"},
		`"label":12345678901234567890`: {"12345678901234567890"}, `"label":true`: {"true"}, `"label":false`: {"false"}, `"label":null`: nil,
		`"label":"1"`: {"1"}, `"labels":[1,"a",true,null]`: {"1", "a", "true"}, `"label":2,"labels":[1,2]`: {"2", "1"},
	} {
		e, err := parseRow([]byte(`{"url":"http://a.test/","text":"",` + value + `}`))
		if err != nil || !slices.Equal(e.Labels, want) || len(want) > 0 && e.Label != want[0] {
			t.Errorf("%s: %+v, %v; want %q", value, e, err, want)
		}
	}
}

// TestBadRows wants a bad row to cost itself only, with its file and line.
func TestBadRows(t *testing.T) {
	tests := []struct{ name, row, want string }{
		{"no JSON", `url=x`, "want one JSON object a line"},
		{"an array", `["http://a.test/"]`, "want one JSON object a line"},
		{"cut off", `{"url":"http://a.test/","html":"<p`, "want one JSON object a line"},
		{"no url", `{"html":"<p>"}`, `no "url"`},
		{"null url", `{"url":null,"html":"<p>"}`, `no "url"`},
		{"no body", `{"url":"http://a.test/"}`, `neither "html" nor "text"`},
		{"null body", `{"url":"http://a.test/","html":null}`, `neither "html" nor "text"`},
		{"label an object", `{"url":"http://a.test/","label":{},"text":""}`, `field "label" is an object; want a string`},
		{"label an array", `{"url":"http://a.test/","label":["x"],"text":""}`, `field "label" is an array; want a string`},
		{"a label of labels an array", `{"url":"http://a.test/","labels":["x",["y"]],"text":""}`, `field "labels" has an array in it`},
		{"site a number", `{"url":"http://a.test/","site":3,"text":""}`, `field "site" is a number; want a string`},
		{"labels a string", `{"url":"http://a.test/","labels":"x","text":""}`, `field "labels" is a string; want an array`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			good := `{"url":"http://a.test/ok","label":"x","text":"fine"}`
			path := filepath.Join(write(t, map[string]string{"s.jsonl": good + "\n" + tt.row + "\n" + good}), "s.jsonl")
			rows, errs, rep := all(t, path, Options{})
			if len(rows) != 2 || len(errs) != 1 || rep.Errors != 1 {
				t.Fatalf("got %d rows, errors %v; want the 2 good rows and 1 error", len(rows), errs)
			}
			var row *RowError
			if !errors.As(errs[0], &row) || row.Line != 2 || row.File != path {
				t.Errorf("error %v does not name %s line 2", errs[0], path)
			}
			if !strings.Contains(errs[0].Error(), tt.want) {
				t.Errorf("error %q, want it to say %q", errs[0], tt.want)
			}
		})
	}
}

func TestOpenErrors(t *testing.T) {
	dir := write(t, map[string]string{
		"page.html":             "<p>",
		"empty/readme":          "nothing",
		"twice/pages.jsonl":     "",
		"twice/pages.jsonl.zst": "",
	})
	tests := []struct {
		path string
		is   error
		want string
	}{
		{"gone", fs.ErrNotExist, `want "demo"`},
		{"page.html", ErrLayout, "does not end in .jsonl"},
		{"empty", ErrLayout, "neither pages.jsonl nor folders nor pages"},
		{"twice", ErrLayout, "keep one"},
	}
	for _, tt := range tests {
		_, err := Open(filepath.Join(dir, tt.path), Options{})
		if !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Open(%s): %v, want %v saying %q", tt.path, err, tt.is, tt.want)
		}
	}
}

func TestCorpusFolder(t *testing.T) {
	dir := write(t, map[string]string{
		"pages.jsonl":    threeRows,
		"links.tsv.gz":   gz(t, "# a comment\nhttp://a.test/1\thttp://b.test/3\nhttp://b.test/3\thttp://a.test/2\n"),
		"labels.tsv.zst": zst(t, "http://a.test/1\tother\t\nhttp://b.test/3\tbirds\tbirds|animals\nhttp://c.test/9\tother\t\n"),
	})
	rows, errs, rep := all(t, dir, Options{})
	if len(errs) > 0 || len(rows) != 3 {
		t.Fatalf("got %d rows and errors %v", len(rows), errs)
	}
	for i, want := range []string{"other", "y,yy", "birds,animals"} {
		if got := strings.Join(rows[i].Labels, ","); got != want || rows[i].Label != rows[i].Labels[0] {
			t.Errorf("row %d: labels %s, want %s", i+1, got, want)
		}
	}
	if rep.Unmatched != 1 {
		t.Errorf("unmatched %d, want the one row for c.test", rep.Unmatched)
	}
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // repeatable
		var got []Link
		for l, err := range s.Links() {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, l)
		}
		if want := (Link{"http://a.test/1", "http://b.test/3"}); len(got) != 2 || got[0] != want {
			t.Fatalf("links %v, want 2, the first %v", got, want)
		}
	}
}

func TestEarlyStop(t *testing.T) {
	path := filepath.Join(write(t, map[string]string{"s.jsonl": threeRows}), "s.jsonl")
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range s.Examples() {
		break
	}
	if rep, _ := s.Report(); rep.Rows != 1 || rep.Complete {
		t.Errorf("after a break: %+v, want 1 row, not complete", rep)
	}
}
