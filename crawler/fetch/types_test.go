package fetch

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"fossick/internal/document"
	"fossick/internal/testkit"
)

// TestTypesAndLimits: the header, and where it says nothing the first bytes, choose the type and
// so the limit, of announced and of real sizes.
func TestTypesAndLimits(t *testing.T) {
	const word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	pdf, html, archive := "%PDF-1.4\n"+strings.Repeat("x", 5000), "<p>"+strings.Repeat("x", 5000), zipWith(t, "word/document.xml")
	large := pdf + strings.Repeat("y", 100_000)
	only := func(limit int64, kinds ...string) map[string]int64 {
		m := map[string]int64{}
		for _, kind := range kinds {
			m[kind] = limit
		}
		return m
	}
	for _, c := range []struct {
		name, kind, body string
		types            map[string]int64
		state            State
		as               string // ContentType of the response
	}{
		{"all by default", "application/pdf", pdf, nil, StateOK, "application/pdf"},
		{"beyond the limit of HTML", "text/html", html, nil, StateTooLarge, ""},
		{"its own limit", "text/html", html, only(6000, "html"), StateOK, "text/html"},
		{"a limit of PDFs", "application/pdf", pdf, only(4000, "html", "pdf"), StateTooLarge, ""},
		{"not wanted", "application/pdf", pdf, only(0, "html", "office"), StateWrongType, ""},
		{"HTML not wanted", "text/html", "<p>x", only(0, "pdf"), StateWrongType, ""},
		{"by its bytes", "application/octet-stream", pdf, only(0, "pdf"), StateOK, "application/pdf"},
		{"by its bytes, too large", "application/octet-stream", pdf, map[string]int64{"pdf": 4000, "office": 0}, StateTooLarge, ""},
		{"by its bytes, not wanted", "application/octet-stream", pdf, only(9000, "html"), StateWrongType, ""},
		{"without a type", "", pdf, nil, StateOK, "application/pdf"},
		{"announced as text", "text/plain", "%PDF-1.4\n\x00\x01", nil, StateOK, "application/pdf"},
		{"beyond the limit of the text it is announced as", "text/plain", large, map[string]int64{"text": 50_000, "html": 0, "pdf": 200_000}, StateOK, "application/pdf"},
		{"announced as HTML", "text/html; charset=utf-8", large, map[string]int64{"html": 50_000, "pdf": 200_000}, StateOK, "application/pdf"},
		{"announced as HTML, too large", "text/html", pdf, map[string]int64{"html": 9000, "pdf": 4000}, StateTooLarge, ""},
		{"announced as HTML, not wanted", "text/html", pdf, map[string]int64{"html": 9000}, StateWrongType, ""},
		{"an archive", "application/zip", archive, nil, StateOK, word},
		{"an archive of an old office", "application/msword", archive, only(0, "office"), StateOK, word},
		{"another archive", "application/zip", zipWith(t, "a/b.txt"), nil, StateWrongType, ""},
		{"bytes of no type", "application/octet-stream", "\x00\x01\x02", nil, StateWrongType, ""},
		{"an error page as a PDF", "application/pdf", "<!DOCTYPE html><p>not here", nil, StateWrongType, ""},
		{"a picture", "image/png", "\x89PNG", nil, StateWrongType, ""},
		{"a feed", "application/rss+xml", "<rss></rss>", nil, StateOK, "application/rss+xml"},
		{"markdown", "text/markdown; charset=utf-8", "# x", only(0, "text"), StateOK, "text/markdown; charset=utf-8"},
	} {
		for _, announced := range []bool{true, false} {
			server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
				rw.Header()["Content-Type"] = []string{c.kind}
				if announced {
					rw.Header().Set("Content-Length", fmt.Sprint(len(c.body)))
				} else {
					rw.(http.Flusher).Flush()
				}
				_, _ = rw.Write([]byte(c.body)) // the client may refuse it
			}))
			f := newTest(t, Options{Types: c.types, MaxBodyBytes: 1000})
			if r := f.Fetch(t.Context(), Request{URL: server.URL}); r.State != c.state || c.state == StateOK && (r.ContentType != c.as || string(r.Body) != c.body) {
				t.Errorf("%s, announced %v: %s as %q, %d bytes, %v; want %s as %q", c.name, announced, r.State, r.ContentType, len(r.Body), r.Err, c.state, c.as)
			}
			server.Close()
		}
	}
}

// TestAcceptFollowsTypes: the header asks for what is wanted, and for nothing else.
func TestAcceptFollowsTypes(t *testing.T) {
	for _, c := range []struct {
		types []string
		want  string
	}{
		{[]string{"html"}, "text/html, application/xhtml+xml"},
		{[]string{"pdf", "html"}, "text/html, application/xhtml+xml, application/pdf;q=0.9"},
		{[]string{"feed", "office"}, "application/*;q=0.5"},
		{document.Types(), "text/html, application/xhtml+xml, text/plain, application/pdf;q=0.9, application/*;q=0.5"},
	} {
		types, got := map[string]int64{}, ""
		for _, kind := range c.types {
			types[kind] = 0
		}
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Get("Accept") }))
		newTest(t, Options{Types: types}).Fetch(t.Context(), Request{URL: server.URL})
		if server.Close(); got != c.want {
			t.Errorf("%v: Accept: %s, want %s", c.types, got, c.want)
		}
	}
}

// zipWith returns an archive with a file after others, as offices write them.
func zipWith(t *testing.T, name string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, part := range []string{"[Content_Types].xml", "_rels/.rels", name} {
		w, err := z.Create(part)
		if err == nil {
			_, err = w.Write([]byte(strings.Repeat("<x/>", 200)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	testkit.Must(t, z.Close())
	return b.String()
}
