package export

import (
	"archive/zip"
	"bufio"
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"fossick/internal/testkit"
	"fossick/internal/warc"
	"fossick/store"
)

func writeWARC(t testing.TB, pages ...*Page) shelf { return written(t, newWARC, "warc/", pages) }

type archived struct {
	*warc.Record
	block string
}

func recordsOf(t *testing.T, file []byte) (all []archived) {
	t.Helper()
	r := testkit.Call(warc.NewReader(bytes.NewReader(file))).Must(t)
	for {
		rec, err := r.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		block, err := io.ReadAll(rec.Body)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, archived{rec, string(block)})
	}
}

// pointed returns the object of an index line, and the only record that it points to.
func pointed(t *testing.T, line string, files map[string][]byte) (at map[string]string, rec archived) {
	t.Helper()
	testkit.Must(t, json.Unmarshal([]byte(line[strings.IndexByte(line, '{'):]), &at))
	offset, _ := strconv.Atoi(at["offset"])
	length, _ := strconv.Atoi(at["length"])
	all := recordsOf(t, files[at["filename"]][offset:offset+length])
	if len(all) != 1 || all[0].Target() != at["url"] || all[0].Header.Get("WARC-Payload-Digest") != at["digest"] {
		t.Fatalf("%s points to %d records: %+v", line, len(all), all)
	}
	return at, all[0]
}

