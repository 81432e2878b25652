package page

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/net/html"

	"fossick/internal/testkit"
)

// scanned lists the scanner's tokens, and reports whether any was endless.
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
			s.get("") // reads all attributes
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

// tokenized lists the tokens of a whole page, and reports whether it ends in a tag.
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

// compareScan checks that feeding the tokenizer tag by tag changes nothing if nothing is endless.
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

// pieces are the parts of random pages.
var pieces = []string{"<", ">", "</", "<a", "<A HREF=", "\"", "'", "=", " ", "/", "/>", "x", "é", "\n", "<p>", "</p>", "<!--", "-->", "--", "-", "!",
	"--!>", "<!", "<?", "<!DOCTYPE html>", "<script>", "</script>", "</scrip", "<title>", "</TITLE>", "&amp;", "&", "<br/>", "<img src=x/>",
	"key=\"v\"", "key='v'", "key", "<div class='a b'>", "</div x=\">\">", "<![CDATA[", "]]>", "<>", "</>", "<1"}

func TestScanLikeTokenizer(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	compared, pages := 0, testkit.Rounds(10_000, 25_000)
	for range pages {
		var b bytes.Buffer
		for range 1 + rng.IntN(14) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
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
		{"comments, none of which ends", "a <!-- b --> c <!-- d <p>e</p> <!-- f > g", "a c e\ng"},
		{"other end of a comment", "a <!-- b --!> c", "a c"},
		{"script that names scripts in a comment", "a <script><!-- <script> </script> b", "a b"},
		{"entities in a textarea", "<textarea>a &lt;b&gt;</textarea>", "a <b>"},
		{"plaintext", "a<plaintext>b <p>c</plaintext>", "a\nb <p>c</plaintext>"},
		{"script with tags", "a <script>if (x<y) '</p>'</script> b", "a b"},
	} {
		p, err := Parse([]byte(c.in), ParseOptions{})
		if err != nil || p.Text != c.text {
			t.Errorf("%s: %q gives %q, %v; want %q", c.name, c.in, p.Text, err, c.text)
		}
	}
}

// TestScanRecoversLinks: an unclosed quote costs neither its link nor later ones.
func TestScanRecoversLinks(t *testing.T) {
	for in, want := range map[string]string{
		`<a href="x>a</a> <a href=y>b</a>`:                           "x y",
		`<a title="it's" href="x>a</a> <a href='y>b</a> <a href=z>c`: "x y z",
		`<a title='"' href='x>a</a> <a href=y>b</a>`:                 "x y",
		`<a href='x'>a</a> <a href = "y title=c>d</a> <a href='z>`:   "x y z",
		`<a href="><a href=x>`:                                       "x",
		`<p class="a>` + strings.Repeat("<a href=x>y</a> ", 40_000):  strings.TrimSpace(strings.Repeat("x ", maxLinks)),
	} {
		p := testkit.Call(Parse([]byte(in), ParseOptions{URL: "http://h.test/"})).Must(t)
		var got []string
		for _, l := range p.Links {
			got = append(got, strings.TrimPrefix(l.URL, "http://h.test/"))
		}
		if g := strings.Join(got, " "); g != want {
			t.Errorf("%.100q gives links %.100q, want %.100q", in, g, want)
		}
	}
}

// TestScanLongTokens tries tokens around the tokenizer's limits.
func TestScanLongTokens(t *testing.T) {
	span := testkit.Rounds(2, 16)
	for _, around := range []int{longTokenBytes, maxTokenBytes, 3 * maxTokenBytes} {
		for n := around - span; n < around+span; n++ {
			x := strings.Repeat("x", n)
			for _, c := range []struct{ name, in, want string }{
				{"text", "<p>" + strings.Repeat("é", n/2) + "&amp;b", strings.Repeat("é", n/2) + "&b"},
				{"comment", "a <!--" + x + "--> b<!-- c --> d", "a b d"},
				{"comment without end", "a <!-->" + x + "<!-- b> c <!-- d> e", "a " + x + " c e"},
				{"declaration", "a <!x" + x + "> b <!-- c --> d", "a b d"},
				{"script", "a <script>" + x + "</script> b", "a b"},
				{"tag", "a <i title='>" + x + "'> b <b>c</b>", "a b c"},
				{"tag of script", "a <script title='>" + x + "'></script> b", "a b"},
				{"end tag", "a </i x='>" + x + "'> b", "a b"},
				{"name", "a <x" + x + "> b", "a b"},
			} {
				p, err := Parse([]byte(c.in), ParseOptions{ContentType: "text/html; charset=utf-8"})
				if err != nil || p.Text != c.want {
					t.Fatalf("%s of about %d bytes: %.60q, %v; want %.60q", c.name, n, p.Text, err, c.want)
				}
			}
			if around > maxTokenBytes {
				break
			}
		}
	}
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "a%d ", i)
	}
	return b.String()
}

