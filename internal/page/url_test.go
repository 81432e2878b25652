package page

import (
	"errors"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"

	whatwg "github.com/nlnwa/whatwg-url/url"

	"fossick/internal/testkit"
)

func TestNormalize(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"as it is", "http://example.com/a/b?c=d", "http://example.com/a/b?c=d"},
		{"case of scheme and host", "HTTP://WWW.Example.COM/Path", "http://www.example.com/Path"},
		{"empty path", "https://example.com", "https://example.com/"},
		{"empty path with query", "https://example.com?a", "https://example.com/?a"},
		{"default port", "http://example.com:80/", "http://example.com/"},
		{"default port of https", "https://example.com:443/", "https://example.com/"},
		{"other scheme's port", "http://example.com:443/", "http://example.com:443/"},
		{"leading zeros in port", "http://example.com:08080/", "http://example.com:8080/"},
		{"empty port", "http://example.com:/", "http://example.com/"},
		{"dot segments", "http://example.com/a/./b/../../c/.", "http://example.com/c/"},
		{"too many dots up", "http://example.com/../../a", "http://example.com/a"},
		{"escaped dots", "http://example.com/a/%2e%2E/b", "http://example.com/b"},
		{"dots that are names", "http://example.com/.../a..", "http://example.com/.../a.."},
		{"empty segments stay", "http://example.com//a///b", "http://example.com//a///b"},
		{"up over an empty segment", "http://example.com/a//../b", "http://example.com/a/b"},
		{"unreserved decoded", "http://example.com/%7Euser/%41%2D", "http://example.com/~user/A-"},
		{"reserved stay", "http://example.com/a%2fb?x=%26", "http://example.com/a%2Fb?x=%26"},
		{"UTF-8", "http://example.com/é?q=ü", "http://example.com/%C3%A9?q=%C3%BC"},
		{"space and quotes", `http://example.com/a b"c?d e'f`, "http://example.com/a%20b%22c?d%20e%27f"},
		{"parentheses", "http://example.com/wiki/Control_car_(rail)", "http://example.com/wiki/Control_car_(rail)"},
		{"escaped parentheses stay", "http://h182.test/wiki/Control_car_%28rail%29", "http://h182.test/wiki/Control_car_%28rail%29"},
		{"percent that escapes nothing", "http://example.com/100%/%zz", "http://example.com/100%25/%25zz"},
		{"no escape is made by decoding", "http://example.com/%4%31", "http://example.com/%2541"},
		{"fragment", "http://example.com/a#b?c", "http://example.com/a"},
		{"hash bang", "http://example.com/#!/app", "http://example.com/"},
		{"empty query", "http://example.com/a?", "http://example.com/a"},
		{"empty parameters", "http://example.com/a?&b=1&&c=&", "http://example.com/a?b=1&c="},
		{"order of parameters stays", "http://example.com/?b=1&a=2&b=0", "http://example.com/?b=1&a=2&b=0"},
		{"plus is no space", "http://example.com/?a+b", "http://example.com/?a+b"},
		{"space around", "\n\t http://example.com/a \r", "http://example.com/a"},
		{"line end inside", "http://exa\nmple.com/a\tb", "http://example.com/ab"},
		{"backslashes", `http:\\example.com\a\b?c\d`, `http://example.com/a/b?c\d`},
		{"slashes missing", "http:example.com/a", "http://example.com/a"},
		{"slashes too many", "http:////example.com/a", "http://example.com/a"},
		{"user and password", "http://me:secret@example.com/", "http://example.com/"},
		{"host in the user name", "http://example.com@evil.test/", "http://evil.test/"},
		{"root's dot", "http://example.com./", "http://example.com/"},
		{"IDN", "http://Bücher.example/", "http://xn--bcher-kva.example/"},
		{"IDN escaped", "http://b%C3%BCcher.example/", "http://xn--bcher-kva.example/"},
		{"sharp s is kept", "http://straße.example/", "http://xn--strae-oqa.example/"},
		{"full width", "http://ｅｘａｍｐｌｅ。com/", "http://example.com/"},
		{"IPv4", "http://192.168.0.1/", "http://192.168.0.1/"},
		{"IPv4 decimal", "http://2130706433/", "http://127.0.0.1/"},
		{"IPv4 octal and hexadecimal", "http://0177.0x1/", "http://127.0.0.1/"},
		{"IPv6", "http://[2001:DB8:0:0:0:0:0:1]:8080/", "http://[2001:db8::1]:8080/"},
		{"IPv4 in IPv6", "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/"},
		{"underscore", "http://a_b.example/", "http://a_b.example/"},
		{"session in query", "http://example.com/a?PHPSESSID=1a2b&x=1", "http://example.com/a?x=1"},
		{"session alone", "http://example.com/a?phpsessid=1a2b", "http://example.com/a"},
		{"session in path", "http://example.com/a;jsessionid=1A2B.node1?x=1", "http://example.com/a?x=1"},
		{"session before dots", "http://example.com/a/..;jsessionid=1/b", "http://example.com/b"},
		{"sid of 16 digits", "http://example.com/?sid=0123456789abcdef", "http://example.com/"},
		{"sid of an article", "http://example.com/?sid=06/01/02/1234", "http://example.com/?sid=06/01/02/1234"},
		{"campaign", "http://example.com/?utm_source=a&UTM_Medium=b&q=1&fbclid=c", "http://example.com/?q=1"},
		{"names that begin alike", "http://example.com/?gclids=1&sidebar=2", "http://example.com/?gclids=1&sidebar=2"},
		{"session of ASP.NET", "http://a.test/x/(S(lit3py55t21z5v55vlm25s55))/b.aspx?c", "http://a.test/x/b.aspx?c"},
		{"sessions of ASP.NET", "http://a.test/(A(lit3py55t21z5v55vlm25s55)F(lit3py55t21z5v55vlm25s55))/", "http://a.test/"},
		{"the folder above a session", "http://a.test/x/(S(lit3py55t21z5v55vlm25s55))/../b", "http://a.test/x/b"},
		{"parentheses that are none", "http://a.test/(S(lit3py55t21z5v55vlm25s5))/(s)/(S(lit3py55t21z5v55vlm25s55))", "http://a.test/(S(lit3py55t21z5v55vlm25s5))/(s)/(S(lit3py55t21z5v55vlm25s55))"},
		{"marks of today", "http://a.test/?gad_source=1&hsa_cam=2&_kx=3&WT.mc_id=4&a=5", "http://a.test/?a=5"},
		{"other path parameters", "http://example.com/a;v=1;jsessionid=2;w/b", "http://example.com/a;v=1;w/b"},
	} {
		got, err := Normalize(c.in)
		if err != nil || got != c.want {
			t.Errorf("%s: Normalize(%q) = %q, %v; want %q", c.name, c.in, got, err, c.want)
		}
		if again, err := Normalize(got); err != nil || again != got {
			t.Errorf("%s: not stable: Normalize(%q) = %q, %v", c.name, got, again, err)
		}
	}
}

