package page

import (
	"bytes"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"fossick/internal/fulltest"
)

// scanned lists what the scanner finds, and says whether it met something endless.
// It fails when the scanner doesn't get on.
func scanned(t *testing.T, body []byte) (out []string, mended bool) {
	t.Helper()
	s := scanner{page: body}
	for pos := 0; ; pos = s.pos {
		kind := s.next()
		if s.start < pos && kind != endOfPage || s.pos <= s.start && kind != endOfPage || s.pos > len(body) {
			t.Fatalf("token at %d to %d after %d of %q", s.start, s.pos, pos, body)
		}
		switch kind {
		case endOfPage:
			if s.pos != len(body) {
				t.Fatalf("ended at %d of %q", s.pos, body)
			}
			return out, s.comments || len(s.quotes) > 0
		case textToken:
			out = appendText(out, string(s.text))
		case startTag:
			s.get("") // reads all
			tag := "<" + string(s.name)
			for _, a := range s.attrs {
				tag += " " + string(a.key) + "=" + string(a.value)
			}
			out = append(out, tag)
		case endTag:
			out = append(out, "</"+string(s.name))
		}
	}
}

// tokenized lists what a tokenizer finds that reads the page as a whole, and says
// whether that ends in a tag.
func tokenized(body []byte) (out []string, endless bool) {
	z := html.NewTokenizer(bytes.NewReader(body))
	for {
		z.NextIsNotRawText()
		switch z.Next() {
		case html.ErrorToken:
			return out, len(z.Raw()) > 0
		case html.TextToken:
			out = appendText(out, string(z.Raw()))
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			tag := "<" + string(name)
			for more {
				var key, value []byte
				key, value, more = z.TagAttr()
				tag += " " + string(key) + "=" + string(value)
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

// compareScan holds that feeding the tokenizer tag by tag changes nothing, where
// nothing is endless.
func compareScan(t *testing.T, body []byte) (compared bool) {
	t.Helper()
	got, mended := scanned(t, body)
	want, endless := tokenized(body)
	if mended || endless || len(body) >= longTokenBytes {
		return false
	}
	if !slices.Equal(got, want) {
		t.Fatalf("page %q\n got %q\nwant %q", body, got, want)
	}
	return true
}

// pieces are what random pages are put together from.
var pieces = []string{"<", ">", "</", "<a", "<A HREF=", "\"", "'", "=", " ", "/", "/>", "x", "é", "\n", "<p>", "</p>", "<!--", "-->", "--", "-", "!",
	"--!>", "<!", "<?", "<!DOCTYPE html>", "<script>", "</script>", "</scrip", "<title>", "</TITLE>", "&amp;", "&", "<br/>", "<img src=x/>",
	"key=\"v\"", "key='v'", "key", "<div class='a b'>", "</div x=\">\">", "<![CDATA[", "]]>", "<>", "</>", "<1"}

func TestScanLikeTokenizer(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	compared, pages := 0, fulltest.Rounds(10_000, 50_000)
	for range pages {
		var b bytes.Buffer
		for range 1 + rng.Intn(14) {
			b.WriteString(pieces[rng.Intn(len(pieces))])
		}
		if compareScan(t, b.Bytes()) {
			compared++
		}
	}
	if 2*compared < pages {
		t.Errorf("only %d pages compared", compared)
	}
}

func FuzzScan(f *testing.F) {
	f.Add([]byte("<!DOCTYPE html><p class='a'>x<br/>y &amp; z</p><!-- c --><script>a</script>"))
	f.Add([]byte("<title>a</title><a href=\"b\"c d=e>f</a ><!--x--!><textarea><p></textarea>"))
	f.Add([]byte("<a/=\"b\" c=\"d>e"))
	f.Add([]byte("<a b='c\" d=\"e' f='><!-- g > h <i"))
	f.Fuzz(func(t *testing.T, body []byte) { compareScan(t, body) })
}
