package datasets

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"fossick/internal/testkit"
	"fossick/internal/warc"
)

func archived() []*warc.Draft {
	response := func(id, url, head, body string) *warc.Draft {
		return &warc.Draft{Type: warc.Response, ID: "urn:" + id, Target: url, Date: time.Unix(1e9, 0), ContentType: "application/http; msgtype=response", Head: []byte(head), Payload: []byte(body)}
	}
	ok := func(id, url, contentType, body string) *warc.Draft {
		return response(id, url, "HTTP/1.1 200 OK\r\nContent-Type: "+contentType+"\r\n\r\n", body)
	}
	return []*warc.Draft{
		{Type: warc.Info, ID: "urn:info", Payload: []byte("software: test\r\n")},
		ok("a", "http://a.example/", "text/html; charset=iso-8859-1", "<title>A</title>caf\xe9"),
		{Type: warc.Request, ID: "urn:r", Target: "http://a.example/", Payload: []byte("GET / HTTP/1.1\r\n\r\n")},
		{Type: warc.Metadata, ID: "urn:m", Target: "http://a.example/", Fields: []warc.Field{{Name: "WARC-Refers-To", Value: "<urn:a>"}}, ContentType: "application/warc-fields", Payload: []byte(warc.LabelField + ": food\r\nscore: 0.5\r\n")},
		ok("b", "https://b.example/b", "TEXT/HTML", "<meta charset=windows-1251><title>\xcf</title>"),
		ok("c", "http://a.example/c.txt", "text/plain", "plain"),
		ok("d", "http://a.example/d.png", "image/png", "\x89PNG"),
		ok("e", "http://a.example/robots.txt", "text/plain", "User-agent: *\nDisallow: /x\n"),
		response("f", "http://a.example/old", "HTTP/1.1 301 Moved\r\nLocation: /new\r\n\r\n", ""),
		response("g", "http://a.example/gone", "HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n\r\n", "<title>no</title>"),
		response("h", "http://a.example/", "HTTP/1.1 503 Service Unavailable\r\n\r\n", "later"),
		response("i", "http://a.example/odd", "ICY 200 OK\r\n\r\n", "radio"),
		{Type: warc.Revisit, ID: "urn:j", Target: "http://a.example/copy", Fields: []warc.Field{{Name: "WARC-Refers-To-Target-URI", Value: "http://a.example/"}}},
		{Type: warc.Revisit, ID: "urn:k", Target: "http://a.example/", Fields: []warc.Field{{Name: "WARC-Refers-To-Target-URI", Value: "http://a.example/"}}},
		{Type: warc.Conversion, ID: "urn:l", Target: "http://a.example/wet", ContentType: "text/plain", Payload: []byte("text alone")},
		{Type: warc.Resource, ID: "urn:m", Target: "http://a.example/saved", ContentType: "text/html", Payload: []byte("<title>S</title>")},
		{Type: warc.Resource, ID: "urn:n", Target: "urn:something", ContentType: "text/html", Payload: []byte("x")},
		{Type: warc.Response, ID: "urn:o", Target: "http://a.example/large", Fields: []warc.Field{{Name: "WARC-Segment-Number", Value: "1"}}, Payload: []byte("HTTP/1.1 200 OK\r\n\r\n")},
		{Type: warc.Continuation, ID: "urn:p", Target: "http://a.example/large", Payload: []byte("the rest")},
		ok("q", "http://a.example/none", "", "<html><title>N</title>"),
	}
}

func writeArchive(t *testing.T, path string, drafts []*warc.Draft) []byte {
	t.Helper()
	var file []byte
	packer := warc.NewPacker()
	for _, d := range drafts {
		var err error
		if file, err = packer.Append(file, d); err != nil {
			t.Fatal(err)
		}
	}
	testkit.Must(t, os.WriteFile(path, file, 0o600))
	return file
}