func TestNormalizeErrors(t *testing.T) {
	for _, c := range []struct {
		in   string
		want error
	}{
		{"", ErrURL}, {"example.com/a", ErrURL}, {"/a", ErrURL}, {"//example.com/", ErrURL}, {"http://", ErrURL},
		{"http:///", ErrURL}, {"http://a b/", ErrURL}, {"http://a..b/", ErrURL}, {"http://a:x/", ErrURL},
		{"http://a:65536/", ErrURL}, {"http://1.2.3.256/", ErrURL}, {"http://1.2.3.4.5/", ErrURL}, {"http://0x1g.1/x", ErrURL},
		{"http://[::1/", ErrURL}, {"http://[::1%25eth0]/", ErrURL}, {"http://[1.2.3.4]/", ErrURL}, {"http://xn--a-ecp.ru/", ErrURL},
		{"http://" + strings.Repeat("a", 64) + ".com/", ErrURL}, {"http://%00/", ErrURL}, {"http://ex<am>ple/", ErrURL},
		{"mailto:a@b.c", ErrScheme}, {"javascript:void(0)", ErrScheme}, {"ftp://a/b", ErrScheme}, {"localhost:80/a", ErrScheme},
		{"data:" + strings.Repeat("x", 100_000), ErrScheme},
		{"http://a/" + strings.Repeat("b", maxURLBytes), ErrTooLong}, {"http://a/" + strings.Repeat("../", 5000), ErrTooLong},
		{"http://a/" + strings.Repeat("é", (maxURLBytes-9)/6), nil}, {"http://a/" + strings.Repeat("é", maxURLBytes/6), ErrTooLong},
	} {
		if got, err := Normalize(c.in); !errors.Is(err, c.want) {
			t.Errorf("Normalize(%q) = %q, %v; want %v", abbreviate(c.in), abbreviate(got), err, c.want)
		}
	}
}

