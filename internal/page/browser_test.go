package page

import (
	"math"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"

	"fossick/internal/testkit"
)

// signedNumber matches a host part that the oracle parses as a signed number, while browsers take
// it for a name. For example it reads "0-0" as octal −0, the address 0.0.0.0.
var signedNumber = regexp.MustCompile(`(?i)(^|[/\\@.])(0x?)?[+-][0-9a-f]*([./\\:?#]|$)`)

// longNumber matches a host part with too many leading digits, which the oracle always refuses.
var longNumber = regexp.MustCompile(`(?i)(^|[/\\@.])(0x[0-9a-f]{16,}|[0-9]{18,})`)

// checkLikeBrowser checks that Resolve treats ref like a browser, except for intended differences
// (oracle) and known errors of the oracle. It reports whether both accept ref as a web URL.
func checkLikeBrowser(t *testing.T, base Base, ref string) bool {
	t.Helper()
	host, _, _ := strings.Cut(strings.TrimPrefix(base.url, "http://"), "/")
	if oracleErrs(ref) || underscored(host) || signedNumber.MatchString(base.url) || signedNumber.MatchString(ref) || longNumber.MatchString(base.url) || longNumber.MatchString(ref) || len(ref) > maxURLBytes/3 || !utf8.ValidString(ref) {
		// Length limits are ours. Bytes that are not UTF-8 come only from a Location: browsers and
		// we encode them one by one; the oracle replaces them by U+FFFD.
		return false
	}
	got, err := standard.Resolve(base, ref)
	want, ok := oracle(base.url, ref)
	if ok && len(want) > maxURLBytes {
		return false
	}
	if ok != (err == nil) || ok && got != want {
		t.Errorf("Resolve(%q) on %s = %q, %v; a browser has %q (%v)", ref, base.url, got, err, want, ok)
	}
	return ok
}

// TestCorpusLinksLikeBrowsers compares on real links: of 200 or 800 pages per corpus, or of all with
// FOSSICK_COMPARE=1.
func TestCorpusLinksLikeBrowsers(t *testing.T) {
	most := testkit.Rounds(200, 800)
	if os.Getenv("FOSSICK_COMPARE") != "" {
		most = math.MaxInt
	}
	for _, corpus := range []string{"webkb", "uci_ics", "debdocs", "wikispeedia"} {
		t.Run(corpus, func(t *testing.T) {
			pages, agreed, refused := 0, 0, 0
			seen := map[string]bool{}
			corpusPages(t, corpus, func(c corpusPage) bool {
				base, err := standard.Base(c.URL)
				if err != nil {
					return true
				}
				for ref := range hrefs(c.HTML) {
					if seen[ref] {
						continue
					}
					seen[ref] = true
					if checkLikeBrowser(t, base, ref) {
						agreed++
					} else {
						refused++
					}
				}
				pages++
				return !t.Failed() && pages < most
			})
			t.Logf("%d pages: %d links are URLs to both, %d to neither", pages, agreed, refused)
			if agreed < 1000 && !t.Failed() {
				t.Errorf("only %d links compared", agreed)
			}
		})
	}
}

func hrefs(page string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		z := html.NewTokenizer(strings.NewReader(page))
		for {
			switch z.Next() {
			case html.ErrorToken:
				return
			case html.StartTagToken, html.SelfClosingTagToken:
				for more := true; more; {
					var key, value []byte
					key, value, more = z.TagAttr()
					if name := string(key); (name == "href" || name == "src") && !yield(string(value)) {
						return
					}
				}
			}
		}
	}
}

func FuzzLikeBrowsers(f *testing.F) {
	f.Add("http://a/b/c?d", "../e?f")
	f.Add("https://a.b/", "//c\\d:8080/%7e;jsessionid=1")
	f.Add("http://0-0/", "\x00")
	f.Add("http://0\u01e8a____", "\x1f")
	f.Add("http://a/", "http://Bücher.de/(S(lit3py55t21z5v55vlm25s55))/x")
	f.Fuzz(func(t *testing.T, baseURL, ref string) {
		if base, err := standard.Base(baseURL); err == nil {
			checkLikeBrowser(t, base, ref)
		}
	})
}
