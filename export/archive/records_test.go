package archive

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"fossick/export/collection"
	"fossick/export/exporttest"
	"fossick/internal/warc"
)

const asked = "GET /page HTTP/1.1\r\nHost: a.test\r\nUser-Agent: odd\r\n"

// told is a page with all kinds of exchanges.
func told() *collection.Page {
	body := []byte("<title>A</title>")
	at := func(hours int) time.Time { return time.Unix(1e9, 5e8).Add(time.Duration(hours) * time.Hour).UTC() }
	exchange := func(told collection.Told, url string, hours int, response string) collection.Exchange {
		return collection.Exchange{Told: told, URL: url, At: at(hours), Protocol: "http/1.1", Addr: netip.MustParseAddr("192.0.2.1"),
			Request: []byte(asked), Response: []byte(response), Digest: sha1.Sum(body)}
	}
	const u = "http://a.test/page"
	gave := exchange(collection.Gave, u, 0, "HTTP/1.1 200 Fine\r\nserver:  odd \r\nContent-type: text/html\r\nCONTENT-ENCODING: gzip\r\ntransfer-encoding: chunked\r\nX-b: 1\r\n")
	other := exchange(collection.Repeated, "http://b.test/other", 2, "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n")
	other.Digest[0]++
	cut := exchange(collection.Repeated, "http://b.test/copy", 1, "HTTP/2.0 200 OK\r\ncontent-length: 16\r\n")
	cut.Cut, cut.Protocol, cut.Addr, cut.Request = true, "h2", netip.Addr{}, nil
	return &collection.Page{
		ID: "urn:uuid:1", Source: &collection.Source{Name: "crawl"}, Number: 1, URL: u, ContentType: "text/html", Fetched: at(0), Body: body, Exchange: &gave,
		Others: []collection.Exchange{
			exchange(collection.Same, u, 24, "HTTP/1.1 304 Not Modified\r\nEtag: \"1\"\r\n"), cut, other,
			exchange(collection.Led, "http://a.test/old", -1, "HTTP/1.1 301 Gone There\r\nLocation: /page\r\nContent-Type: text/html\r\nContent-Length: 162\r\n"),
			exchange(collection.Led, "http://a.test/older", -2, "HTTP/1.1 302 Found\r\nLocation: /old\r\nContent-Length: 0\r\n"),
		},
	}
}