// TestWARC checks rows, labels, the Web and the skip counts of an archive.
func TestWARC(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.warc.gz")
	writeArchive(t, path, archived())
	for _, opened := range []string{path, dir} {
		set, err := Open(opened, Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]*Example{}
		for e := range testkit.All(t, set.Examples()) {
			got[e.URL] = e
		}
		want := map[string]string{
			"http://a.example/": "<title>A</title>café", "https://b.example/b": "<meta charset=windows-1251><title>П</title>", "http://a.example/c.txt": "plain",
			"http://a.example/wet": "text alone", "http://a.example/saved": "<title>S</title>", "http://a.example/none": "<html><title>N</title>",
		}
		for url, text := range want {
			if e := got[url]; e == nil || e.HTML+e.Text != text {
				t.Errorf("%s: %+v, want %q", url, e, text)
			}
		}
		if len(got) != len(want) {
			t.Errorf("rows %v", slices.Sorted(maps.Keys(got)))
		}
		if e := got["http://a.example/"]; e.Label != "food" || e.File != path || e.Line != 2 || e.Fields["date"] != "2001-09-09T01:46:40Z" {
			t.Errorf("%+v", e)
		}
		if e := got["http://a.example/c.txt"]; e.Text == "" || e.Label != "" {
			t.Errorf("%+v", e)
		}
		web := set.Web()
		if web.Redirects["http://a.example/old"] != (Redirect{"http://a.example/new", 301}) || len(web.Redirects) != 1 ||
			len(web.Status) != 1 || web.Status["http://a.example/gone"] != 404 || len(web.Robots) != 1 || !strings.Contains(web.Robots["a.example"], "/x") ||
			len(web.Copies) != 1 || web.Copies["http://a.example/copy"] != "http://a.example/" {
			t.Errorf("%+v", web)
		}
		rep, err := set.Report()
		if err != nil || !rep.Complete || rep.Errors != 0 {
			t.Errorf("%+v, %v", rep, err)
		}
		for reason, n := range map[string]int{"neither markup nor plain text": 1, "a response that is not HTTP": 1, "a repeated capture of an unchanged page": 1,
			"a record of another scheme than http and https": 1, "a part of a page that is divided into records": 2} {
			if rep.Skipped[reason] != n {
				t.Errorf("%s: %d, want %d", reason, rep.Skipped[reason], n)
			}
		}
	}
}

// TestDamagedWARC checks that damage is an error with its offset and that reading can continue; with
// Partial only the report mentions it.
func TestDamagedWARC(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.warc.gz")
	file := writeArchive(t, path, archived())
	file[bytes.Index(file[10:], []byte("\x1f\x8b\x08"))+10+60] ^= 0xff // in the member of the first page
	testkit.Must(t, os.WriteFile(path, file, 0o600))
	set, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, err := range set.Examples() {
		var at *warc.Error
		switch {
		case err == nil:
			rows++
		case !IsRow(err) || !errors.As(err, &at) || at.Offset == 0 || !strings.Contains(err.Error(), "offset"):
			t.Errorf("%v", err)
		}
	}
	if rep, err := set.Report(); rows != 5 || rep.Errors != 1 || err != nil {
		t.Errorf("%d rows, %+v, %v", rows, rep, err)
	}
	set, err = Open(path, Options{Partial: true})
	if err != nil {
		t.Fatal(err)
	}
	rows = 0
	for _, err := range set.Examples() {
		if rows++; err != nil {
			t.Fatal(err)
		}
	}
	if rep, err := set.Report(); rows != 5 || rep.Errors != 1 || err != nil || !strings.Contains(strings.Join(rep.Notes(), "\n"), "1 row could not be read, first "+path) {
		t.Errorf("%d rows, %+v, %v", rows, rep, err)
	}
	testkit.Must(t, os.WriteFile(path, file[:len(file)-20], 0o600))
	set, _ = Open(path, Options{Partial: true})
	if rep, err := set.Report(); err != nil || rep.Complete {
		t.Errorf("%+v, %v: a file that is cut short is not whole", rep, err)
	}
	if set, err = Open("nowhere.warc", Options{}); err == nil {
		t.Errorf("%v was opened", set)
	}
}

// TestWARCSniffs checks that a page with an invalid type is sniffed, as in a crawl.
func TestWARCSniffs(t *testing.T) {
	values := []string{"text/html charset=utf-8", "[text/html]", `"text/html"`, "html", "text/", "*/*", "unknown/unknown"}
	var drafts []*warc.Draft
	for i, value := range values {
		for name, body := range map[string]string{"page": "<!doctype html><title>T</title>", "text": "BM begins a text", "file": "BM\x00\x01\x02\x03"} {
			drafts = append(drafts, &warc.Draft{
				Type: warc.Response, ID: fmt.Sprintf("urn:%s%d", name, i), Target: fmt.Sprintf("http://a.example/%s%d", name, i), Date: time.Unix(1e9, 0),
				ContentType: "application/http; msgtype=response", Head: []byte("HTTP/1.1 200 OK\r\nContent-Type: " + value + "\r\n\r\n"), Payload: []byte(body),
			})
		}
	}
	path := filepath.Join(t.TempDir(), "x.warc.gz")
	writeArchive(t, path, drafts)
	set := testkit.Call(Open(path, Options{})).Must(t)
	found := map[string]int{}
	for e := range testkit.All(t, set.Examples()) {
		if strings.Contains(e.URL, "page") && e.HTML != "" || strings.Contains(e.URL, "text") && e.Text != "" {
			found[e.URL[17:21]]++
		} else {
			t.Errorf("%s is %+v", e.URL, e)
		}
	}
	if found["page"] != len(values) || found["text"] != len(values) {
		t.Errorf("%v, want %d of each", found, len(values))
	}
}

