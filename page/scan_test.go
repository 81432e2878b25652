package page

import (
	"bytes"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
)

// rawElements are those whose content the HTML standard reads without tags.
var rawElements = []string{"script", "style", "iframe", "noembed", "textarea", "title", "xmp"}

// scanned lists what the scanner finds. standard is false when it met what it
// reads otherwise than the standard on purpose.
func scanned(body []byte) (out []string, standard bool) {
	s := scanner{page: body}
	standard = true
	for {
		switch s.next() {
		case endOfPage:
			return out, standard && s.missing == [3]bool{}
		case textToken, rawToken:
			out = appendText(out, string(s.text))
		case startTag:
			name := string(s.name)
			if len(s.attrs) == maxAttrs || len(name) == len(s.nameBuf) {
				standard = false
			}
			seen := map[string]bool{}
			tag := "<" + name
			for _, a := range s.attrs {
				if key := string(appendLower(nil, a.key)); !seen[key] {
					seen[key] = true
					tag += " " + key
				}
			}
			out = append(out, tag)
			if slices.Contains(rawElements, name) {
				s.enter(name, false)
				end := s.findEnd(name)
				// Without an end the two differ, and in scripts with comments.
				if end == len(body) || name == "script" && bytes.Contains(body[s.pos:end], []byte("<!--")) {
					standard = false
				}
			}
		case endTag:
			out = append(out, "</"+string(s.name))
			if len(s.name) == len(s.nameBuf) {
				standard = false
			}
		}
	}
}

// tokenized lists what the tokenizer of x/net/html finds: tags with the names
// of their attributes, as it gives values decoded.
func tokenized(body []byte) (out []string) {
	z := html.NewTokenizer(bytes.NewReader(body))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return out
		case html.TextToken:
			out = appendText(out, string(z.Raw()))
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			tag := "<" + string(name)
			for more {
				var key []byte
				key, _, more = z.TagAttr()
				tag += " " + string(key)
			}
			if n := string(name); !slices.Contains(rawElements, n) {
				z.NextIsNotRawText()
			}
			out = append(out, tag)
		case html.EndTagToken:
			name, _ := z.TagName()
			out = append(out, "</"+string(name))
		}
	}
}

func appendText(out []string, s string) []string {
	if n := len(out); n > 0 && strings.HasPrefix(out[n-1], "T") {
		out[n-1] += s
		return out
	}
	return append(out, "T"+s)
}

// compareScan fails when the two disagree on a page that both read by the standard.
func compareScan(t *testing.T, body []byte) bool {
	t.Helper()
	got, standard := scanned(body)
	if !standard || bytes.ContainsAny(body, "\x00") || bytes.Contains(bytes.ToLower(body), []byte("<plaintext")) {
		return false
	}
	if want := tokenized(body); !slices.Equal(got, want) {
		t.Errorf("page %q\n got %q\nwant %q", body, got, want)
	}
	return true
}

// pieces are what random pages are put together from.
var pieces = []string{"<", ">", "</", "<a", "<A HREF=", "\"", "'", "=", " ", "/", "/>", "x", "é", "\n", "<p>", "</p>", "<!--", "-->", "--", "-", "!",
	"--!>", "<!", "<?", "<!DOCTYPE html>", "<script>", "</script>", "</scrip", "<style>", "</style >", "<title>", "</TITLE>", "<textarea>", "</textarea/",
	"&amp;", "&", "<br/>", "<img src=x/>", "key=\"v\"", "key='v'", "key", "<div class='a b'>", "</div x=\">\">", "<![CDATA[", "]]>", "<>", "</>", "<1"}

func TestScanLikeTokenizer(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	compared := 0
	for range 50_000 {
		var b bytes.Buffer
		for range 1 + rng.Intn(14) {
			b.WriteString(pieces[rng.Intn(len(pieces))])
		}
		if compareScan(t, b.Bytes()) {
			compared++
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	if compared < 20_000 {
		t.Errorf("only %d pages compared", compared)
	}
}

func TestScanRecovers(t *testing.T) {
	for _, c := range []struct{ name, in, text string }{
		{"comment without end goes to the next bracket", "a <!-- b <p>c</p> d", "a c\nd"},
		{"quote without end", `a <a href="x>b</a> c`, "a b c"},
		{"title without end", "<title>a <p>b", "a\nb"},
		{"textarea without end", "a <textarea>b <p>c", "a\nb\nc"},
		{"script without end hides the rest", "a <script>b <p>c", "a"},
		{"tag without end", "a <p class=", "a"},
		{"lone bracket", "a < b and c <3 d", "a < b and c <3 d"},
		{"bracket at the end", "a <", "a <"},
		{"empty comments", "a <!--> b <!---> c", "a b c"},
		{"script with tags", "a <script>if (x<y) '</p>'</script> b", "a b"},
	} {
		p, err := Parse([]byte(c.in), ParseOptions{})
		if err != nil || p.Text != c.text {
			t.Errorf("%s: %q gives %q, %v; want %q", c.name, c.in, p.Text, err, c.text)
		}
	}
}

// Pages built to make a parser quadratic, deep or big.
func TestHostilePages(t *testing.T) {
	const n = 1 << 20
	for _, c := range []struct{ name, unit string }{
		{"nesting", "<div>"}, {"regions", "<nav><div class=menu><svg>"}, {"comments", "<!--"}, {"comment ends", "<!-- --"}, {"titles", "<title>"},
		{"titles with end", "<title></title>"}, {"scripts", "<script>"}, {"textareas", "<textarea><xmp>"}, {"quotes", `<a href="`}, {"single quotes", "<a href='>"},
		{"tags without end", "<a "}, {"attributes", `a="b" `}, {"one tag", "<a" + strings.Repeat(" x", 1<<10)}, {"links", "<a href=x>y"}, {"empty links", "<a href=x><img alt=y>"},
		{"links in one line", "<a href=x>y</a> "}, {"headings", "<h1>a"}, {"entities", "&amp;&notit;&#65;"}, {"ampersands", "&"}, {"brackets", "<"}, {"ends", "</"},
		{"breaks", "<br>"}, {"text", "word "}, {"no spaces", "字"}, {"lines", "a<br>"}, {"frames", "<frame src=x>"}, {"meta", "<meta name=description content=x>"},
		{"nul", "\x00"}, {"invalid", "\xff"}, {"refresh", "<meta http-equiv=refresh content='0;url=x'>"}, {"soft hyphens", "&shy;"}, {"select", "<select><option>a"},
	} {
		body := bytes.Repeat([]byte(c.unit), n/len(c.unit)+1)
		start := time.Now()
		p, err := Parse(body, ParseOptions{URL: "http://h.test/", ContentType: "text/html; charset=utf-8"})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		// Linear time takes some 50 ms for a MiB of the worst; quadratic, minutes.
		if d := time.Since(start); d > 3*time.Second {
			t.Errorf("%s: %v for a MiB", c.name, d)
		} else if d > 100*time.Millisecond {
			t.Logf("%s: %v for a MiB", c.name, d)
		}
		checkPage(t, p)
	}
}

func FuzzScan(f *testing.F) {
	f.Add([]byte("<!DOCTYPE html><p class='a'>x<br/>y &amp; z</p><!-- c --><script>a</script>"))
	f.Add([]byte("<title>a</title><a href=\"b\"c d=e>f</a ><!--x--!><textarea><p></textarea>"))
	f.Fuzz(func(t *testing.T, body []byte) { compareScan(t, body) })
}
