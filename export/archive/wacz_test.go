package archive

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"fossick/export"
	"fossick/export/collection"
	"fossick/export/exporttest"
	"fossick/internal/warc"
)

// TestSURT has what the surt module of Python, which pywb looks up with, says of each.
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

// FuzzSURT: a key is one word in visible ASCII without capitals, since lines are cut at blanks.
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

// some are pages whose order is not that of keys.
func some() (pages []*collection.Page) {
	source := &collection.Source{Name: "crawl"}
	for n := range 40 {
		pages = append(pages, &collection.Page{
			ID: fmt.Sprint("urn:uuid:", n), Source: source, URL: fmt.Sprintf("http://%c.test/%d?b&a", 'a'+n*7%5, n), Title: fmt.Sprint("<", n, ">"),
			ContentType: "text/HTML; charset=utf-8", Fetched: time.Unix(1e9+int64(n*31%40), 0), Body: bytes.Repeat([]byte{byte('a' + n%26)}, n*100), Damaged: n == 7,
		})
	}
	return pages
}

// with writes pages with a sink.
func with[S export.Sink](t *testing.T, name string, open func(export.Place, string) (S, error)) []byte {
	files := exporttest.Shelf{}
	s, err := open(files, name)
	exporttest.Write(t, s, err, some())
	return files[name].Bytes()
}

// checkIndex follows each line of an index into the files, and wants each page once.
func checkIndex(t *testing.T, index string, files map[string][]byte) {
	t.Helper()
	lines := strings.SplitAfter(strings.TrimSuffix(index, "\n"), "\n")
	if !slices.IsSorted(lines) {
		t.Error("the lines are in no order")
	}
	want := map[string]*collection.Page{}
	for _, p := range some() {
		if !p.Damaged {
			want[p.URL] = p
		}
	}
	for _, line := range lines {
		fields := strings.SplitN(line, " ", 3)
		var at map[string]string
		if err := json.Unmarshal([]byte(fields[2]), &at); err != nil {
			t.Fatal(err)
		}
		p := want[at["url"]]
		if p == nil {
			t.Fatalf("a page that is not there, or twice: %s", line)
		}
		delete(want, at["url"])
		offset, _ := strconv.Atoi(at["offset"])
		length, _ := strconv.Atoi(at["length"])
		r, err := warc.NewReader(bytes.NewReader(files[at["filename"]][offset : offset+length]))
		if err != nil {
			t.Fatal(err)
		}
		rec, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		block, err := io.ReadAll(rec.Body)
		if err != nil || rec.Type() != warc.Response || rec.ID() != p.ID || rec.Target() != p.URL || !bytes.HasSuffix(block, p.Body) {
			t.Errorf("%s points at the %s of %s: %v", line, rec.Type(), rec.Target(), err)
		}
		if _, err := r.Next(); err != io.EOF {
			t.Errorf("%s is more than a record: %v", line, err)
		}
		if fields[0] != surt(p.URL) || fields[1] != p.Fetched.UTC().Format("20060102150405") || at["mime"] != "text/html" || at["status"] != "200" || at["digest"] != rec.Header.Get("WARC-Payload-Digest") {
			t.Errorf("%s, of %+v", line, rec.Header)
		}
	}
	if len(want) > 0 {
		t.Errorf("%d pages have no line", len(want))
	}
}

// TestCDXJ: each line points at a record of the files that are written apart from it.
func TestCDXJ(t *testing.T) {
	files := map[string][]byte{}
	for name, b := range write(t, some()...) {
		files[strings.TrimPrefix(name, "warc/")] = b.Bytes()
	}
	checkIndex(t, string(with(t, "index.cdxj", NewCDXJ)), files)
}

// TestWACZ: all is there, as its digests say, archives as they are, the same bytes each time.
func TestWACZ(t *testing.T) {
	b := with(t, "pages.wacz", NewWACZ)
	if !bytes.Equal(b, with(t, "pages.wacz", NewWACZ)) {
		t.Error("other bytes the second time")
	}
	r, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
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
	if err := json.Unmarshal(files["datapackage.json"], &what); err != nil {
		t.Fatal(err)
	}
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
