package datasets

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/klauspost/compress/zstd"
)

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

func all(t testing.TB, path string, opt Options) ([]*Example, []error, passReport) {
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

// TestBadRows checks that a bad row costs only itself, with file and line.
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

// oracleRow parses a row with encoding/json, as a slow reference.
func oracleRow(line []byte) (*Example, error) {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(line, &raw); err != nil {
		return nil, err
	}
	e := &Example{}
	body := false
	for name, value := range raw {
		switch name {
		case "labels":
			var all []any
			if err := json.Unmarshal(value, &all); err != nil {
				return nil, fmt.Errorf("field \"labels\" is %s; want an array of strings", kind(value))
			}
			for i, one := range all {
				switch one.(type) {
				case nil:
					one = ""
				case map[string]any, []any:
					return nil, errors.New("a label of parts")
				}
				label := fmt.Sprint(one)
				if _, number := one.(float64); number {
					var raw []json.RawMessage
					if err := json.Unmarshal(value, &raw); err != nil {
						return nil, err
					}
					label, _ = labelOf(raw[i]) // TestLabels covers the rules
				}
				e.Labels = append(e.Labels, label)
			}
			continue
		case "label":
			if value[0] != '"' && value[0] != '{' && value[0] != '[' && string(value) != "null" {
				e.Label, _ = labelOf(value)
				continue
			}
		case "html", "text":
			body = body || value[0] == '"'
		}
		if string(value) == "null" {
			continue
		}
		dst := e.known(name)
		if value[0] != '"' {
			if dst != nil {
				return nil, fmt.Errorf("field %q is %s; want a string", name, kind(value))
			}
			continue
		}
		var s string
		if err := json.Unmarshal(value, &s); err != nil {
			return nil, err
		}
		if dst != nil {
			*dst = s
			continue
		}
		if e.Fields == nil {
			e.Fields = map[string]string{}
		}
		e.Fields[name] = s
	}
	if e.URL == "" {
		return nil, errors.New(`no "url"; each line needs one, as the page's name`)
	}
	if !body {
		return nil, fmt.Errorf(`page %s has neither "html" nor "text"`, e.URL)
	}
	e.tidyLabels()
	return e, nil
}

// FuzzRow compares parseRow with encoding/json and checks that rows survive a round trip.
func FuzzRow(f *testing.F) {
	for line := range strings.Lines(threeRows) {
		f.Add([]byte(line))
	}
	f.Add([]byte(`{"url":"u","text":"\ud83d\ude00 \u0000 \\ \/","labels":["","a"],"label":null}`))
	f.Add([]byte(`{"url":"u","text":"x","text":"y"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := parseRow(line)
		want, wantErr := oracleRow(line)
		// Only the first occurrence of a repeated name may be bad.
		if (err == nil) != (wantErr == nil) && !repeatsName(line) {
			t.Fatalf("%q: error %v, by encoding/json %v", line, err, wantErr)
		}
		if err != nil {
			return
		}
		if !repeatsName(line) && !reflect.DeepEqual(e, want) {
			t.Errorf("%q: read %+v, by encoding/json %+v", line, e, want)
		}
		row := map[string]any{"url": e.URL, "label": e.Label, "labels": e.Labels, "site": e.Site, "split": e.Split, "title": e.Title, "html": e.HTML, "text": e.Text}
		for k, v := range e.Fields {
			row[k] = v
		}
		out, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		again, err := parseRow(out)
		if err != nil {
			t.Fatalf("%q was written as %q: %v", line, out, err)
		}
		if len(again.Labels) == 0 {
			again.Labels = e.Labels // nil and empty are equal here
		}
		if !reflect.DeepEqual(e, again) {
			t.Errorf("%q: read %+v, and %+v after writing", line, e, again)
		}
	})
}

func repeatsName(line []byte) bool {
	seen, twice := map[string]bool{}, false
	_ = eachMember(line, func(name string, _ jsontext.Value) error { // members before an error count
		twice = twice || seen[name]
		seen[name] = true
		return nil
	})
	return twice
}

func TestWhere(t *testing.T) {
	dir := write(t, map[string]string{"pages.jsonl": threeRows})
	tests := []struct {
		where []string
		want  int
	}{
		{nil, 3},
		{[]string{"site=a"}, 1},
		{[]string{"site="}, 2},
		{[]string{"label=y"}, 1},
		{[]string{"labels=yy"}, 1},
		{[]string{"split=test", "label=y"}, 1},
		{[]string{"split=test", "label=x"}, 0},
		{[]string{"encoding=ascii"}, 1},
		{[]string{"url=http://a.test/1"}, 1},
	}
	for _, tt := range tests {
		var opt Options
		for _, s := range tt.where {
			w, err := ParseWhere(s)
			if err != nil {
				t.Fatal(err)
			}
			opt.Where = append(opt.Where, w)
		}
		rows, errs, rep := all(t, dir, opt)
		if len(errs) > 0 || len(rows) != tt.want || rep.Rows != 3 || rep.Examples != tt.want {
			t.Errorf("where %v: %d rows, %d examples of %d, errors %v; want %d of 3", tt.where, len(rows), rep.Examples, rep.Rows, errs, tt.want)
		}
	}
	if rows, _, _ := all(t, dir, Options{Labels: []string{"x", "z"}}); len(rows) != 2 {
		t.Errorf("labels x and z: %d rows, want 2", len(rows))
	}
	_, errs, _ := all(t, dir, Options{Labels: []string{"x", "yy"}})
	if len(errs) != 1 || !strings.Contains(errs[0].Error(), `no row has the label "yy"; the other labels are y, z`) {
		t.Errorf("a misspelt label: errors %v, want one that names the labels", errs)
	}
	_, errs, _ = all(t, dir, Options{Where: []condition{{"sight", "a"}}})
	if len(errs) != 1 || !strings.Contains(errs[0].Error(), `no row has a field "sight"; filter by one of`) {
		t.Errorf("a misspelt field: errors %v, want one that names the fields", errs)
	}
	for _, bad := range []string{"", "site", "=x"} {
		if _, err := ParseWhere(bad); err == nil {
			t.Errorf("ParseWhere(%q): no error", bad)
		}
	}
}

func TestReport(t *testing.T) {
	rows := `{"url":"http://a.test/1","label":"Sport","text":"a"}
{"url":"http://a.test/2","label":"sport","text":"a"}
{"url":"http://a.test/3","text":"  "}
`
	_, _, rep := all(t, write(t, map[string]string{"pages.jsonl": rows + "{\"url\":\"http://a.test/4\",\"label\":\"sport\",\"text\":\"\xff\"}"}), Options{})
	notes := strings.Join(rep.Notes(), "\n")
	for _, want := range []string{"1 row has no label, first ", "pages.jsonl:3", "1 row has an empty body", "1 row held bytes", "1 row repeats", `differ only in case, spaces`} {
		if !strings.Contains(notes, want) {
			t.Errorf("notes lack %q:\n%s", want, notes)
		}
	}
}

func TestLabelsThatLookAlike(t *testing.T) {
	for _, tc := range []struct {
		name, a, b string
		alike      bool
	}{
		{"case", "Sport", "sport", true},
		{"blanks", "ball sport", " ballsport", true},
		{"no-break space", "ball sport", "ball\u00a0sport", true},
		{"composed and decomposed", "caf\u00e9", "cafe\u0301", true},
		{"Hangul syllable and letters", "\uac00", "\u1100\u1161", true},
		{"order of marks", "q\u0307\u0323", "q\u0323\u0307", true},
		{"soft hyphen", "ball\u00adsport", "ballsport", true},
		{"zero-width space", "ball\u200bsport", "ballsport", true},
		{"zero-width joiner", "ball\u200dsport", "ballsport", true},
		{"word joiner", "ball\u2060sport", "ballsport", true},
		{"byte order mark", "\ufeffsport", "sport", true},
		{"left-to-right mark", "sport\u200e", "sport", true},
		{"combining grapheme joiner", "sp\u034fort", "sport", true},
		{"variation selector", "\u2603\ufe0f", "\u2603", true},
		{"full width", "\uff33port", "Sport", true},
		{"ligature", "\ufb01nance", "finance", true},
		{"sharp s in capitals", "STRASSE", "stra\u00dfe", true},
		{"another letter", "sport", "spurt", false},
		{"an accent", "cafe", "caf\u00e9", false},
		{"Cyrillic", "\u0441port", "sport", false},
	} {
		rows := ""
		for i, label := range []string{tc.a, tc.b} {
			row, err := json.Marshal(map[string]string{"url": fmt.Sprintf("http://a.test/%d", i), "label": label, "text": "x" + label})
			if err != nil {
				t.Fatal(err)
			}
			rows += string(row) + "\n"
		}
		_, _, rep := all(t, write(t, map[string]string{"pages.jsonl": rows}), Options{})
		if got := strings.Contains(strings.Join(rep.Notes(), "\n"), "count as different classes"); got != tc.alike {
			t.Errorf("%s: %q and %q are told of: %v, want %v", tc.name, tc.a, tc.b, got, tc.alike)
		}
	}
}

func TestReadLine(t *testing.T) {
	long := strings.Repeat("x", 100)
	in := "short\r\n" + strings.Repeat("y", 50) + "\n" + long + "\n\n" + long + "\nend"
	r := bufio.NewReaderSize(strings.NewReader(in), 16)
	want := []struct {
		line string
		err  error
	}{
		{"short", nil}, {strings.Repeat("y", 50), nil}, {"", errTooLong}, {"", nil}, {"", errTooLong}, {"end", io.EOF}, {"", io.EOF},
	}
	for i, w := range want {
		line, err := readLine(r, nil, 50)
		if string(line) != w.line || !errors.Is(err, w.err) {
			t.Errorf("line %d: %q, %v; want %q, %v", i+1, line, err, w.line, w.err)
		}
	}
}

func TestIndexFindsOtherSpellings(t *testing.T) {
	var x Index
	for row, key := range []string{
		"http://a.test/", "http://a.test/x/", "https://b.test/y", "http://c.test/p?PHPSESSID=7&q=1",
	} {
		if !x.Add(key, row) {
			t.Fatalf("%s is new and was not added", key)
		}
	}
	if x.Add("http://a.test/", 9) {
		t.Error("a repeated key was added")
	}
	for _, test := range []struct {
		key   string
		row   int
		moved string
		ok    bool
	}{
		{"http://a.test/", 0, "", true},
		{"https://a.test/", 0, "", true},
		{"http://a.test/x", 1, "http://a.test/x/", true},
		{"http://b.test/y", 2, "", true},
		{"http://b.test/y/", 2, "https://b.test/y", true},
		{"http://c.test/p?q=1", 3, "", true},
		{"http://c.test/p?q=2", 0, "", false},
		{"http://d.test/", 0, "", false},
	} {
		row, moved, ok := x.Find(test.key)
		if row != test.row || moved != test.moved || ok != test.ok {
			t.Errorf("Find(%s) = %d, %q, %v; want %d, %q, %v", test.key, row, moved, ok, test.row, test.moved, test.ok)
		}
	}
	var none Index
	if _, _, ok := none.Find("http://a.test/"); ok || len(none.rows) != 0 {
		t.Error("an empty index has something")
	}
}

func TestTruncatedArchive(t *testing.T) {
	long := strings.Repeat(`{"url":"http://a.test/ok","label":"x","text":"`+strings.Repeat("abc", 1000)+"\"}\n", 2000)
	for name, body := range map[string]string{"s.jsonl.gz": gz(t, long), "s.jsonl.zst": zst(t, long)} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(write(t, map[string]string{name: body[:len(body)/2]}), name)
			_, errs, rep := all(t, path, Options{})
			if len(errs) != 1 || !strings.Contains(errs[0].Error(), "fetch the file again") {
				t.Fatalf("errors %v, want one that says to fetch the file again", errs)
			}
			var row *RowError
			if !errors.Is(errs[0], ErrCut) || errors.As(errs[0], &row) {
				t.Errorf("%v: want ErrCut, and no RowError: it is not about one row", errs[0])
			}
			if want := fmt.Sprintf("%s:%d: ", path, rep.Rows+1); !strings.HasPrefix(errs[0].Error(), want) {
				t.Errorf("%v, want it to begin with %q", errs[0], want)
			}
			if rep.Errors != 1 || rep.Complete {
				t.Errorf("report counts %d errors, complete %v; want 1, false", rep.Errors, rep.Complete)
			}
		})
	}
}

