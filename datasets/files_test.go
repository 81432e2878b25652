package datasets

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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

// TestMixedEncodings: what is UTF-8 stays so beside bytes that are not.
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

// TestNoArchive: a file that its name lies about is no row that may be left out.
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

// TestLargePage: of a body beyond what a crawl takes the beginning is read, and it
// is said of which row.
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

// FuzzFile: whatever a file holds, packed or not, reading it ends, with rows whose
// lines rise, and with an error where it is no archive.
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
				continue // and nothing may follow
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

// FuzzLinks: no panic, and a link that was read is read the same after being written.
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

// FuzzWhere: no panic, and a filter holds for a row that has just what it asks for.
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
