package archive

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"fossick/export/collection"
	"fossick/export/exporttest"
	"fossick/internal/warc"
)

func write(t testing.TB, pages ...*collection.Page) exporttest.Shelf {
	files := exporttest.Shelf{}
	exporttest.Write(t, NewWARC(files, "warc/"), nil, pages)
	return files
}

// TestWARC: a page is a response and what is known of it, and the same bytes each time.
func TestWARC(t *testing.T) {
	half := 0.5
	source := &collection.Source{Name: "crawl"}
	pages := []*collection.Page{
		{ID: "urn:uuid:1", Source: source, Number: 1, URL: "http://a.test/", ContentType: "text/html\r\nX: y", Fetched: time.Unix(1e9, 0),
			Label: "banking", Probability: &half, Score: 0.25, Why: "loan\n→ banking", Body: []byte("<title>A</title>")},
		{ID: "urn:uuid:2", Source: source, Number: 2, URL: "http://a.test/2", Damaged: true},
		{ID: "urn:uuid:3", Source: source, Number: 3, URL: "http://a.test/3", ContentType: "text/plain", Fetched: time.Unix(1e9, 0), FoundBy: "http://a.test/", Depth: 1},
	}
	for n := range 30 { // more than are packed at once
		more := *pages[2]
		more.ID, more.Body = fmt.Sprint("urn:uuid:more", n), bytes.Repeat([]byte("x"), 10000*(30-n))
		pages = append(pages, &more)
	}
	files := write(t, pages...)
	file := files["warc/pages-00001.warc.gz"]
	if again := write(t, pages...)["warc/pages-00001.warc.gz"]; len(files) != 1 || file == nil || !bytes.Equal(file.Bytes(), again.Bytes()) {
		t.Fatalf("files %v, which are not the same each time", files)
	}
	r, err := warc.NewReader(bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for {
		rec, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		block, err := io.ReadAll(rec.Body)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, rec.Type()+" "+rec.RefersTo()+" "+rec.Target()+"\n"+string(block))
	}
	want := []string{
		"", // warcinfo
		"response  http://a.test/\nHTTP/1.1 200 OK\r\nContent-Type: text/html  X: y\r\nContent-Length: 16\r\n\r\n<title>A</title>",
		"metadata urn:uuid:1 http://a.test/\nhopsFromSeed: 0\r\nfossick-collection: crawl\r\nfossick-crawl-order: 1\r\nfossick-label: banking\r\nfossick-probability: 0.5\r\nfossick-score: 0.25\r\nfossick-why: loan → banking\r\nfossick-header: made from the type and the length, because the store keeps no more\r\n",
		"response  http://a.test/3\nHTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n",
		"metadata urn:uuid:3 http://a.test/3\nvia: http://a.test/\r\nhopsFromSeed: 1\r\nfossick-collection: crawl\r\nfossick-crawl-order: 3\r\nfossick-score: 0\r\nfossick-header: made from the type and the length, because the store keeps no more\r\n",
	}
	for n := range 30 { // in order
		if i := len(want) + 2*n + 1; i >= len(got) || !strings.HasPrefix(got[i], fmt.Sprint("metadata urn:uuid:more", n, " ")) {
			t.Fatalf("record %d of %d is not the metadata of page %d", i, len(got), n)
		}
	}
	if len(got) != len(want)+60 || !strings.HasPrefix(got[0], "warcinfo") || !strings.Contains(got[0], "cookies and credentials that were sent are left out") {
		t.Fatalf("%q", got)
	}
	for i := 1; i < len(want); i++ {
		if got[i] != want[i] {
			t.Errorf("record %d:\ngot  %q\nwant %q", i, got[i], want[i])
		}
	}
}

// BenchmarkWARC writes pages of 20 KB of markup.
func BenchmarkWARC(b *testing.B) {
	files := exporttest.Shelf{}
	s := NewWARC(files, "")
	body := bytes.Repeat([]byte("<p class=text>Words of a page that are like those of others, and some that are not.</p>\n"), 230)
	p := &collection.Page{ID: "urn:uuid:1", Source: &collection.Source{Name: "crawl"}, URL: "http://a.test/", Body: body}
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if err := s.Write(context.Background(), p); err != nil {
			b.Fatal(err)
		}
		for _, f := range files {
			f.Reset()
		}
	}
}