// TestResolve: the examples of RFC 3986 §5.4.
func TestResolve(t *testing.T) {
	base := testkit.Call(standard.Base("http://a/b/c/d;p?q")).Must(t)
	for ref, want := range map[string]string{
		"g": "http://a/b/c/g", "./g": "http://a/b/c/g", "g/": "http://a/b/c/g/", "/g": "http://a/g", "//g": "http://g/",
		"?y": "http://a/b/c/d;p?y", "g?y": "http://a/b/c/g?y", "#s": "http://a/b/c/d;p?q", "g#s": "http://a/b/c/g",
		";x": "http://a/b/c/;x", "": "http://a/b/c/d;p?q", ".": "http://a/b/c/", "./": "http://a/b/c/", "..": "http://a/b/",
		"../g": "http://a/b/g", "../..": "http://a/", "../../g": "http://a/g", "../../../g": "http://a/g", "/./g": "http://a/g",
		"/../g": "http://a/g", "g.": "http://a/b/c/g.", "..g": "http://a/b/c/..g", "./../g": "http://a/b/g",
		"g/./h": "http://a/b/c/g/h", "g;x=1/../y": "http://a/b/c/y", "g?y/../x": "http://a/b/c/g?y/../x",
		"http:g": "http://a/b/c/g", "https:g": "https://g/", `\g`: "http://a/g", `\\g`: "http://g/", "?": "http://a/b/c/d;p",
		"HTTP:/x": "http://a/x", " g ": "http://a/b/c/g", "http://h": "http://h/", "g?utm_id=1": "http://a/b/c/g",
	} {
		if got, err := standard.Resolve(base, ref); err != nil || got != want {
			t.Errorf("Resolve(%q) = %q, %v; want %q", ref, got, err, want)
		}
	}
	if _, err := standard.Resolve(base, "mailto:x"); !errors.Is(err, ErrScheme) {
		t.Errorf("Resolve(mailto:x): %v; want %v", err, ErrScheme)
	}
	if got, err := standard.Resolve(Base{}, "g"); !errors.Is(err, ErrURL) {
		t.Errorf("Resolve without base = %q, %v; want %v", got, err, ErrURL)
	}
}

func TestNormalizerDrop(t *testing.T) {
	const u = "http://a/?utm_x=1&ID=2&id=3&ids=4&t=00112233445566778899&t=1"
	for _, c := range []struct {
		drop []string
		want string
	}{
		{nil, u},
		{[]string{"id"}, "http://a/?utm_x=1&ids=4&t=00112233445566778899&t=1"},
		{[]string{"ID*", "t={hex}"}, "http://a/?utm_x=1&t=1"},
		{[]string{"*"}, "http://a/"},
		{append(DefaultDrop(), "ID"), "http://a/?ids=4&t=00112233445566778899&t=1"},
	} {
		if got, err := NewNormalizer(c.drop).Normalize(u); err != nil || got != c.want {
			t.Errorf("drop %q: %q, %v; want %q", c.drop, got, err, c.want)
		}
	}
}

func TestHostAndSite(t *testing.T) {
	for _, c := range []struct{ url, host, site string }{
		{"http://h1.test/", "h1.test:80", "h1.test"},
		{"https://h1.test/a:b@c", "h1.test:443", "h1.test"},
		{"http://a.b.example.co.uk:8080/x", "a.b.example.co.uk:8080", "example.co.uk"},
		{"http://someone.github.io/", "someone.github.io:80", "someone.github.io"},
		{"http://github.io/", "github.io:80", "github.io"},
		{"http://localhost/", "localhost:80", "localhost"},
		{"http://127.0.0.1:81/", "127.0.0.1:81", "127.0.0.1"},
		{"http://[::1]/", "[::1]:80", "[::1]"},
		{"http://[::1]:8080/", "[::1]:8080", "[::1]"},
		{"http://x", "x:80", "x"},
		{"nonsense", "", ""}, {"", "", ""}, {"http:///a", "", ""},
	} {
		if host, site := Host(c.url), Site(c.url); host != c.host || site != c.site {
			t.Errorf("%q: host %q, site %q; want %q, %q", c.url, host, site, c.host, c.site)
		}
	}
}

