package datasets

import (
	"strings"
	"testing"
)

func TestFolders(t *testing.T) {
	dir := write(t, map[string]string{
		"sport/soccer/a.html":  "<p>goal",
		"sport/soccer/b.htm":   "<p>na\xefve",
		"sport/pic.jpg":        "\xff\xd8",
		"science/astro/c.txt":  "a star",
		"science/astro/d.txt":  "<!DOCTYPE HTML>\n<p>markup after all",
		"science/.hidden.html": "<p>no",
		"law/notes.pdf":        "%PDF",
		"readme.txt":           "not a class",
	})
	rows, errs, rep := all(t, dir, Options{})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var got []string
	for _, e := range rows {
		got = append(got, e.Label+" "+strings.Join(e.Labels, "/")+" "+e.HTML+"|"+e.Text)
		if !strings.HasPrefix(e.URL, "http://") || strings.Contains(e.URL, e.Label) {
			t.Errorf("URL %s: want one made up, that does not tell the label %s", e.URL, e.Label)
		}
	}
	want := []string{
		"science science/astro |a star",
		"science science/astro <!DOCTYPE HTML>\n<p>markup after all|",
		"sport sport/soccer <p>goal|",
		"sport sport/soccer <p>naïve|",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("rows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if rep.NotUTF8 != 1 || rep.Skipped["not .html, .htm, .xhtml, .mhtml, .mht or .txt"] != 2 {
		t.Errorf("report %+v, want 1 not UTF-8 and 2 files skipped", rep)
	}
	if len(rep.EmptyClass) != 1 || rep.EmptyClass[0] != "law" {
		t.Errorf("empty classes %v, want law", rep.EmptyClass)
	}
	if deep, _, _ := all(t, dir, Options{Level: 1}); deep[0].Label != "astro" || deep[3].Label != "soccer" {
		t.Errorf("at level 1: %s and %s, want astro and soccer", deep[0].Label, deep[3].Label)
	}
	if again, _, _ := all(t, dir, Options{}); again[0].URL != rows[0].URL {
		t.Errorf("made-up URLs differ from pass to pass: %s, %s", again[0].URL, rows[0].URL)
	}
}

func TestFiles(t *testing.T) {
	dir := write(t, map[string]string{
		"b.html": "<p>goal", "a.TXT": "plain", "c.pdf": "%PDF", ".hidden.html": "<p>no",
	})
	rows, errs, rep := all(t, dir, Options{})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if len(rows) != 2 || rows[0].Text != "plain" || rows[1].HTML != "<p>goal" {
		t.Fatalf("rows %+v, want the text, then the markup", rows)
	}
	if rows[0].Label != "" || len(rows[0].Labels) > 0 || rows[0].URL == rows[1].URL {
		t.Errorf("rows %+v %+v: want no labels and two URLs", rows[0], rows[1])
	}
	if rep.Unlabelled != 2 || rep.Skipped["not .html, .htm, .xhtml, .mhtml, .mht or .txt"] != 1 {
		t.Errorf("report %+v, want 2 rows without label and 1 file skipped", rep)
	}
}

const mimeHead = "Date: Thu, 21 Nov 1996 21:29:27 GMT\r\nServer: NCSA/1.5\r\nContent-type: text/html\r\n\r\n"

func TestWebKB(t *testing.T) {
	dir := write(t, map[string]string{
		"course/cornell/http:^^cs.cornell.edu^Info^CS414.html": mimeHead + "<title>CS414</title>",
		"course/texas/http:^^www.cs.utexas.edu^~u^":            "<title>by ftp: no header</title>\n\nx",
		"staff/misc/http:^^a.edu^b.txt":                        strings.Replace(mimeHead, "html", "plain", 1) + "plain",
		"staff/misc/README":                                    "no URL",
	})
	rows, errs, _ := all(t, dir, Options{})
	if len(rows) != 3 || len(errs) != 1 || !strings.Contains(errs[0].Error(), "README: its name is not a URL") {
		t.Fatalf("%d rows, errors %v; want 3 and one about README", len(rows), errs)
	}
	want := []Example{
		{URL: "http://cs.cornell.edu/Info/CS414.html", Label: "course", Site: "cornell", HTML: "<title>CS414</title>"},
		{URL: "http://www.cs.utexas.edu/~u/", Label: "course", Site: "texas", HTML: "<title>by ftp: no header</title>\n\nx"},
		{URL: "http://a.edu/b.txt", Label: "staff", Site: "misc", Text: "plain"},
	}
	for i, w := range want {
		if e := rows[i]; e.URL != w.URL || e.Label != w.Label || e.Site != w.Site || e.HTML != w.HTML || e.Text != w.Text {
			t.Errorf("row %d: %+v\nwant %+v", i+1, e, w)
		}
	}
}

func TestNews(t *testing.T) {
	post := "From: a@b\nSubject: stars\nNewsgroups: sci.space\n\nI saw caf\xe9.\n\nSecond paragraph."
	tests := []struct {
		name         string
		files        map[string]string
		train, tests int
	}{
		{"by date", map[string]string{
			"20news-bydate-train/sci.space/101": post, "20news-bydate-train/rec.autos/7": post,
			"20news-bydate-test/sci.space/102": post,
		}, 2, 1},
		{"train and test", map[string]string{"train/sci.space/1": post, "test/sci.space/2": post}, 1, 1},
		{"no split", map[string]string{"sci.space/101": post, "rec.autos/7": post}, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := write(t, tt.files)
			rows, errs, rep := all(t, dir, Options{})
			if len(errs) > 0 || len(rows) != len(tt.files) {
				t.Fatalf("%d rows, errors %v", len(rows), errs)
			}
			splits := map[string]int{}
			for _, e := range rows {
				splits[e.Split]++
				if e.Text != "I saw café.\n\nSecond paragraph." {
					t.Errorf("%s: text %q, want it decoded and without header", e.File, e.Text)
				}
				if e.Label != "sci.space" && e.Label != "rec.autos" {
					t.Errorf("%s: label %q", e.File, e.Label)
				}
			}
			if splits["train"] != tt.train || splits["test"] != tt.tests || rep.NotUTF8 != len(rows) {
				t.Errorf("splits %v, %d not UTF-8", splits, rep.NotUTF8)
			}
		})
	}
}

