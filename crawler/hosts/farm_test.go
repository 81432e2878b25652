package hosts

import (
	"testing"

	"fossick/internal/page"
)

func TestHostPattern(t *testing.T) {
	for host, want := range map[string]string{
		"example.com:80":            "",
		"example.com:443":           "",
		"example.com:8080":          "example.com:0",
		"www.example.com:80":        "*.example.com",
		"shop17.example.com:443":    "0.example.com",
		"a3.b.example.com:80":       "0.*.example.com",
		"a.b.c.example.com:81":      "**.example.com:0",
		"a.b.c.d.e.example.com:80":  "**.example.com",
		"joe.blogspot.com:80":       "", // a site by itself
		"www.joe.blogspot.com:80":   "*.joe.blogspot.com",
		"127.0.0.1:8080":            "127.0.0.1:0",
		"127.0.0.1:80":              "",
		"[::1]:81":                  "[::1]:0",
		"xn--bcher-kva.example:443": "",
	} {
		if got := hostPattern(host, page.Site("http://"+host+"/")); got != want {
			t.Errorf("%s: pattern %q, want %q", host, got, want)
		}
	}
}

// TestFingerprintAcrossHosts: the names of hosts and what has digits do not show, words do.
func TestFingerprintAcrossHosts(t *testing.T) {
	prints := NewFingerprinter()
	of := func(host, text string) Fingerprint {
		p, err := page.Parse([]byte("<p>"+text+`<p><a href="http://other.farm.test/">link</a>`), page.ParseOptions{URL: "http://" + host + "/"})
		if err != nil {
			t.Fatal(err)
		}
		return prints.AcrossHosts(p)
	}
	a := of("one.farm.test", "welcome to One, 17 offers, see also other")
	if b := of("two.farm.test", "welcome to TWO, 3000 offers, see also other"); a.letters != b.letters {
		t.Error("two names make a difference")
	}
	if b := of("two.farm.test", "welcome to one, 17 offers, see also other"); a.letters == b.letters {
		t.Error("another host's name, to which no link leads, is a word")
	}
}