// TestExchanges: what went over the wire is in the archive, true of the bodies that are there;
// an index leads to each response, revisit and redirect; net/http reads the responses.
func TestExchanges(t *testing.T) {
	p := told()
	untold := &collection.Page{ID: "urn:uuid:2", Source: p.Source, Number: 2, URL: "http://a.test/2", ContentType: "text/plain", Fetched: p.Fetched}
	file := write(t, p, untold)["warc/pages-00001.warc.gz"].Bytes()
	r, err := warc.NewReader(bytes.NewReader(file))
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
		if rec.Type() == warc.Response {
			res, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(block)), nil)
			if err != nil {
				t.Fatalf("%s: %v", rec.Target(), err)
			}
			if body, err := io.ReadAll(res.Body); err != nil || rec.Header.Get("WARC-Payload-Digest") != warc.Digest(body) || res.Uncompressed {
				t.Errorf("%s: body %q, %v; its digest is %s", rec.Target(), body, err, rec.Header.Get("WARC-Payload-Digest"))
			}
		}
		if rec.Type() == warc.Info || rec.Type() == warc.Metadata {
			continue
		}
		line := []string{rec.Type(), rec.Target(), rec.Header.Get("WARC-Date")}
		for _, name := range []string{"WARC-Concurrent-To", "WARC-Refers-To", "WARC-Refers-To-Target-URI", "WARC-Refers-To-Date", "WARC-Profile", "WARC-IP-Address", "WARC-Protocol", "WARC-Truncated"} {
			if v := rec.Header.Get(name); v != "" {
				line = append(line, strings.TrimPrefix(name, "WARC-")+"="+v)
			}
		}
		got = append(got, strings.Join(line, " ")+"\n"+string(block))
	}
	const (
		day      = "2001-09-09T01:46:40Z"
		from     = " IP-Address=192.0.2.1 Protocol=http/1.1"
		to       = " Refers-To=<urn:uuid:1> Refers-To-Target-URI=http://a.test/page Refers-To-Date=" + day + " Profile=http://netpreserve.org/warc/1.1/revisit/"
		revisits = "http://a.test/page 2001-09-10T01:46:40Z"
	)
	request := func(of, to string) string {
		return "request " + of + " Concurrent-To=<" + to + ">\n" + asked + "\r\n"
	}
	id := func(x collection.Exchange) string {
		return derived("urn:uuid:1", fmt.Sprint("other ", x.URL, " ", x.At.UnixMilli()))
	}
	want := []string{
		"response http://a.test/page " + day + from + "\nHTTP/1.1 200 Fine\r\nserver:  odd \r\nContent-type: text/html\r\nX-Archive-Orig-CONTENT-ENCODING: gzip\r\n" +
			"X-Archive-Orig-transfer-encoding: chunked\r\nX-b: 1\r\nContent-Length: 16\r\n\r\n<title>A</title>",
		request("http://a.test/page "+day, "urn:uuid:1"),
		"revisit " + revisits + to + "server-not-modified" + from + "\nHTTP/1.1 304 Not Modified\r\nEtag: \"1\"\r\n\r\n",
		request(revisits, id(p.Others[0])),
		"revisit http://b.test/copy 2001-09-09T02:46:40Z" + to + "identical-payload-digest Protocol=h2 Truncated=length\nHTTP/2.0 200 OK\r\ncontent-length: 16\r\n\r\n",
		"response http://a.test/old 2001-09-09T00:46:40Z" + from + " Truncated=unspecified\nHTTP/1.1 301 Gone There\r\nLocation: /page\r\nContent-Type: text/html\r\n" +
			"X-Archive-Orig-Content-Length: 162\r\nContent-Length: 0\r\n\r\n",
		request("http://a.test/old 2001-09-09T00:46:40Z", id(p.Others[3])),
		"response http://a.test/older 2001-09-08T23:46:40Z" + from + "\nHTTP/1.1 302 Found\r\nLocation: /old\r\nContent-Length: 0\r\n\r\n",
		request("http://a.test/older 2001-09-08T23:46:40Z", id(p.Others[4])),
		"response http://a.test/2 " + day + "\nHTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n",
	}
	for i := range max(len(got), len(want)) {
		if g, w := append(got, make([]string, 20)...)[i], append(want, make([]string, 20)...)[i]; g != w {
			t.Errorf("record %d:\ngot  %q\nwant %q", i, g, w)
		}
	}
	checkIndexed(t, file, p, untold)
}

// checkIndexed holds the index of an archive against it.
func checkIndexed(t *testing.T, file []byte, pages ...*collection.Page) {
	t.Helper()
	index := exporttest.Shelf{}
	s, err := NewCDXJ(index, "index.cdxj")
	exporttest.Write(t, s, err, pages)
	var got []string
	for line := range strings.Lines(index["index.cdxj"].String()) {
		var at struct{ URL, Mime, Status, Digest, Offset, Length string }
		if err := json.Unmarshal([]byte(line[strings.IndexByte(line, '{'):]), &at); err != nil {
			t.Fatal(err)
		}
		var offset, length int
		if _, err := fmt.Sscan(at.Offset, &offset); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscan(at.Length, &length); err != nil {
			t.Fatal(err)
		}
		r, err := warc.NewReader(bytes.NewReader(file[offset : offset+length]))
		if err != nil {
			t.Fatal(err)
		}
		rec, err := r.Next()
		if err != nil || rec.Target() != at.URL || rec.Header.Get("WARC-Payload-Digest") != at.Digest {
			t.Fatalf("%s leads to %+v, %v", line, rec, err)
		}
		_, _ = io.Copy(io.Discard, rec.Body)
		if _, err := r.Next(); err != io.EOF {
			t.Errorf("%s leads to more than a record", line)
		}
		got = append(got, strings.Join([]string{rec.Type(), at.URL, at.Mime, at.Status}, " "))
	}
	want := []string{"response http://a.test/2 text/plain 200", "response http://a.test/old text/html 301", "response http://a.test/older unk 302",
		"response http://a.test/page text/html 200", "revisit http://a.test/page warc/revisit 304", "revisit http://b.test/copy warc/revisit 200"}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