func TestLayoutNames(t *testing.T) {
	tests := []struct {
		file, want string
	}{
		{"b.html", "files"},
		{"a/b.html", "folders"},
		{"a/b/c.html", "folders"},
		{"a/b/http:^^x.edu^", "webkb"},
		{"a/12", "20news"},
		{"20news-bydate-test/a/12", "20news"},
		{"pages.jsonl", "corpus"},
	}
	for _, tt := range tests {
		s, err := Open(write(t, map[string]string{tt.file: "x"}), Options{})
		if err != nil || s.layout != tt.want {
			t.Errorf("a folder with %s: layout %v, %v; want %s", tt.file, s, err, tt.want)
		}
	}
}

// FuzzFolderNames feeds names to every function that reads labels or URLs from them.
func FuzzFolderNames(f *testing.F) {
	f.Add("course/cornell/http:^^cs.cornell.edu^x.html")
	f.Add("a/b")
	f.Add("///")
	f.Add("course/\xff/http:^^")
	f.Add("xn--0")
	f.Fuzz(func(t *testing.T, rel string) {
		if e, err := webKBName(rel); err == nil {
			if e.Label+"/"+e.Site+"/"+strings.ReplaceAll(e.URL, "/", "^") != rel && !strings.Contains(e.URL, "^") {
				t.Errorf("%q reads as %+v, which does not write back", rel, e)
			}
		}
		u := madeUpURL(hostOf(rel), rel)
		if key, err := Key(u); err != nil || key != u {
			t.Errorf("folder %q: made-up URL %q is not in normal form: %q, %v", rel, u, key, err)
		}
	})
}

// FuzzHeader checks that header and body together are the whole file.
func FuzzHeader(f *testing.F) {
	f.Add([]byte(mimeHead + "<p>"))
	f.Add([]byte("HTTP/1.0 200 OK\nA: b\n c\n\nbody"))
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		header, body := cutHeader(file)
		if !strings.HasSuffix(string(file), string(body)) {
			t.Errorf("%q: body %q is not its end", file, body)
		}
		if header == nil && len(body) != len(file) {
			t.Errorf("%q: no header, but %d bytes are gone", file, len(file)-len(body))
		}
		rep := newReport()
		_ = decode(rep, "", body)
		_ = newsPost(rep, "", body)
	})
}