func TestMixedEncodings(t *testing.T) {
	row := `{"url":"http://a.test/1","label":"x","text":"corneille no` + "\xe9e, Krähe \u2013 \x80 5" + `"}`
	rows, errs, rep := all(t, filepath.Join(write(t, map[string]string{"s.jsonl": row + "\n"}), "s.jsonl"), Options{})
	if len(rows) != 1 || len(errs) > 0 || rep.NotUTF8 != 1 {
		t.Fatalf("%d rows, errors %v, %d not UTF-8", len(rows), errs, rep.NotUTF8)
	}
	if want := "corneille noée, Krähe \u2013 € 5"; rows[0].Text != want {
		t.Errorf("text %q, want %q", rows[0].Text, want)
	}
}

// TestNoArchive checks that a file with a false .gz or .zst name is not a skippable row error.
func TestNoArchive(t *testing.T) {
	for _, name := range []string{"s.jsonl.gz", "s.jsonl.zst"} {
		path := filepath.Join(write(t, map[string]string{name: threeRows}), name)
		_, errs, _ := all(t, path, Options{})
		var row *RowError
		if len(errs) != 1 || errors.As(errs[0], &row) || !strings.Contains(errs[0].Error(), path) {
			t.Errorf("%s: errors %v; want one that names the file and is no RowError", name, errs)
		}
	}
}

