package datasets

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// mhtml is a page as browsers save it with all that belongs to it.
func mhtml(header, part, body string) string {
	return strings.ReplaceAll("From: <Saved by Blink>\n"+header+"MIME-Version: 1.0\nContent-Type: multipart/related;\n\ttype=\"text/html\";\n\tboundary=\"--b--\"\n\n\n"+
		"----b--\nContent-Type: image/png\nContent-Location: http://cdn.test/i.png\nContent-Transfer-Encoding: base64\n\nAAAA\n"+
		"----b--\n"+part+"\n\n"+body+"\n----b----\n", "\n", "\r\n")
}

// TestSavedPages: a saved page has the address that it was saved from. What the browser says
// counts more than what the page says; of two pages that claim one address the first has it.
func TestSavedPages(t *testing.T) {
	dir := write(t, map[string]string{
		"a.html":        `<!DOCTYPE html><!-- saved from url=(0023)https://a.test/x?utm=1 --><link rel=canonical href="http://a.test/other"><p>a`,
		"a_files/s.htm": `<p>what belongs to a`,
		"b.html":        "<!--\n Page saved with SingleFile \n url: http://b.test/ \n saved date: today\n--><p>b",
		"c.html":        `<!-- saved from url=(0014)about:internet --><link rel="me CANONICAL" href="http://c.test/c#top"><meta property="og:url" content="http://c.test/og"><p>c`,
		"d.html":        `<link rel=canonical href="/relative"><meta property=og:url content="http://d.test/og"><p>d`,
		"e.html":        `<base href="http://e.test/page"><p>e`,
		"f.html":        `<base href="http://f.test/"><p>f`,
		"g.html":        `<body><link rel=canonical href="http://g.test/in-the-body"><p>g`,
		"h.html":        `<link rel=canonical href="http://b.test/"><p>h, which claims what b has`,
		"i.html":        `<!-- Mirrored from i.test/deep/page by HTTrack Website Copier/3.x [XR&CO'2014], Mon --><p>i`,
		"j.mhtml":       mhtml("Snapshot-Content-Location: http://j.test/j\n", "Content-Type: text/html; charset=windows-1252\nContent-Transfer-Encoding: quoted-printable", "<p>caf=E9 =\nj"),
		"k.mht":         mhtml("", "Content-Type: text/html; charset=utf-8\nContent-Location: http://k.test/\nContent-Transfer-Encoding: base64", base64.StdEncoding.EncodeToString([]byte("<p>käfer"))),
		"l.txt":         "plain",
	})
	rows, errs, _ := all(t, dir, Options{})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var got []string
	for _, e := range rows {
		if strings.HasSuffix(e.URL, "") && strings.Contains(e.URL, madeUpHost+"/") {
			e.URL = "made up"
		}
		got = append(got, e.URL)
	}
	want := []string{"https://a.test/x?utm=1", "http://b.test/", "http://c.test/c", "http://d.test/og", "http://e.test/page", "made up", "made up", "made up",
		"http://i.test/deep/page", "http://j.test/j", "http://k.test/", "made up"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if text := fmt.Sprint(rows[9].HTML, rows[10].HTML); text != "<p>café j<p>käfer" {
		t.Errorf("MHTML: %q", text)
	}
}

// TestBadMHTML: what is no MHTML costs its own row, and the error says where it ends.
func TestBadMHTML(t *testing.T) {
	whole := mhtml("", "Content-Type: text/html\nContent-Transfer-Encoding: quoted-printable", "<p>x")
	for name, c := range map[string]struct{ file, want string }{
		"empty":    {"", "by byte 0 of 0"},
		"page":     {"<html><p>a: b", "by byte 13 of 13"},
		"cut":      {whole[:len(whole)-14], "unexpected EOF"},
		"no page":  {strings.ReplaceAll(whole, "Content-Type: text/html\r", "Content-Type: text/css\r"), "none of its parts is HTML"},
		"boundary": {strings.ReplaceAll(whole, "boundary=", "b="), "with a boundary"},
	} {
		rows, errs, _ := all(t, write(t, map[string]string{"a.mhtml": c.file, "b.html": "<p>b"}), Options{})
		if len(rows) != 1 || len(errs) != 1 || !IsRow(errs[0]) || !strings.Contains(errs[0].Error(), c.want) || !strings.Contains(errs[0].Error(), "a.mhtml") {
			t.Errorf("%s: %d rows, %v; want one that says %q", name, len(rows), errs, c.want)
		}
	}
}

// FuzzSaved: whatever a saved page is, its address is one of the web in normal form, and an
// MHTML file is read to an end.
func FuzzSaved(f *testing.F) {
	f.Add(`<!-- saved from url=(0023)https://a.test/ --><link rel=canonical href=http://b.test/>`)
	f.Add("<!-- Page saved with SingleFile url: --><base href=x><meta property=og:url content=' http://[::1]/ '>")
	f.Add(mhtml("Snapshot-Content-Location: http://j.test/j\n", "Content-Type: text/html", "<p>x"))
	f.Fuzz(func(t *testing.T, file string) {
		text, saved, err := parseMHTML([]byte(file))
		if err != nil && (text != "" || saved != "") && !strings.Contains(err.Error(), "by byte") {
			t.Errorf("%q, %q, %v", text, saved, err)
		}
		for _, page := range []string{file, text} {
			u := ownURLs{}.of(saved, page)
			if u == "" {
				continue
			}
			if again, err := Key(u); err != nil || again != u {
				t.Errorf("%q is no normal form: %q, %v", u, again, err)
			}
		}
	})
}
