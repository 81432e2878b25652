package page

import (
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
)

// TestPath compares with net/url, for normal forms of URLs made of what is special.
func TestPath(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	parts := strings.Split("a Z 0 / // ? # % %2F %2f %41 %zz | { ^ \" ` [ ] : @ ; , $ ! ' ( ) * + = & ~ _ - . .. \\ é", " ")
	for range 20_000 {
		var b strings.Builder
		b.WriteString([]string{"http://h.example", "https://h.example:8443", "http://[2001:db8::1]", "http://u:p@h.example"}[rng.IntN(4)])
		for range rng.IntN(8) {
			b.WriteString(parts[rng.IntN(len(parts))])
		}
		u, err := Normalize(b.String())
		if err != nil {
			continue
		}
		parsed, err := url.Parse(u)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := Path(u), parsed.RequestURI(); got != want {
			t.Errorf("Path(%q) = %q, want %q", u, got, want)
		}
		if got, want := RobotsURL(u), parsed.Scheme+"://"+parsed.Host+"/robots.txt"; got != want {
			t.Errorf("RobotsURL(%q) = %q, want %q", u, got, want)
		}
	}
}