// TestLongNames: overlong names never reach IDNA, whose quadratic time once cost 27 s a page.
func TestLongNames(t *testing.T) {
	var body strings.Builder
	for i := range 500 {
		fmt.Fprintf(&body, "<a href='//%d%s'>a</a><a href='//%d.xn--%s'>b</a>", i, distinct(2700), i, strings.Repeat("a9", 3000))
	}
	start := usedTime(t)
	p, err := Parse([]byte(body.String()), ParseOptions{URL: "http://h.test/", ContentType: "text/html; charset=utf-8"})
	if err != nil || len(p.Links) != 0 || p.Skipped != 1000 {
		t.Fatalf("%d links, %d skipped, %v; want 1,000 skipped", len(p.Links), p.Skipped, err)
	}
	if d := usedTime(t) - start; d > 5*time.Second {
		t.Errorf("%v", d)
	}
}

func usedTime(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	testkit.Must(t, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func distinct(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteRune('一' + rune(i))
	}
	return b.String()
}

// checkStops stops Parse halfway and at the last call of Stop.
func checkStops(t *testing.T, name string, body []byte, asked int) {
	t.Helper()
	stop := errors.New("stop")
	for _, at := range []int{(asked + 1) / 2, asked} {
		n := 0
		p, err := Parse(body, ParseOptions{URL: "http://h.test/", ContentType: "text/html; charset=utf-8", Stop: func() error {
			if n++; n == at {
				return stop
			}
			return nil
		}})
		if p != nil || err != stop || n != at {
			t.Errorf("%s: stopped at question %d of %d: page %v, %v after %d", name, at, asked, p != nil, err, n)
		}
	}
}

// TestHostilePages tries pages built to make a parser quadratic, deep or big.
func TestHostilePages(t *testing.T) {
	testkit.Only(t, "seconds of processor time")
	const n = 1 << 20
	pages := testkit.Tries(t, "hostile pages")
	all := []struct{ name, unit, before string }{
		{"nesting", "<div>", ""}, {"regions", "<nav><div class=menu><svg>", ""}, {"comments", "<!--", ""}, {"comment ends", "<!-- --", ""}, {"titles", "<title>", ""},
		{"titles with end", "<title></title>", ""}, {"scripts", "<script>", ""}, {"textareas", "<textarea><xmp>", ""}, {"quotes", `<a href="`, ""}, {"single quotes", "<a href='>", ""},
		{"tags without end", "<a ", ""}, {"attributes", `a="b" `, ""}, {"one tag", "<a" + strings.Repeat(" x", 1<<10), ""}, {"links", "<a href=x>y", ""}, {"empty links", "<a href=x><img alt=y>", ""},
		{"links in one line", "<a href=x>y</a> ", ""}, {"headings", "<h1>a", ""}, {"entities", "&amp;&notit;&#65;", ""}, {"ampersands", "&", ""}, {"brackets", "<", ""}, {"ends", "</", ""},
		{"breaks", "<br>", ""}, {"text", "word ", ""}, {"no spaces", "字", ""}, {"lines", "a<br>", ""}, {"frames", "<frame src=x>", ""}, {"meta", "<meta name=description content=x>", ""},
		{"nul", "\x00", ""}, {"invalid", "\xff", ""}, {"refresh", "<meta http-equiv=refresh content='0;url=x'>", ""}, {"soft hyphens", "&shy;", ""}, {"select", "<select><option>a", ""},
		{"tag of brackets", ">", "<a b='"}, {"comment of brackets", ">", "<!--"}, {"name", "a", "<a"}, {"titles with text", "<title>a</title>", ""},
		{"attributes behind many", "<p a>", "<a " + numbered(700) + ">"}, {"scripts in comments", "<script><!--<script></script>", ""},
		{"attributes of a tag", "a=b ", "<a "}, {"quotes in values", "<a b='\"' c=\">", ""}, {"declarations", "<!", ""}, {"empty declarations", "<!>", ""}, {"open end tags", "</p ", ""},
		{"equals", "<a =", ""}, {"quotes in text", "<a b=c\" d=e'>", ""}, {"tags just not long", "<a b='" + strings.Repeat(">", longTokenBytes-10) + "'>", ""},
	}
	try := func(name string, body []byte) {
		start, asked := usedTime(t), 0
		p, err := Parse(body, ParseOptions{URL: "http://h.test/", ContentType: "text/html; charset=utf-8",
			Stop: func() error { asked++; return nil }})
		// The worst MiB takes some 50 ms in linear time, and minutes in quadratic time.
		d := usedTime(t) - start
		if pages.Try(err == nil && d < 3*time.Second, "%s: %v for %d bytes, %v", name, d, len(body), err) {
			checkPage(t, p)
			checkStops(t, name, body, asked)
		}
	}
	for _, c := range all {
		try(c.name, append([]byte(c.before), bytes.Repeat([]byte(c.unit), n/len(c.unit)+1)...))
	}
	for _, a := range all[:testkit.Rounds(1, len(all))] { // nested, alternating, and in sequence
		for _, b := range all {
			units := bytes.Repeat([]byte(a.unit), n/16/len(a.unit)+1)
			try(a.name+" in "+b.name, append([]byte(b.before), units...))
			try(a.name+" and "+b.name, append([]byte(a.before), bytes.Repeat([]byte(a.unit+b.unit), n/16/len(a.unit+b.unit)+1)...))
			try(b.name+" behind "+a.name, append(append([]byte(a.before), units...), b.before+strings.Repeat(b.unit, n/16/len(b.unit)+1)...))
		}
	}
}

// naiveFold is write, character by character.
func naiveFold(f *folder, s []byte) {
	for len(s) > 0 && len(f.out) < f.limit {
		r, size := utf8.DecodeRune(s)
		class := int(foldClass[s[0]])
		if class == foldLead {
			class = foldRune(r)
		}
		switch class {
		case foldPlain:
			f.out = f.add(f.out, s[:size])
		case foldSpace:
			f.space = true
		}
		s = s[size:]
	}
}

// TestFold compares write with naiveFold.
func TestFold(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	odd := []rune(" \t\n!\"~\x7f\x00\x1f\u00a0\u00adé日\u2003\u200b\ufeffz")
	for n := range 50000 {
		limit := 1 << 20
		if n%4 == 0 {
			limit = rng.IntN(40)
		}
		fast, slow := folder{limit: limit}, folder{limit: limit}
		for range 1 + rng.IntN(3) {
			var s []byte
			for range rng.IntN(40) {
				switch rng.IntN(8) {
				case 0:
					s = utf8.AppendRune(s, odd[rng.IntN(len(odd))])
				case 1:
					s = append(s, ' ')
				default:
					s = append(s, 'a'+byte(rng.IntN(26)))
				}
			}
			fast.write(s)
			naiveFold(&slow, s)
			if limit < 40 { // a cut may leave room for later text
				if len(fast.out) > limit || !utf8.Valid(fast.out) {
					t.Fatalf("%q, limit %d: %q", s, limit, fast.out)
				}
				continue
			}
			if string(fast.out) != string(slow.out) || fast.space != slow.space {
				t.Fatalf("%q: %q, want %q", s, fast.out, slow.out)
			}
			if rng.IntN(3) == 0 {
				fast.breakBlock()
				slow.breakBlock()
			}
		}
	}
}
