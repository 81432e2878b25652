package datasets

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// oracleRow reads a row by encoding/json: slow and obvious.
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
					label, _ = labelOf(raw[i]) // TestLabels has its rules
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

// FuzzRow: no panic; the same as encoding/json gives; a row that was read is read the same after being written.
func FuzzRow(f *testing.F) {
	for line := range strings.Lines(threeRows) {
		f.Add([]byte(line))
	}
	f.Add([]byte(`{"url":"u","text":"\ud83d\ude00 \u0000 \\ \/","labels":["","a"],"label":null}`))
	f.Add([]byte(`{"url":"u","text":"x","text":"y"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := parseRow(line)
		want, wantErr := oracleRow(line)
		// A name that comes twice may be bad the first time only.
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
			again.Labels = e.Labels // nil or empty
		}
		if !reflect.DeepEqual(e, again) {
			t.Errorf("%q: read %+v, and %+v after writing", line, e, again)
		}
	})
}

// repeatsName reports whether an object has two members of one name.
func repeatsName(line []byte) bool {
	seen, twice := map[string]bool{}, false
	_ = eachMember(line, func(name string, _ jsontext.Value) error { // what is read before an error counts
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
	_, errs, _ = all(t, dir, Options{Where: []Where{{"sight", "a"}}})
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

// TestLabelsThatLookAlike: labels that a reader takes for one are named together, and
// others are not.
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

// BenchmarkRow decodes a row with 21 KB of markup.
func BenchmarkRow(b *testing.B) {
	html := strings.Repeat("<p class=\"a\">Some text,\n and a <a href=\"/x\">link</a>.</p>\n", 380)
	line, err := json.Marshal(map[string]string{"url": "http://a.test/", "label": "x", "site": "a.test", "title": "T", "html": html})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if _, err := parseRow(line); err != nil {
			b.Fatal(err)
		}
	}
}