// TestLargePage checks that an oversized body is cut and the report names its row.
func TestLargePage(t *testing.T) {
	text := "crow " + strings.Repeat("ä", MaxPageBytes/2) + "\u00e4 the end"
	rows, errs, rep := all(t, filepath.Join(write(t, map[string]string{
		"s.jsonl": threeRows + `{"url":"http://a.test/4","label":"x","text":"` + text + `"}` + "\n",
	}), "s.jsonl"), Options{})
	if len(rows) != 4 || len(errs) > 0 || rep.Large != 1 {
		t.Fatalf("%d rows, errors %v, %d large; want 4, none, 1", len(rows), errs, rep.Large)
	}
	p, err := rows[3].Page()
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Fields().Text; len(got) > MaxPageBytes || !strings.HasPrefix(got, "crow") || strings.Contains(got, "end") || strings.Contains(got, "\ufffd") {
		t.Errorf("%d bytes of text, from %.10q to %q; want no more than %d, and whole letters", len(got), got, got[max(0, len(got)-10):], MaxPageBytes)
	}
	if notes := strings.Join(rep.Notes(), "\n"); !strings.Contains(notes, "1 row has a body of more than 4 MiB") || !strings.Contains(notes, "s.jsonl:5") {
		t.Errorf("notes %s", notes)
	}
}