// TestWARC: a page becomes a response and a metadata record, with the same bytes each time.
func TestWARC(t *testing.T) {
	half := 0.5
	source := &Source{Name: "crawl"}
	pages := []*Page{
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
	files := writeWARC(t, pages...)
	file := files["warc/pages-00001.warc.gz"]
	if again := writeWARC(t, pages...)["warc/pages-00001.warc.gz"]; len(files) != 1 || file == nil || !bytes.Equal(file.Bytes(), again.Bytes()) {
		t.Fatalf("files %v, which are not the same each time", files)
	}
	var got []string
	for _, rec := range recordsOf(t, file.Bytes()) {
		got = append(got, rec.Type()+" "+rec.RefersTo()+" "+rec.Target()+"\n"+rec.block)
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

const asked = "GET /page HTTP/1.1\r\nHost: a.test\r\nUser-Agent: odd\r\n"

// tells is a page with every kind of exchange.
func tells() *Page {
	body := []byte("<title>A</title>")
	at := func(hours int) time.Time { return time.Unix(1e9, 5e8).Add(time.Duration(hours) * time.Hour).UTC() }
	made := func(kind store.WireKind, url string, hours int, response string) store.Exchanged {
		return store.Exchanged{Kind: kind, URL: url, Start: at(hours).UnixMilli(), Digest: sha1.Sum(body),
			Wire: store.Wire{Protocol: "http/1.1", Addr: netip.MustParseAddr("192.0.2.1"), Request: []byte(asked), Response: []byte(response)}}
	}
	const u = "http://a.test/page"
	gave := made(store.WirePage, u, 0, "HTTP/1.1 200 Fine\r\nserver:  odd \r\nContent-type: text/html\r\nCONTENT-ENCODING: gzip\r\ntransfer-encoding: chunked\r\nX-b: 1\r\n")
	other := made(store.WireRepeat, "http://b.test/other", 2, "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n")
	other.Digest[0]++
	cut := made(store.WireRepeat, "http://b.test/copy", 1, "HTTP/2.0 200 OK\r\ncontent-length: 16\r\n")
	cut.Cut, cut.Protocol, cut.Addr, cut.Request = true, "h2", netip.Addr{}, nil
	return &Page{
		ID: "urn:uuid:1", Source: &Source{Name: "crawl"}, Number: 1, URL: u, ContentType: "text/html", Fetched: at(0), Body: body, Exchange: &gave,
		Others: []store.Exchanged{
			made(store.WireSame, u, 24, "HTTP/1.1 304 Not Modified\r\nEtag: \"1\"\r\n"), cut, other,
			made(store.WireRedirect, "http://a.test/old", -1, "HTTP/1.1 301 Gone There\r\nLocation: /page\r\nContent-Type: text/html\r\nContent-Length: 162\r\n"),
			made(store.WireRedirect, "http://a.test/older", -2, "HTTP/1.1 302 Found\r\nLocation: /old\r\nContent-Length: 0\r\n"),
		},
	}
}

// TestArchivedExchanges: the archive holds the exchanges, adjusted to the stored bodies and indexed.
func TestArchivedExchanges(t *testing.T) {
	p := tells()
	untold := &Page{ID: "urn:uuid:2", Source: p.Source, Number: 2, URL: "http://a.test/2", ContentType: "text/plain", Fetched: p.Fetched}
	file := writeWARC(t, p, untold)["warc/pages-00001.warc.gz"].Bytes()
	var got []string
	for _, rec := range recordsOf(t, file) {
		if rec.Type() == warc.Response {
			res, err := http.ReadResponse(bufio.NewReader(strings.NewReader(rec.block)), nil)
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
		got = append(got, strings.Join(line, " ")+"\n"+rec.block)
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
	id := func(x store.Exchanged) string {
		return derivedID("urn:uuid:1", fmt.Sprint("other ", x.URL, " ", x.Start))
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

func checkIndexed(t *testing.T, file []byte, pages ...*Page) {
	t.Helper()
	var got []string
	for line := range strings.Lines(written(t, newCDXJ, "index.cdxj", pages)["index.cdxj"].String()) {
		at, rec := pointed(t, line, map[string][]byte{"pages-00001.warc.gz": file})
		got = append(got, strings.Join([]string{rec.Type(), at["url"], at["mime"], at["status"]}, " "))
	}
	want := []string{"response http://a.test/2 text/plain 200", "response http://a.test/old text/html 301", "response http://a.test/older unk 302",
		"response http://a.test/page text/html 200", "revisit http://a.test/page warc/revisit 304", "revisit http://b.test/copy warc/revisit 200"}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestSURT compares with Python's surt module, which pywb uses for look-ups.
func TestSURT(t *testing.T) {
	for _, c := range []struct{ url, want string }{
		{"http://www2.A.test:80/X//y/../?b=2&a=1&", "test,a)/x?&a=1&b=2"},
		{"https://a.test", "test,a)/"},
		{"https://a.test/?", "test,a)/"},
		{"https://a.test:8080/b/", "test,a:8080)/b"},
		{"http://a.test/%7Efoo/%2520x/%C3%A4?q=%C3%84+b&Q=a%26b", "test,a)/~foo/%20x/%c3%a4?b&q=%c3%84+b&q=a"},
		{"http://user:pw@127.0.0.1:81/a/./b/..", "1,0,0,127:81)/a"},
		{"http://a.test/../x/..//", "test,a)/.."},
		{"http://a.test/p?x&x=&x=1&a=b=c", "test,a)/p?a=b=c&x&x=&x=1"},
		{"http://a.test/p?b=1&PHPSESSID=0123456789abcdef0123456789abcdef", "test,a)/p?&b=1"},
		{"http://a.test/p?sid=0123456789abcdef0123456789abcdef&b=1&mysid=0123456789abcdef0123456789abcdef&c", "test,a)/p?b=1&myc&sid=0123456789abcdef0123456789abcdef"},
		{"http://a.test/p?cfid=1&cftoken=2&z=1", "test,a)/p?z=1"},
		{"http://a.test/(S(4hqa0555fwsecu455xqckv45))/mileg.aspx", "test,a)/mileg.aspx"},
		{"http://a.test/(4hqa0555fwsecu455xqckv45)/mileg.aspx?page=1", "test,a)/mileg.aspx?page=1"},
		{"http://a.test/(4hqa0555fwsecu455xqckv45)/x", "test,a)/(4hqa0555fwsecu455xqckv45)/x"},
		{"http://wwwa.test/", "test,wwwa)/"},
		{"http://www.test/a|b^c%23d%zz", "test)/a|b^c%23d%25zz"},
		{"http://a.test/a/%2e%2e/b/%2F/c/", "test,a)/b/c"},
		{"http://a.test./x#frag?no", "test,a)/x"},
		{"http://a.test/a/b;jsessionid=0123456789abcdef0123456789abcdef?x", "test,a)/a/b;jsessionid=0123456789abcdef0123456789abcdef?x"},
		{"http://a.test/?aspsessionidabcdefgh=abcdefghijklmnopqrstuvwx&k", "test,a)/?k"},
	} {
		if got := surt(c.url); got != c.want {
			t.Errorf("%s: %s, want %s", c.url, got, c.want)
		}
	}
}

// FuzzSURT: a key is visible ASCII without blanks and capitals, since index lines are split at blanks.
func FuzzSURT(f *testing.F) {
	f.Add("http://www.a.test/%25%32%35?sid=0123456789abcdef0123456789abcdef&a=/(s")
	f.Add("http://a.test/(0123456789abcdefghijklmn)/.aspx/..")
	f.Fuzz(func(t *testing.T, url string) {
		url = "http://" + url
		if key := surt(url); strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r >= 0x7f || r >= 'A' && r <= 'Z' }) || key == "" {
			t.Errorf("%q: %q", url, key)
		}
	})
}

// archivePages are pages in an order other than that of their index keys.
func archivePages() (pages []*Page) {
	source := &Source{Name: "crawl"}
	for n := range 40 {
		pages = append(pages, &Page{
			ID: fmt.Sprint("urn:uuid:", n), Source: source, URL: fmt.Sprintf("http://%c.test/%d?b&a", 'a'+n*7%5, n), Title: fmt.Sprint("<", n, ">"),
			ContentType: "text/HTML; charset=utf-8", Fetched: time.Unix(1e9+int64(n*31%40), 0), Body: bytes.Repeat([]byte{byte('a' + n%26)}, n*100), Damaged: n == 7,
		})
	}
	return pages
}

// checkIndex follows each line of an index into the files and expects each page once.
func checkIndex(t *testing.T, index string, files map[string][]byte) {
	t.Helper()
	lines := strings.SplitAfter(strings.TrimSuffix(index, "\n"), "\n")
	if !slices.IsSorted(lines) {
		t.Error("the lines are in no order")
	}
	want := map[string]*Page{}
	for _, p := range archivePages() {
		if !p.Damaged {
			want[p.URL] = p
		}
	}
	for _, line := range lines {
		fields := strings.SplitN(line, " ", 3)
		at, rec := pointed(t, line, files)
		p := want[at["url"]]
		if p == nil {
			t.Fatalf("a page that is not there, or twice: %s", line)
		}
		delete(want, at["url"])
		if rec.Type() != warc.Response || rec.ID() != p.ID || !strings.HasSuffix(rec.block, string(p.Body)) {
			t.Errorf("%s points at the %s of %s", line, rec.Type(), rec.Target())
		}
		if fields[0] != surt(p.URL) || fields[1] != p.Fetched.UTC().Format("20060102150405") || at["mime"] != "text/html" || at["status"] != "200" {
			t.Errorf("%s, of %+v", line, rec.Header)
		}
	}
	if len(want) > 0 {
		t.Errorf("%d pages have no line", len(want))
	}
}

// TestCDXJ: each line points to a record of the separately written files, each of which names itself.
func TestCDXJ(t *testing.T) {
	small := func(s Sink, err error) (Sink, error) {
		switch s := s.(type) {
		case *archive:
			s.most = 3000
		case *cdxIndex:
			s.most = 3000
		}
		return s, err
	}
	files := map[string][]byte{}
	for name, b := range written(t, func(at target, name string) (Sink, error) { return small(newWARC(at, name)) }, "", archivePages()) {
		files[name] = b.Bytes()
		if info := recordsOf(t, b.Bytes())[0]; b.Len() > 3000 || info.Type() != warc.Info || info.Header.Get("WARC-Filename") != name {
			t.Errorf("%s has %d bytes and begins with %+v", name, b.Len(), info.Header)
		}
	}
	if len(files) < 3 {
		t.Errorf("%d files", len(files))
	}
	index := written(t, func(at target, name string) (Sink, error) { return small(newCDXJ(at, name)) }, "index.cdxj", archivePages())
	checkIndex(t, index["index.cdxj"].String(), files)
}

// TestWACZ: the package is complete and reproducible, with correct digests and uncompressed archives.
func TestWACZ(t *testing.T) {
	b := written(t, newWACZ, "pages.wacz", archivePages())["pages.wacz"].Bytes()
	if !bytes.Equal(b, written(t, newWACZ, "pages.wacz", archivePages())["pages.wacz"].Bytes()) {
		t.Error("other bytes the second time")
	}
	r := testkit.Call(zip.NewReader(bytes.NewReader(b), int64(len(b)))).Must(t)
	files, archives := map[string][]byte{}, map[string][]byte{}
	for _, f := range r.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if files[f.Name], err = io.ReadAll(in); err != nil {
			t.Fatal(err)
		}
		if name, found := strings.CutPrefix(f.Name, "archive/"); found {
			if archives[name] = files[f.Name]; f.Method != zip.Store {
				t.Errorf("%s is packed twice", f.Name)
			}
		}
	}
	checkIndex(t, string(files["indexes/index.cdx"]), archives)

	var what struct {
		Profile, Title, Created string
		Home                    struct{ URL, TS string }
		Resources               []struct {
			Path, Hash string
			Bytes      int
		}
	}
	testkit.Must(t, json.Unmarshal(files["datapackage.json"], &what))
	if what.Profile != "data-package" || what.Title != "Pages of crawl" || what.Created != "2001-09-09T01:47:19Z" || what.Home.URL != "http://a.test/0?b&a" || what.Home.TS != "2001-09-09T01:46:40Z" {
		t.Errorf("%s", files["datapackage.json"])
	}
	if !strings.Contains(string(files["datapackage-digest.json"]), fmt.Sprintf("%x", sha256.Sum256(files["datapackage.json"]))) {
		t.Error("a wrong digest of datapackage.json")
	}
	for _, f := range what.Resources {
		if f.Hash != fmt.Sprintf("sha256:%x", sha256.Sum256(files[f.Path])) || f.Bytes != len(files[f.Path]) {
			t.Errorf("%s is not what its digest says", f.Path)
		}
	}
	if len(what.Resources) != 3 || len(files) != 5 {
		t.Errorf("%d files, %d resources", len(files), len(what.Resources))
	}
	lines := strings.Split(string(files["pages/pages.jsonl"]), "\n")
	if len(lines) != 1+39+1 || lines[2] != `{"id":"urn:uuid:1","url":"http://c.test/1?b&a","ts":"2001-09-09T01:47:11Z","title":"<1>","size":100}` {
		t.Errorf("%d lines, %s", len(lines), lines[2])
	}
}
