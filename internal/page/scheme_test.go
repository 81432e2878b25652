package page

import "testing"

func TestWithScheme(t *testing.T) {
	for raw, want := range map[string]string{
		"www.example.org": "https://www.example.org", "example.org/bees?x=a.b#c": "https://example.org/bees?x=a.b#c",
		" example.org:8080/ ": "https://example.org:8080/", "localhost:8080": "https://localhost:8080", "//a.org/x": "https://a.org/x",
		"127.0.0.1:80/x": "https://127.0.0.1:80/x", "example.org?next=http": "https://example.org?next=http",
	} {
		if got, assumed := WithScheme(raw); got != want || !assumed {
			t.Errorf("%q: %q, %v; want %q", raw, got, assumed, want)
		}
	}
	for _, raw := range []string{"", "bees", "http://a.org/", "gopher://a.org", "mailto:me@a.org", "me@a.org", "a.b:c", "two words.org", "/path.html", "#x.y", "."} {
		if got, assumed := WithScheme(raw); got != raw || assumed {
			t.Errorf("%q: %q, %v; want it as it is", raw, got, assumed)
		}
	}
}