// TestBrokenWACZ checks that a zip damaged midway yields its readable rows and one error, with Partial
// too.
func TestBrokenWACZ(t *testing.T) {
	class := testkit.Tries(t, "archives that cannot be read on")
	var plain []byte
	for i := range 200 {
		body := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>%d</title>%s", i, strings.Repeat(fmt.Sprint(i*i), 100))
		plain = fmt.Appendf(plain, "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:%d>\r\nWARC-Target-URI: http://a.test/%d\r\nContent-Type: application/http\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", i, i, len(body), body)
	}
	var members []byte
	packer := warc.NewPacker()
	for _, d := range archived() {
		var err error
		if members, err = packer.Append(members, d); err != nil {
			t.Fatal(err)
		}
	}
	for name, file := range map[string][]byte{"a.warc": plain, "a.warc.gz": members} {
		for _, method := range []uint16{zip.Store, zip.Deflate} {
			for what, harm := range map[string]func(h *zip.FileHeader, raw []byte) []byte{
				"cut":        func(_ *zip.FileHeader, raw []byte) []byte { return raw[:len(raw)/2] },
				"a checksum": func(h *zip.FileHeader, raw []byte) []byte { h.CRC32++; return raw },
				"a bad middle": func(_ *zip.FileHeader, raw []byte) []byte {
					copy(raw[len(raw)/2:], "\xff\xff\xff\xff\xff\xff")
					return raw
				},
				"a wrong size":  func(h *zip.FileHeader, raw []byte) []byte { h.UncompressedSize64 /= 2; return raw },
				"a larger size": func(h *zip.FileHeader, raw []byte) []byte { h.UncompressedSize64 *= 2; return raw },
			} {
				path := waczOf(t, "archive/"+name, method, file, harm)
				for _, partial := range []bool{false, true} {
					set := testkit.Call(Open(path, Options{Partial: partial})).Must(t)
					rows, bad := 0, 0
					var last error
					for _, err := range set.Examples() {
						if rows++; err != nil {
							last = err
							if bad++; bad > 200 {
								break
							}
						}
					}
					rowsBefore := 2 // in the undamaged half
					if strings.HasSuffix(what, "size") || name == "a.warc.gz" && method == zip.Deflate {
						rowsBefore = 0 // the decompressor returns nothing of a damaged first block
					}
					ended := bad >= 1 && bad <= 200 && !IsRow(last) && strings.HasPrefix(last.Error(), path)
					class.Try(ended && rows-bad >= rowsBefore, "%s in %d with %s, partial %v: %d rows, %d errors, the last %v", name, method, what, partial, rows-bad, bad, last)
				}
			}
		}
	}
}

