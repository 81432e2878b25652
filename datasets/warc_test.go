package datasets

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fossick/internal/warc"
)

// archived are records as a crawler would write them.
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
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestWARC: an archive's pages are rows, decoded and labelled; what servers answered
// besides is its Web; the rest is counted.
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
		for e, err := range set.Examples() {
			if err != nil {
				t.Fatal(err)
			}
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

// TestDamagedWARC: damage is an error with its offset, and the rest is read: by whoever goes
// on, or with Partial without a word but in the report.
func TestDamagedWARC(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.warc.gz")
	file := writeArchive(t, path, archived())
	file[bytes.Index(file[10:], []byte("\x1f\x8b\x08"))+10+60] ^= 0xff // in the member of the first page
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
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
	if err := os.WriteFile(path, file[:len(file)-20], 0o600); err != nil {
		t.Fatal(err)
	}
	set, _ = Open(path, Options{Partial: true})
	if rep, err := set.Report(); err != nil || rep.Complete {
		t.Errorf("%+v, %v: a file that is cut short is not whole", rep, err)
	}
	if set, err = Open("nowhere.warc", Options{}); err == nil {
		t.Errorf("%v was opened", set)
	}
}

// TestWARCSniffs: a page whose type is none is taken by its bytes, as in a crawl.
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
	set, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for e, err := range set.Examples() {
		if err != nil {
			t.Fatal(err)
		}
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