// oracle normalises u as browsers do, with our intended differences; not ok if we refuse it.
func oracle(base, ref string) (string, bool) {
	u, err := whatwg.ParseRef(base, ref)
	if err != nil || u.Protocol() != "http:" && u.Protocol() != "https:" {
		return "", false
	}
	// Refused: names that DNS cannot resolve. Removed: the final dot, user names, fragments.
	name := strings.TrimSuffix(u.Hostname(), ".")
	if name == "" || name[0] != '[' && !validName([]byte(name)) {
		return "", false
	}
	host := name
	if u.Port() != "" {
		host += ":" + u.Port()
	}
	// Normal percent-encoding, without session IDs and empty parameters.
	n := standard
	out := n.appendPath([]byte("/"), 0, []byte(strings.TrimPrefix(u.Pathname(), "/")))
	out = n.appendQuery(out, []byte(strings.TrimPrefix(u.Search(), "?")))
	return u.Protocol() + "//" + host + string(out), true
}

// oracleErrs reports refs that the oracle gets wrong. It accepts signed numbers in addresses and
// "[[". It refuses underscores in names with non-ASCII characters, which the standard accepts
// (UseSTD3ASCIIRules is false).
func oracleErrs(ref string) bool {
	return strings.Contains(ref, "[[") || underscored(ref) ||
		strings.ContainsAny(ref, "+-") && strings.Contains(strings.ReplaceAll(ref, "xn--bcher-kva", ""), "1")
}

// underscored reports an underscore in what may be a non-ASCII name.
func underscored(s string) bool {
	beyond := strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 }) || strings.Contains(s, "%") || strings.Contains(s, "xn--")
	return beyond && strings.Contains(s, "_")
}

// TestNormalizeLikeBrowsers compares with a WHATWG implementation on random difficult references.
func TestNormalizeLikeBrowsers(t *testing.T) {
	parts := []string{"http:", "https:", "HTTP:", "/", "//", "\\", "..", ".", "%2e", "%2E.", "a", "B", "example.com", ":80", ":443",
		":8080", ":", "@", "user", "?", "&", "=", "x=1", "utm_a=b", "#", "%41", "%c3%a9", "é", "%", "%zz", " ", "\t", "\n", ";", ";jsessionid=1",
		"'", "\"", "<", "|", "^", "`", "{", "[", "]", "[::1]", "127.1", "0x7f", "1", "xn--bcher-kva.de", "bücher.de", "~", "+", "_", "-", "ß", "。"}
	rng := rand.New(rand.NewPCG(1, 1))
	const base = "http://base.test/dir/page?q=1"
	b := testkit.Call(standard.Base(base)).Must(t)
	agreed, failures, refs := 0, 0, testkit.Rounds(40_000, 100_000)
	for range refs {
		var sb strings.Builder
		for range 1 + rng.IntN(9) {
			sb.WriteString(parts[rng.IntN(len(parts))])
		}
		ref := sb.String()
		if oracleErrs(ref) {
			continue
		}
		got, err := standard.Resolve(b, ref)
		want, ok := oracle(base, ref)
		if ok != (err == nil) || ok && got != want {
			t.Errorf("Resolve(%q) = %q, %v; a browser has %q (%v)", ref, got, err, want, ok)
			if failures++; failures == 20 {
				t.FailNow()
			}
		}
		if ok {
			agreed++
		}
	}
	if 4*agreed < refs {
		t.Errorf("only %d of the references are URLs to both", agreed)
	}
}

func checkNormal(t *testing.T, in, u string) {
	t.Helper()
	if again, err := Normalize(u); err != nil || again != u {
		t.Fatalf("%q → %q is not stable: %q, %v", in, u, again, err)
	}
	parsed, err := url.Parse(u)
	if err != nil || parsed.Host == "" || parsed.Fragment != "" || parsed.User != nil {
		t.Fatalf("%q → %q: net/url reads %+v, %v", in, u, parsed, err)
	}
	if len(u) > maxURLBytes || strings.ContainsAny(u, " #\t\n<>\"") || strings.ContainsFunc(u, func(r rune) bool { return r >= 0x7f }) {
		t.Fatalf("%q → %q has what a normal form doesn't have", in, u)
	}
	if host := Host(u); host == "" || !strings.Contains(u, strings.TrimSuffix(strings.TrimSuffix(host, ":80"), ":443")) {
		t.Fatalf("%q → %q: host %q", in, u, host)
	}
}

