package crawler

import (
	"net/http"
	"testing"

	"fossick/crawler/fetch"
	"fossick/internal/page"
)

// A Location is read as browsers read it, from the URL that was asked for.
func TestRedirectTarget(t *testing.T) {
	urls := page.NewNormalizer(nil)
	for _, test := range []struct{ location, want string }{
		{"/b", "http://a.test/b"},
		{"b?x#y", "http://a.test/dir/b?x"},
		{"//b.test", "http://b.test/"},
		{" /a\tb c ", "http://a.test/ab%20c"},
		{"/100%_off", "http://a.test/100%25_off"},
		{`\\127.0.0.1:22\x`, "http://127.0.0.1:22/x"},
		{`/\b.test/x`, "http://b.test/x"},
		{"///b.test/x", "http://b.test/x"},
		{"http:b", "http://a.test/dir/b"},
		{"https:b", "https://b/"},
		{"http://%62.test/", "http://b.test/"},
		{"?x", "http://a.test/dir/page?x"},
		{"http://[bad/", ""},
		{"javascript:alert(1)", ""},
		{"http://a.test:65536/", ""},
	} {
		got, err := redirectTarget(urls, &fetch.Response{URL: "http://a.test/dir/page", Header: http.Header{"Location": {test.location}}})
		if got != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%q leads to %q, %v; want %q", test.location, got, err, test.want)
		}
	}
}
