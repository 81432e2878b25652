package fetch

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"fossick/internal/page"
	"fossick/internal/testkit"
)

// FuzzContentType: a type found is stable, and no HTML is binary.
func FuzzContentType(f *testing.F) {
	for _, seed := range []string{"text/html", "Text/HTML; charset=\"utf-8", " application/xhtml+xml ;", "html", "/", "a/b/c", "text/html,text/plain", "\x00/\xff", "İ/K"} {
		f.Add(seed, []byte("<html>"))
	}
	f.Fuzz(func(t *testing.T, value string, head []byte) {
		media := page.MediaEssence(contentTypeOf(http.Header{"Content-Type": {value}}))
		if again := page.MediaEssence(media); again != media {
			t.Errorf("%q is %q, which is %q", value, media, again)
		}
		if isBinary(nil, value) {
			t.Errorf("%q: an empty body is binary", value)
		}
		if page.SniffMedia(head) == "text/html" && isBinary(head, "text/html") {
			t.Errorf("%q is HTML and binary", head)
		}
	})
}

// typesThatAreNone are Content-Type values that no browser reads as a type.
var typesThatAreNone = []string{"", "html", "text", "text/", "/html", "text/html charset=utf-8", "text/html:charset=utf-8",
	"text/html/xml", "text / html", "[text/html]", "<text/html>", "(text/html)", `"text/html"`, `'text/html`, "Content-Type: text/html",
	"text/html=utf-8", "*/*", "unknown/unknown", "application/unknown", "text/htmlü"}

// TestTypeThatIsNoneIsSniffed: then bytes tell markup, text and pictures apart.
func TestTypeThatIsNoneIsSniffed(t *testing.T) {
	for _, value := range typesThatAreNone {
		for body, want := range map[string]State{
			"<!doctype html><title>t</title><p>x": StateOK,
			"words and no markup":                 StateOK,
			"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR": StateWrongType,
		} {
			a := answerOf(t, fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", value, len(body), body))
			if a.State != want {
				t.Errorf("%q before %.20q: %s %v", value, body, a.State, a.Err)
			}
		}
	}
}

// TestTextLikeAFile: text that begins like a file signature is a page, without other bytes.
func TestTextLikeAFile(t *testing.T) {
	for _, letters := range []string{"BM", "ID3", "OTTO", "ttcf", "GIF87a", "GIF89a", "wOFF", "wOF2", "Rar! ", "RIFF1234WAVE", "FORM1234AIFF"} {
		for _, kind := range []string{"text/html", "text/plain; charset=utf-8", ""} {
			for rest, want := range map[string]State{" begins a text of letters": StateOK, "\x00\x01\x02\x03 begins a file": StateWrongType} {
				body := letters + rest
				a := answerOf(t, fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", kind, len(body), body))
				if a.State != want {
					t.Errorf("%q as %q: %s %v", body, kind, a.State, a.Err)
				}
			}
		}
	}
}

// TestNoSniff: with nosniff, markup without a type is text, and plain text stays text.
func TestNoSniff(t *testing.T) {
	for _, c := range []struct {
		header, body string
		want         State
		kind         string
	}{
		{"", "<!doctype html><p>x", StateOK, "text/html"},
		{"X-Content-Type-Options: nosniff\r\n", "<!doctype html><p>x", StateOK, "text/plain"},
		{"Content-Type: text/plain\r\n", "a few words, \x01", StateWrongType, ""},
		{"Content-Type: text/plain\r\nX-Content-Type-Options: NoSniff\r\n", "a few words, \x01", StateOK, "text/plain"},
	} {
		a := answerOf(t, fmt.Sprintf("HTTP/1.1 200 OK\r\n%sContent-Length: %d\r\n\r\n%s", c.header, len(c.body), c.body))
		if a.State != c.want || c.kind != "" && a.ContentType != c.kind {
			t.Errorf("%q %q: %s as %q, %v; want %s as %q", c.header, c.body, a.State, a.ContentType, a.Err, c.want, c.kind)
		}
	}
}

func answerOf(t *testing.T, answer string) *Response {
	t.Helper()
	f := newTest(t, Options{})
	return f.Fetch(t.Context(), Request{URL: "http://" + rawServer(t, false, say(answer)) + "/"})
}

// TestContentTypeOf: of several types the last valid one counts, as in browsers.
func TestContentTypeOf(t *testing.T) {
	for _, c := range []struct {
		fields []string
		want   string
	}{
		{nil, ""},
		{[]string{"text/html; charset=utf-8"}, "text/html; charset=utf-8"},
		{[]string{"text/html, text/html"}, "text/html"},
		{[]string{"text/plain, text/html; charset=utf-8"}, "text/html; charset=utf-8"},
		{[]string{"text/html", "*/*"}, "text/html"},
		{[]string{"", "text/html", ""}, "text/html"},
		{[]string{"nonsense,text/html,more nonsense"}, "text/html"},
		{[]string{`text/html; a="x, image/png"`}, `text/html; a="x, image/png"`},
		{[]string{`text/html; a="\", image/png"`}, `text/html; a="\", image/png"`},
		{[]string{","}, ""},
	} {
		if got := contentTypeOf(http.Header{"Content-Type": c.fields}); got != c.want {
			t.Errorf("%q is %q, want %q", c.fields, got, c.want)
		}
	}
}

// FuzzRules: rules read from any bytes mean the same after writing and reading.
func FuzzRules(f *testing.F) {
	for _, c := range robotsCases[:min(len(robotsCases), 20)] {
		if text, err := parseRobots([]byte(c.file)).MarshalText(); err == nil {
			f.Add(text, "/a/b?c")
		}
	}
	f.Add([]byte("License: https://a.test/rsl.xml\nUser-agent: *\nContent-Usage: /a train-ai=n\nContent-Signal: search=no\nDisallow: /x\n"), "/a/b?c")
	f.Add([]byte("# all is refused: x\nUser-agent: *\nDisallow: /\n"), "/")
	f.Fuzz(func(t *testing.T, stored []byte, path string) {
		first, again := &Robots{}, &Robots{}
		if first.UnmarshalText(stored) != nil {
			return
		}
		text := testkit.Call(first.MarshalText()).Must(t)
		if err := again.UnmarshalText(text); err != nil {
			t.Fatalf("%q was written as %q: %v", stored, text, err)
		}
		for _, agent := range []string{"fossick", "*", "bot"} {
			a, b := first.Allowed(agent, path), again.Allowed(agent, path)
			d1, _ := first.CrawlDelay(agent)
			d2, _ := again.CrawlDelay(agent)
			if a != b || d1 != d2 {
				t.Errorf("%q %s %q: %v %v, written and read %v %v", stored, agent, path, a, d1, b, d2)
			}
			if a, b := first.Usage(agent, path), again.Usage(agent, path); !slices.Equal(a, b) {
				t.Errorf("%q %s %q: %q, written and read %q", stored, agent, path, a, b)
			}
		}
	})
}