// FuzzFile checks that any file ends with rows in rising line order, and with an error if its
// compression is broken.
func FuzzFile(f *testing.F) {
	for i, s := range []string{threeRows, gz(f, threeRows), zst(f, threeRows), gz(f, threeRows)[:30], "\xef\xbb\xbf{}\r\n\x00", "\n\n"} {
		f.Add([]byte(s), byte(i))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, body []byte, kind byte) {
		path := filepath.Join(dir, []string{"s.jsonl", "s.jsonl.gz", "s.jsonl.zst"}[kind%3])
		if err := os.WriteFile(path, body, 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		line, rows, bad := 0, 0, 0
		for e, err := range s.Examples() {
			var row *RowError
			switch {
			case errors.As(err, &row):
				bad++
			case err != nil:
				bad++
				continue // no row may follow
			default:
				rows++
				row = &RowError{Line: e.Line}
			}
			if row.Line <= line {
				t.Fatalf("%q: line %d after line %d", body, row.Line, line)
			}
			line = row.Line
		}
		if rep, err := s.Report(); err != nil || rep.Rows != rows || rep.Errors != bad {
			t.Fatalf("%q: report %+v, %v; want %d rows and %d errors", body, rep, err, rows, bad)
		}
	})
}

// FuzzLinks checks that links survive a round trip.
func FuzzLinks(f *testing.F) {
	f.Add("http://a.test/\thttp://b.test/")
	f.Add("a\tb\tc")
	f.Fuzz(func(t *testing.T, line string) {
		l, err := parseLink(line)
		if err != nil {
			return
		}
		if again, err := parseLink(l.Src + "\t" + l.Dst); err != nil || again != l || l.Src == "" || l.Dst == "" {
			t.Errorf("%q: read %q, then %q (%v)", line, l, again, err)
		}
	})
}

// FuzzWhere checks that a filter accepts a row with exactly the wanted value.
func FuzzWhere(f *testing.F) {
	f.Add("site=cornell")
	f.Add("=")
	f.Fuzz(func(t *testing.T, s string) {
		w, err := ParseWhere(s)
		if err != nil {
			return
		}
		if w.Field+"="+w.Value != s {
			t.Errorf("%q: %+v", s, w)
		}
		e := &Example{Fields: map[string]string{w.Field: w.Value}}
		if e.known(w.Field) == nil && w.Field != "labels" {
			if pass, has := w.match(e); !pass || !has {
				t.Errorf("%q: row %+v does not pass", s, e)
			}
		}
	})
}

func TestExamplePage(t *testing.T) {
	markup := `<meta charset=iso-8859-1><title>naïve</title><p>text <a href=/rel>rel</a> <a href=http://b.test/abs>abs</a>`
	tests := []struct {
		name             string
		e                Example
		url, title, text string
		links            int
	}{
		{"markup", Example{URL: "HTTP://A.test", HTML: markup}, "http://a.test/", "naïve", "text rel abs", 2},
		{"by ftp", Example{URL: "ftp://a.test/x", HTML: markup}, "ftp://a.test/x", "naïve", "text rel abs", 1},
		{"no URL at all", Example{URL: "a page", HTML: markup}, "a page", "naïve", "text rel abs", 1},
		{"text", Example{URL: "http://a.test/", Title: "T", Text: "a <b> c"}, "http://a.test/", "T", "a <b> c", 0},
		{"nothing", Example{URL: "http://a.test/"}, "http://a.test/", "", "", 0},
	}
	for _, tt := range tests {
		p, err := tt.e.Page()
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if p.URL != tt.url || p.Title != tt.title || p.Text != tt.text || len(p.Links) != tt.links {
			t.Errorf("%s: url %q, title %q, text %q, %d links; want %q, %q, %q, %d",
				tt.name, p.URL, p.Title, p.Text, len(p.Links), tt.url, tt.title, tt.text, tt.links)
		}
	}
}