// waczOf writes an archive of one file and applies harm to its zip.
func waczOf(t testing.TB, name string, method uint16, file []byte, harm func(*zip.FileHeader, []byte) []byte) string {
	t.Helper()
	var whole bytes.Buffer
	z := zip.NewWriter(&whole)
	w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method})
	if err == nil {
		_, err = w.Write(file)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(whole.Bytes()), int64(whole.Len()))
	if err != nil {
		t.Fatal(err)
	}
	offset, err := r.File[0].DataOffset()
	if err != nil {
		t.Fatal(err)
	}
	head := r.File[0].FileHeader
	raw := harm(&head, bytes.Clone(whole.Bytes()[offset:offset+int64(head.CompressedSize64)]))
	head.CompressedSize64 = uint64(len(raw))
	var out bytes.Buffer
	z = zip.NewWriter(&out)
	w, err = z.CreateRaw(&head)
	if err == nil {
		_, err = w.Write(raw)
	}
	if err == nil {
		err = z.Close()
	}
	path := filepath.Join(t.TempDir(), "a.wacz")
	if err == nil {
		err = os.WriteFile(path, out.Bytes(), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestZipBombs checks that a WACZ entry with implausible expansion is rejected before it is read.
func TestZipBombs(t *testing.T) {
	class := testkit.Tries(t, "bombs")
	head := "WARC/1.1\r\nWARC-Type: response\r\nContent-Length: 104857600\r\n\r\n"
	plain := append([]byte(head), make([]byte, 100<<20)...)
	for name, file := range map[string][]byte{"a.warc": plain, "a.warc.gz": make([]byte, 2<<20), "a.warc.zst": make([]byte, 2<<20)} {
		path := waczOf(t, "archive/"+name, zip.Deflate, file, func(_ *zip.FileHeader, raw []byte) []byte { return raw })
		set := testkit.Call(Open(path, Options{Partial: true})).Must(t)
		var last error
		for _, err := range set.Examples() {
			last = err
		}
		class.Try(errors.Is(last, warc.ErrBomb), "%s: %v", name, last)
	}
}

func mhtml(header, part, body string) string {
	return strings.ReplaceAll("From: <Saved by Blink>\n"+header+"MIME-Version: 1.0\nContent-Type: multipart/related;\n\ttype=\"text/html\";\n\tboundary=\"--b--\"\n\n\n"+
		"----b--\nContent-Type: image/png\nContent-Location: http://cdn.test/i.png\nContent-Transfer-Encoding: base64\n\nAAAA\n"+
		"----b--\n"+part+"\n\n"+body+"\n----b----\n", "\n", "\r\n")
}

// TestSavedPages checks the URLs of saved pages: the browser's record outranks the page's own claim,
// and the first page to claim a URL gets it.
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

// TestBadMHTML checks that a bad file costs only its row, and the error has the byte offset.
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

// FuzzSaved checks that a saved page's URL is in normal form and that any MHTML file can be read.
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

// TestNoFilesOfOthers checks that links out of the folder, pipes and devices are skipped and noted. The
// folder itself may be a link.
func TestNoFilesOfOthers(t *testing.T) {
	const secret = "root:x:0:0"
	files := testkit.Tries(t, "files that are none of a corpus")
	for _, c := range []struct {
		layout, page string // where the layout has a page
		pages        int    // pages read
	}{
		{"files", "page.html", 2},
		{"folders", "class/page.html", 2},
		{"folders", "class/sub/page.html", 2},
		{"webkb", "class/university/http:^^a.test^page.html", 2},
		{"20news", "class/1234", 2},
	} {
		t.Run(c.layout, func(t *testing.T) {
			top := t.TempDir()
			real := filepath.Join(top, "real")
			page := filepath.Join(real, filepath.FromSlash(c.page))
			dir, ext := filepath.Dir(page), filepath.Ext(page)
			beside := func(name string) string { // adds a file that the layout takes for a page
				if c.layout == "20news" {
					return filepath.Join(dir, map[string]string{"a": "1", "b": "2", "c": "3", "d": "4", "e": "5", "f": "6"}[name])
				}
				return filepath.Join(dir, strings.TrimSuffix(filepath.Base(page), ext)+name+ext)
			}
			testkit.Must(t, errors.Join(
				os.WriteFile(filepath.Join(top, "secret.html"), []byte(secret), 0o600), os.MkdirAll(dir, 0o700),
				os.WriteFile(page, []byte("Subject: x\n\n<title>x</title> a page"), 0o600),
				os.Symlink(page, beside("a")), os.Symlink(filepath.Join(top, "secret.html"), beside("b")), os.Symlink("/dev/zero", beside("c")),
				syscall.Mkfifo(beside("d"), 0o600), os.Symlink(beside("d"), beside("e")), os.Symlink("nowhere", beside("f")),
				os.Symlink("real", filepath.Join(top, "set")),
			))
			set := testkit.Call(Open(filepath.Join(top, "set"), Options{})).Must(t)
			n := 0
			for e, err := range set.Examples() {
				if err != nil {
					t.Error(err)
					continue
				}
				n++
				files.Try(!strings.Contains(e.HTML+e.Text, secret), "%s has words of a file that is none of the set", e.File)
			}
			if n != c.pages || set.layout != c.layout {
				t.Errorf("%d pages in layout %s, want %d in %s", n, set.layout, c.pages, c.layout)
			}
			report := testkit.Call(set.Report()).Must(t)
			notes := strings.Join(report.Notes(), "\n")
			for _, want := range []string{"2 files skipped: a link that leads out of the folder, first ", "2 files skipped: not a regular file", "1 file skipped: a link that leads nowhere"} {
				files.Try(strings.Contains(notes, want), "notes %q, want %q", notes, want)
			}
		})
	}

	dir := t.TempDir()
	for _, name := range []string{"pages.jsonl", "links.tsv", "labels.tsv"} {
		testkit.Must(t, os.RemoveAll(dir))
		testkit.Must(t, errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "pages.jsonl"), nil, 0o600)))
		os.Remove(filepath.Join(dir, name))
		testkit.Must(t, syscall.Mkfifo(filepath.Join(dir, name), 0o600))
		_, err := Open(dir, Options{})
		files.Try(errors.Is(err, ErrLayout) && strings.Contains(err.Error(), name), "%s is a pipe: %v", name, err)
	}
}
