package crawler

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"fossick/crawler/fetch"
	"fossick/internal/testkit"
)

// word returns a DOCX with a text and a link.
func word(t *testing.T, text, link string) []byte {
	t.Helper()
	return testkit.Zip(t,
		"word/_rels/document.xml.rels", `<Relationships><Relationship Id="r1" Type="x/hyperlink" Target="`+link+`" TargetMode="External"/></Relationships>`,
		"word/document.xml", `<w:document><w:body><w:p><w:r><w:t>`+text+`</w:t></w:r><w:hyperlink r:id="r1"><w:r><w:t>more</w:t></w:r></w:hyperlink></w:p></w:body></w:document>`)
}

// pdf returns a PDF of one page that shows this.
func pdf(content string) []byte {
	return testkit.PDF("/Root 1 0 R",
		"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
		fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(content)+1, content),
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")
}

// TestDocumentsOfACrawl: a document is stored as it came, read, and followed like a page. One that
// gives no text ends in a state that says why, and costs nothing but its own fetch.
func TestDocumentsOfACrawl(t *testing.T) {
	const office = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	locked := word(t, "gold that nobody sees", "http://b.test/")
	for at := bytes.Index(locked, []byte("PK\x01\x02")); at >= 0; { // each file of the directory is encrypted
		locked[at+8] |= 1
		next := bytes.Index(locked[at+4:], []byte("PK\x01\x02"))
		if next < 0 {
			break
		}
		at += 4 + next
	}
	parts := make([]string, 0, 2*10_002)
	for i := range 10_001 {
		parts = append(parts, fmt.Sprint(i), "")
	}
	noise := make([]byte, 20<<20)                  // as much as a body may have of it
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise) // never fails
	docs := map[string]struct {
		kind   string
		body   []byte
		state  fetch.State
		reason string
	}{
		"/word":     {office, word(t, "gold in a letter &lt;script&gt; ", "SERVER/deep"), fetch.StateOK, ""},
		"/pdf":      {"application/octet-stream", pdf("BT /F1 12 Tf 72 700 Td (There is gold in this file.) Tj ET"), fetch.StateOK, ""},
		"/markdown": {"text/markdown", []byte("# gold\n\nA [nugget](deeper) of it."), fetch.StateOK, ""},
		"/feed":     {"application/rss+xml", []byte("<rss><channel><title>gold news</title><item><title>gold is found</title><description>By chance.</description></item></channel></rss>"), fetch.StateOK, ""},
		"/pictures": {office, testkit.Zip(t, "word/document.xml", "<w:document><w:body><w:p><w:r><w:t>gold in pictures</w:t></w:r></w:p></w:body></w:document>", "word/media/1.png", string(noise)), fetch.StateOK, ""},
		"/deep":     {"text/html", []byte("<p>gold below the letter"), fetch.StateOK, ""},
		"/deeper":   {"text/html", []byte("<p>gold below the note"), fetch.StateOK, ""},
		"/scan":     {"application/pdf", pdf("0 0 100 100 re f"), fetch.StateNoText, "has no text"},
		"/empty":    {office, word(t, " ", "")[:0], fetch.StateWrongType, "cannot be read"},
		"/damaged":  {"application/pdf", []byte("%PDF-1.4 and no more"), fetch.StateWrongType, "cannot be read"},
		"/locked":   {office, locked, fetch.StateWrongType, "needs a password"},
		"/bomb":     {office, testkit.Zip(t, parts...), fetch.StateTooLarge, "an archive of 10001 files"},
		"/tag":      {office, testkit.Zip(t, "word/document.xml", "<w:document><w:t>"+strings.Repeat("x", 20<<20)), fetch.StateTooLarge, "a tag or a text of over 8 MiB"},
		"/large":    {"application/pdf", bytes.Repeat([]byte("%PDF-1.4 "), 1<<18), fetch.StateTooLarge, "bytes announced, 2097152 is the limit"},
	}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch d, ok := docs[r.URL.Path]; {
		case ok:
			rw.Header().Set("Content-Type", d.kind)
			rw.Header().Set("Content-Length", fmt.Sprint(len(d.body)))
			_, _ = rw.Write(d.body) // the client may refuse it
		case r.URL.Path == "/":
			rw.Header().Set("Content-Type", "text/html")
			for path := range docs {
				if !strings.HasPrefix(path, "/deep") {
					fmt.Fprintf(rw, `<p><a href="%s">gold</a>`, path)
				}
			}
		default:
			http.NotFound(rw, r)
		}
	}))
	defer server.Close()
	letter := docs["/word"]
	letter.body = word(t, "gold in a letter &lt;script&gt; ", server.URL+"/deep")
	docs["/word"] = letter
	f := testkit.Call(fetch.New(fetch.Options{AllowNet: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Types: map[string]int64{"html": 0, "office": 0, "text": 0, "feed": 0, "pdf": 2 << 20}})).Must(t)
	defer f.Close()
	opt := newOptions(t, nil, server.URL+"/")
	opt.Fetcher = f
	r := crawl(t, opt)
	if r.Counts.Pages != 8 || r.Counts.Relevant != 8 || r.Counts.States["no_text"] != 1 || r.Counts.States["too_large"] != 3 || r.Counts.States["wrong_type"] != 3 {
		t.Errorf("%d pages, %d on topic, states %v", r.Counts.Pages, r.Counts.Relevant, r.Counts.States)
	}
	for path, d := range docs {
		l := life(t, opt.Store, server.URL+path)
		if l.Outcome == nil || l.Outcome.State != string(d.state) || !strings.Contains(l.Outcome.Reason, d.reason) || (l.Page != nil) != (d.state == fetch.StateOK) || len(l.Visits) != 1 {
			t.Errorf("%s: outcome %+v after %d visits, want %s because %q", path, l.Outcome, len(l.Visits), d.state, d.reason)
			continue
		}
		if l.Page == nil {
			continue
		}
		if body, err := opt.Store.Body(l.Page.Number); err != nil || !bytes.Equal(body, d.body) {
			t.Errorf("%s: the stored body has %d bytes, the served one %d, %v", path, len(body), len(d.body), err)
		}
	}
	if kind := life(t, opt.Store, server.URL+"/pdf").Page.ContentType; kind != "application/pdf" {
		t.Errorf("a PDF announced as octet-stream is stored as %s", kind)
	}
}
