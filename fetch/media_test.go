package fetch

import (
	"net/http"
	"strings"
	"testing"
)

// FuzzContentType: what a header says of the type is read without harm; a type
// that is found is in lower case, has no blanks around it, and is found again.
func FuzzContentType(f *testing.F) {
	for _, seed := range []string{"text/html", "Text/HTML; charset=\"utf-8", " application/xhtml+xml ;", "html", "/", "a/b/c", "text/html,text/plain", "\x00/\xff", "İ/K"} {
		f.Add(seed, []byte("<html>"))
	}
	f.Fuzz(func(t *testing.T, value string, head []byte) {
		media := mediaType(value)
		if again := mediaType(media); again != media {
			t.Errorf("%q is %q, which is %q", value, media, again)
		}
		if strings.Contains(media, ";") || strings.TrimSpace(media) != media || media != "" && !strings.Contains(media, "/") {
			t.Errorf("%q is %q, which is no type", value, media)
		}
		if isBinary(head, value) && isBinary(nil, value) {
			t.Errorf("%q: an empty body is binary", value)
		}
		if strings.HasPrefix(sniff(head), "text/html") && isBinary(head, "text/html") {
			t.Errorf("%q is HTML and binary", head)
		}
	})
}

// FuzzRules: rules as the store keeps them are read from any bytes, and mean the
// same after they were written and read again.
func FuzzRules(f *testing.F) {
	for _, c := range robotsCases[:min(len(robotsCases), 20)] {
		if text, err := parseRobots([]byte(c.file)).MarshalText(); err == nil {
			f.Add(text, "/a/b?c")
		}
	}
	f.Add([]byte("# all is refused: x\nUser-agent: *\nDisallow: /\n"), "/")
	f.Fuzz(func(t *testing.T, stored []byte, path string) {
		first, again := &Robots{}, &Robots{}
		if first.UnmarshalText(stored) != nil {
			return
		}
		text, err := first.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
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
		}
	})
}

// Of several types the last that is one counts, as with browsers.
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