func FuzzNormalize(f *testing.F) {
	for _, s := range []string{"http://example.com/a/../b?c=d#e", "HTTPS:\\\\Bücher.de:443/%7e%zz", "http://0x7f.1/;jsessionid=1", "http://[::ffff:1.2.3.4]:80", "http://a/%4%31?%2", "http://a./..//../b?&a&"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if u, err := Normalize(s); err == nil {
			checkNormal(t, s, u)
		}
	})
}

func FuzzResolve(f *testing.F) {
	f.Add("http://a/b/c?d", "../e?f")
	f.Add("https://a.b", "//c\\d")
	f.Add("http://a//b//", "..//..;jsessionid=2/.")
	f.Fuzz(func(t *testing.T, baseURL, ref string) {
		base, err := standard.Base(baseURL)
		if err != nil {
			return
		}
		u, err := standard.Resolve(base, ref)
		if err != nil {
			return
		}
		checkNormal(t, ref, u)
		// An absolute URL resolves to itself on every page.
		if same, err := standard.Resolve(base, u); err != nil || same != u {
			t.Fatalf("%q on %q → %q, %v", u, baseURL, same, err)
		}
	})
}

func TestPattern(t *testing.T) {
	for url, want := range map[string]string{
		"http://a.test":              "/",
		"http://a.test/":             "/",
		"http://a.test/about.html":   "/*.html",
		"http://a.test/wiki/Ireland": "/wiki/*",
		"http://a.test/events/2026/list.html?month=5&view=day":    "/events/0/*.html?month&view",
		"http://a.test/events/2025/list.html?view=week&month=12":  "/events/0/*.html?month&view",
		"http://a.test/x?sid=00ab12&page=3":                       "/*?page&sid",
		"http://a.test/deep/4/5/6/":                               "/deep/0/",
		"http://a.test/deep/4/":                                   "/deep/0/",
		"http://a.test/s/9f86d081884c7d65/view":                   "/s/0/*",
		"http://a.test/pix/josh12/a.jpg":                          "/pix/josh0/*.jpg",
		"http://a.test/?a":                                        "/?a",
		"http://a.test/a//b/":                                     "/a//b/",
		"http://a.test/release-notes.d/":                          "/release-notes.d/",
		"http://a.test/q?" + strings.Repeat("x1=1&", 3) + "x22=3": "/*?x0",
	} {
		if got := Pattern(url); got != want {
			t.Errorf("%s: pattern %s, want %s", url, got, want)
		}
	}
}

func TestWiderPattern(t *testing.T) {
	for pattern, want := range map[string][]string{
		"/events/0/*.html?month&view": {"/events/0/*.html?", "/events/"},
		"/wiki/*":                     {"/wiki/"},
		"/wiki/":                      nil,
		"/*?page&sid":                 {"/*?"},
		"/?a":                         {"/?"},
		"/*":                          nil,
		"/":                           nil,
		"":                            nil,
		"//":                          nil,
		"/a//b/":                      {"/a/"},
	} {
		var got []string
		for p := WiderPattern(pattern); p != ""; p = WiderPattern(p) {
			got = append(got, p)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q is part of %q, want %q", pattern, got, want)
		}
	}
}

// FuzzPattern: wider patterns get shorter and end.
func FuzzPattern(f *testing.F) {
	for _, url := range []string{"http://a.test/events/2026/list.html?month=5&view=day", "http://a.test//?", "a?b/c", "://"} {
		f.Add(url)
	}
	f.Fuzz(func(t *testing.T, url string) {
		for p := Pattern(url); p != ""; {
			wider := WiderPattern(p)
			if len(wider) >= len(p) {
				t.Fatalf("%q: %q is wider than %q", url, wider, p)
			}
			p = wider
		}
	})
}

// TestPath compares with net/url on normalised URLs made of special characters.
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
