package page

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"fossick/internal/testkit"
)

// checkPage checks what Parse promises for every page.
func checkPage(t *testing.T, p *Page) {
	t.Helper()
	if len(p.Text) > maxTextBytes || len(p.Links) > maxLinks || len(p.Title) > maxTitleBytes {
		t.Fatalf("beyond the limits: %d bytes of text, %d links, %d bytes of title", len(p.Text), len(p.Links), len(p.Title))
	}
	for name, s := range map[string]string{"title": p.Title, "text": p.Text, "headings": p.Headings, "description": p.Description} {
		if !utf8.ValidString(s) {
			t.Fatalf("%s is not UTF-8: %q", name, s)
		}
		if strings.Contains(s, "  ") || strings.Contains(s, "\n\n") || strings.Contains(s, " \n") || strings.Contains(s, "\n ") ||
			strings.TrimSpace(s) != s {
			t.Fatalf("white space of %s is not folded: %q", name, s)
		}
	}
	for _, l := range p.Links {
		checkNormal(t, "a link", l.URL)
		if strings.Contains(l.Anchor+l.Context, "\n") || len(l.Anchor) > maxAnchorBytes || len(l.Context) > 2*maxSideBytes+8 ||
			!utf8.ValidString(l.Anchor) || !utf8.ValidString(l.Context) {
			t.Fatalf("link %+v", l)
		}
		if strings.TrimSpace(l.Anchor) != l.Anchor || strings.TrimSpace(l.Context) != l.Context {
			t.Fatalf("space around %+v", l)
		}
		before, after := l.Around[0].of(p.Text), l.Around[1].of(p.Text)
		if around := strings.TrimSpace(before + " " + after); l.Around != (Around{}) && around != l.Context {
			t.Fatalf("around is %q, of link %+v", around, l)
		}
	}
}

// TestFeeds: feeds are kept once each, up to the limit, and are no links.
func TestFeeds(t *testing.T) {
	html := `<link rel="alternate" type="application/rss+xml" href="/rss"><link rel="ALTERNATE" type=" application/Atom+xml" href="atom.xml"><link rel=alternate type=application/rss+xml href=/rss>` +
		`<link rel=alternate type=text/html href=/de><link rel=stylesheet type=application/rss+xml href=/no><link rel=alternate type=application/rss+xml href="ftp://x/">`
	p, err := Parse([]byte(html), ParseOptions{URL: "http://h.test/a/"})
	if err != nil || !slices.Equal(p.Feeds, []string{"http://h.test/rss", "http://h.test/a/atom.xml"}) || len(p.Links) != 1 {
		t.Errorf("%q, %d links, %v", p.Feeds, len(p.Links), err)
	}
	for i := range 10 {
		html += fmt.Sprintf("<link rel=alternate type=application/rss+xml href=/%d>", i)
	}
	if p, err := Parse([]byte(html), ParseOptions{URL: "http://h.test/a/"}); err != nil || len(p.Feeds) != maxFeeds {
		t.Errorf("%d feeds, %v", len(p.Feeds), err)
	}
}

func TestParse(t *testing.T) {
	const body = `<!DOCTYPE html><html lang="en-GB"><head><title> A &amp;  B<b> </title><base href="/dir/">
<meta name="Description" content="Caf&eacute; &lt;here&gt;"><meta name=robots content="noindex, follow">
<link rel=canonical href="/canon?utm_source=x"><link rel="stylesheet" href=s.css><link rel=next href=n title="Next page">
<style>p{}</style><script>"<p>not text</p>"</script><noscript><p>nor this</p></noscript></head>
<body class="has-menu"><ul id=nav><li><a href=x.html>X</a></li></ul>
<h1>Head <i>one</i></h1><p>Some words before <a href="y?a=1&copy=2#f" rel="Nofollow x">the
  link</a>, and words after&nbsp;it.<!-- not this --><br>co&shy;op<p><a href=z><img alt=" pic "></a>
<p>text <a href="#top">top</a> <a href="mailto:a@b.c">mail</a> <a name=n>named</a>
<h2>Sub</h2><ul><li><a href=/l1>One</a></li><li><a href=/l2>Two</a> as it is</li></ul>
<select><option>choice</select><template><a href=t>t</a></template><svg><text>label</text></svg>
<iframe src="//other.test/f" title=Frame><a href=no>no</a></iframe>
<footer><a href=imprint>Imprint</a></footer></body></html>`
	p, err := Parse([]byte(body), ParseOptions{URL: "http://H.test/a/b"})
	if err != nil {
		t.Fatal(err)
	}
	checkPage(t, p)
	for _, c := range []struct{ name, got, want string }{
		{"URL", p.URL, "http://h.test/a/b"}, {"canonical", p.Canonical, "http://h.test/canon"}, {"charset", p.Charset, "utf-8"},
		{"language", p.Lang, "en"}, {"title", p.Title, "A & B<b>"}, {"description", p.Description, "Café <here>"},
		{"headings", p.Headings, "Head one\nSub"}, {"refresh", p.Refresh, ""},
		{"text", p.Text, "X\nHead one\nSome words before the link, and words after it.\ncoop\ntext top mail named\nSub\nOne\nTwo as it is\nImprint"},
	} {
		if c.got != c.want {
			t.Errorf("%s = %q, want %q", c.name, c.got, c.want)
		}
	}
	if !p.NoIndex || p.NoFollow || p.Skipped != 1 {
		t.Errorf("noindex %v, nofollow %v, skipped %d; want true, false, 1", p.NoIndex, p.NoFollow, p.Skipped)
	}
	want := []Link{
		{URL: "http://h.test/dir/n", Anchor: "Next page", Kind: Other, Nav: true},
		{URL: "http://h.test/dir/x.html", Anchor: "X", Kind: Anchor, Nav: true},
		{URL: "http://h.test/dir/y?a=1&copy=2", Anchor: "the link", Context: "Some words before , and words after it.", Kind: Anchor, NoFollow: true},
		{URL: "http://h.test/dir/z", Anchor: "pic", Context: "Head one", Kind: Anchor},
		{URL: "http://h.test/l1", Anchor: "One", Context: "Sub", Kind: Anchor},
		{URL: "http://h.test/l2", Anchor: "Two", Context: "as it is", Kind: Anchor},
		{URL: "http://other.test/f", Anchor: "Frame", Context: "Sub", Kind: Frame},
		{URL: "http://h.test/dir/imprint", Anchor: "Imprint", Kind: Anchor, Nav: true},
	}
	for i := range p.Links {
		p.Links[i].Around = Around{} // checkPage has verified it
	}
	for i := range max(len(want), len(p.Links)) {
		if i >= len(want) || i >= len(p.Links) || p.Links[i] != want[i] {
			t.Errorf("links %+v\nwant %+v", p.Links, want)
			break
		}
	}
}

func TestText(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"cells of a row", "<table><tr><td>a<td>b<tr><td>c</table>", "a b\nc"},
		{"inline does not break", "a<b>b</b><i>c</i>", "abc"},
		{"list", "<ul><li>a<li>b</ul>c", "a\nb\nc"},
		{"entities", "&lt;p&gt; &copy;2 &#x41;&#66; &unknown; &amp", "<p> ©2 AB &unknown; &"},
		{"invisible characters", "a\u200bb\ufeffc\u00a0\u3000d\u2028e", "abc d e"},
		{"control characters", "a\x00b\x01c\x7fd", "abcd"},
		{"pre", "<pre>a\n  b</pre>", "a b"},
		{"xmp and textarea", "<xmp><b>a</xmp><textarea><i>b</textarea>", "<b>a\n<i>b"},
		{"noscript in the body", "<p>a<noscript>b</noscript>", "ab"},
		{"noframes", "<frameset><frame src=x></frameset><noframes><body>old</body></noframes>", "old"},
		{"head without end", "<title>t</title><meta name=x content=y>text", "text"},
		{"svg closed in its tag", "a<svg/>b", "ab"},
		{"svg without end", "a<svg><text>b</text><p>c", "a\nc"},
		{"select without end", "<select><option>a<p>b", "b"},
		{"title in a picture", "<svg><title>no</title></svg>yes", "yes"},
		{"formula", "<math><mi>x</mi></math>", "x"},
		{"inline blocks", "<span>a</span><div>b</div>c", "a\nb\nc"},
	} {
		p, err := Parse([]byte(c.in), ParseOptions{})
		if err != nil || p.Text != c.want {
			t.Errorf("%s: %q gives %q, %v; want %q", c.name, c.in, p.Text, err, c.want)
		}
	}
}

func TestHeadings(t *testing.T) {
	for in, want := range map[string]string{
		"<h1>a <b>b</b></h1><h4>no</h4><h3>c<br>d</h3>": "a b\nc d",
		"<h1>a<p>b<h2>c<hr>d":                           "a\nc",
		"<h1>a<h2>b</h1>c":                              "a\nb",
		"<h1></h1><h2><img alt=x></h2>":                 "",
	} {
		if p := parseText(t, in); p.Headings != want {
			t.Errorf("%q gives headings %q, want %q", in, p.Headings, want)
		}
	}
}

func TestPlainText(t *testing.T) {
	p, err := Parse([]byte("a <b>\nc\n\n  d\r\n"), ParseOptions{URL: "http://h.test/", ContentType: "text/plain"})
	if err != nil || p.Text != "a <b> c\nd" || len(p.Links) != 0 || p.Title != "" {
		t.Errorf("plain text gives %+v, %v", p, err)
	}
	if _, err := Parse(nil, ParseOptions{ContentType: "image/png"}); !errors.Is(err, ErrType) {
		t.Errorf("image: %v; want %v", err, ErrType)
	}
	if _, err := Parse(nil, ParseOptions{URL: "ftp://a/"}); !errors.Is(err, ErrScheme) {
		t.Errorf("ftp: %v; want %v", err, ErrScheme)
	}
	for _, media := range []string{"", "text/html", "TEXT/HTML; charset", "application/xhtml+xml; charset=utf-8", ";"} {
		if p, err := Parse([]byte("<p>x"), ParseOptions{ContentType: media}); err != nil || p.Text != "x" {
			t.Errorf("type %q gives %+v, %v", media, p, err)
		}
	}
}

// anchors returns "anchor [context]" for each link, with a star for navigation.
func anchors(p *Page) (out []string) {
	for _, l := range p.Links {
		s := l.Anchor + " [" + l.Context + "]"
		if l.Nav {
			s += "*"
		}
		out = append(out, s)
	}
	return out
}

func TestAnchorsAndNavigation(t *testing.T) {
	long := "one two three four five six seven eight nine ten eleven"
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"ten words a side", long + " <a href=x>link</a> " + long, []string{"link [two three four five six seven eight nine ten eleven one two three four five six seven eight nine ten]"}},
		{"context ends with the block", "<p>a<p>b <a href=x>link</a> c<p>d", []string{"link [b c]"}},
		{"link open at a link", "<a href=x>a <a href=y>b", []string{"a [b]", "b [a]"}},
		{"a name ends a link", "<a href=x>a <a name=y>b", []string{"a [b]"}},
		{"link around blocks", "<a href=x><h3>a</h3><p>b</p></a>c", []string{"a b []"}},
		{"image before title", "<a href=x title=t><img alt=i></a>", []string{"i []"}},
		{"title", "<a href=x title='t &amp; u'></a>", []string{"t & u []"}},
		{"image in text", "<p>see <a href=x><img alt=i></a> there", []string{"i [see there]"}},
		{"image alone under a heading", "<h2>Pictures</h2><div><a href=x><img alt=i></a></div><p>next", []string{"i [Pictures]"}},
		{"area", "<map><area href=x alt=place></map>", []string{"place []"}},
		{"menu by bars", "<p><a href=x>Home</a> | <a href=y>News</a> | <a href=z>Contact</a>", []string{"Home [| News | Contact]*", "News [Home | | Contact]*", "Contact [Home | News |]*"}},
		{"list by commas", "<p><a href=x>Iron</a>, <a href=y>Zinc</a>, <a href=z>Tin</a>", []string{"Iron [, Zinc, Tin]", "Zinc [Iron, , Tin]", "Tin [Iron, Zinc,]"}},
		{"links in prose", "<p>There is <a href=x>iron</a> in it and <a href=y>zinc</a> also, and <a href=z>tin</a>", nil},
		{"class", "<div class='left side-bar sidebar-left'><a href=x>a</a></div><a href=y>b</a>", []string{"a []*", "b []"}},
		{"class in capitals run together", "<div id=TopNav><div><a href=x>a</a></div></div>", []string{"a []*"}},
		{"class of something else", "<div class=has-sidebar><div class=entry-header><a href=x>a</a></div></div>", []string{"a []"}},
		{"role", "<div role=navigation><a href=x>a</a></div>", []string{"a []*"}},
		{"header of an article", "<article><header><a href=x>a</a></header></article><header><a href=y>b</a></header>", []string{"a []", "b []*"}},
		{"cell", "<table><tr><td class=menu><table><tr><td><a href=x>a</a></table><a href=y>b</a><td><a href=z>c</a></table>", []string{"a []*", "b [c]*", "c [b]"}},
		{"menu without end", "<div class=menu><a href=x>a</a><main><a href=y>b</a></main>", []string{"a []*", "b []"}},
		{"main by role", "<div class=menu><a href=x>a</a><div role=main><a href=y>b</a></div>", []string{"a []*", "b []"}},
	} {
		p, err := Parse([]byte(c.in), ParseOptions{URL: "http://h.test/"})
		if err != nil {
			t.Fatal(err)
		}
		if c.want == nil { // only check that nothing is navigation
			if slices.ContainsFunc(p.Links, func(l Link) bool { return l.Nav }) {
				t.Errorf("%s: %q gives %q", c.name, c.in, anchors(p))
			}
			continue
		}
		if got := anchors(p); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q gives\n %q, want\n %q", c.name, c.in, got, c.want)
		}
	}
}

func TestMeta(t *testing.T) {
	for _, c := range []struct {
		name, in, tag            string
		noIndex, noFollow, canon bool
		refresh                  string
		links                    int
	}{
		{name: "none", in: "<meta name=robots content=NONE>", noIndex: true, noFollow: true},
		{name: "header", tag: "noindex", noIndex: true},
		{name: "header for another robot", tag: "otherbot: noindex, nofollow\nfossick: nofollow", noFollow: true},
		{name: "header with a date", tag: "unavailable_after: 25 Jun 2010 15:00:00 PST\nnofollow", noFollow: true},
		{name: "refresh at once", in: "<meta http-equiv=Refresh content=\"0; URL='/new'\">", refresh: "http://h.test/new", links: 1},
		{name: "refresh without url=", in: "<meta http-equiv=refresh content='0;/new'>", refresh: "http://h.test/new", links: 1},
		{name: "refresh later", in: "<meta http-equiv=refresh content='10;url=/new'>", links: 1},
		{name: "reload", in: "<meta http-equiv=refresh content=5>"},
		{name: "reload of itself", in: "<meta http-equiv=refresh content='0;url=http://h.test/'>", links: 1},
		{name: "refresh without scripts", in: "<noscript><meta http-equiv=refresh content='0;url=/new'></noscript>", links: 1},
		{name: "feeds and icons", in: "<link rel=alternate type=application/rss+xml href=f><link rel=icon href=i><link rel='alternate stylesheet' href=s>"},
		{name: "translation", in: "<link rel=alternate hreflang=ko href=/ko>", links: 1},
		{name: "counter in noscript", in: "<p>a<noscript><iframe src=//count.test/></iframe></noscript>"},
		{name: "second base does not count", in: "<base href=http://b.test/x/><base href=http://c.test/><a href=y>", links: 1},
	} {
		p, err := Parse([]byte(c.in), ParseOptions{URL: "http://h.test/", RobotsTag: c.tag})
		if err != nil {
			t.Fatal(err)
		}
		if p.NoIndex != c.noIndex || p.NoFollow != c.noFollow || p.Refresh != c.refresh || len(p.Links) != c.links {
			t.Errorf("%s: %+v", c.name, p)
		}
		if strings.Contains(c.in, "b.test") && p.Links[0].URL != "http://b.test/x/y" {
			t.Errorf("%s: %+v", c.name, p.Links)
		}
	}
}

func TestLimits(t *testing.T) {
	p, err := Parse([]byte(strings.Repeat("<a href=x>wörd</a> ", 300_000)), ParseOptions{URL: "http://h.test/"})
	if err != nil {
		t.Fatal(err)
	}
	checkPage(t, p)
	if len(p.Links) != maxLinks || p.Skipped != 290_000 || len(p.Text) < maxTextBytes-8 {
		t.Errorf("%d links, %d skipped, %d bytes of text", len(p.Links), p.Skipped, len(p.Text))
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("<html lang=de><title>a</title><p>b <a href=c>d</a> e<table><td class=menu><a href=//f>g</table>"), "text/html")
	f.Add([]byte("<svg><a xlink:href=x>y</a></svg><noscript><meta http-equiv=refresh content='0;url=z'></noscript>"), "")
	f.Add([]byte("\xff\xfe<\x00p\x00>\x00"), "text/html")
	f.Add([]byte("plain\n\ntext \xe9"), "text/plain; charset=latin1")
	f.Add([]byte("\x1b$B$3$l\x1b(B <meta charset=iso-2022-jp>"), "text/html")
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		before := string(body)
		p, err := Parse(body, ParseOptions{URL: "http://h.test/a/b?c", ContentType: contentType})
		if string(body) != before {
			t.Fatal("Parse changed its input")
		}
		if err != nil {
			return
		}
		checkPage(t, p)
		again, err := Parse(body, ParseOptions{URL: "http://h.test/a/b?c", ContentType: contentType})
		if err != nil || again.Checksum != p.Checksum || again.Sketch != p.Sketch || len(again.Links) != len(p.Links) {
			t.Fatalf("parsed twice: %+v, %+v, %v", p, again, err)
		}
	})
}

// TestLinkKinds counts frames, anchors and others, including URLs in scripts, with repeats.
func TestLinkKinds(t *testing.T) {
	for html, want := range map[string][]int{
		"<p>nothing":                               nil,
		"<script src=/x.js></script>":              {0, 0, 1},
		"<script>location.href = '/next'</script>": {0, 0, 1},
		"<script>if (location == '/x') document.location.replace(\"y.html\")</script>":                                                       {0, 0, 1},
		"<script>var a = 'http://b.test/x', b = 'https:\\/\\/c.test', c = 'http'</script>":                                                   {0, 0, 2},
		"<script type=module>window.open('y.html'); open(''); x.open('/GET')</script>":                                                       {0, 0, 1},
		"<script>document.write('<a href=\\'z.html\\'>', \"<frame src='w.html'>\")</script>":                                                 {0, 0, 2},
		"<script>geolocation = '/x'; a.href = '#top'; b.href = 'mailto:x@y.test'; src = 'x'</script>":                                        nil,
		"<script type='application/ld+json'>{\"@context\": \"https://schema.org\"}</script><script type=text/html>'http://x.test/'</script>": nil,
		"<template><script src=/x.js></script><a onclick=\"location='/p'\"></a></template>":                                                  nil,
		"<a href=\"javascript:window.open('p.html')\">p</a><td ONCLICK=\"location='q.html'\">q<p class=on>":                                  {0, 0, 2},
		"<a href=/a onclick=\"open('/a')\">a</a>":                                                                                            {0, 1, 1},
		"<a href=/a>a</a><a href=/a>a</a><area href=/b>":                                                                                     {0, 3, 0},
		"<frameset><frame src=/f><frame src=/g></frameset><link rel=next href=/n><a href=/a>a</a>":                                           {2, 1, 1},
	} {
		p, err := Parse([]byte(html), ParseOptions{URL: "http://a.test/", ContentType: "text/html"})
		if err != nil || !slices.Equal(p.LinkKinds(), want) {
			t.Errorf("%s: %v, %v; want %v", html, p.LinkKinds(), err, want)
		}
	}
}

// TestUnseen counts bytes that are neither text nor title, as UTF-8 also for other encodings.
func TestUnseen(t *testing.T) {
	for _, c := range []struct {
		html, contentType string
		want              int
	}{
		{"", "text/html", 0},
		{"one two", "text/plain", 0},
		{"<title>ab</title><p>one  &lt;\n<script>two</script>", "text/html", len("<title></title><p> &lt;\n<script>two</script>") - len("<")},
		{"<p>\xe9\xe9", "text/html; charset=iso-8859-1", len("<p>")},
	} {
		p, err := Parse([]byte(c.html), ParseOptions{ContentType: c.contentType})
		if err != nil || p.Unseen != c.want {
			t.Errorf("%q: %d, %v; want %d", c.html, p.Unseen, err, c.want)
		}
	}
}

// FuzzRobotsTag: after any lines, only one for all robots counts, and nothing is revoked.
func FuzzRobotsTag(f *testing.F) {
	for _, seed := range []string{"noindex", "otherbot: noindex\nnofollow", "fossick: none", "unavailable_after: 25 Jun 2010 15:00:00 PST", "max-snippet:5, noindex", "a,b: c", ":\n:", "noindex: x"} {
		f.Add(seed)
	}
	read := func(lines string) (p Page) {
		p.robotsHeader(lines)
		return p
	}
	f.Fuzz(func(t *testing.T, lines string) {
		was := read(lines)
		other := read(lines + "\nsomeoneelse: none")
		if other.NoIndex != was.NoIndex || other.NoFollow != was.NoFollow {
			t.Errorf("%q: a line for another robot changed %+v into %+v", lines, was, other)
		}
		ours := read(lines + "\nfossick: noindex\nnofollow")
		if !ours.NoIndex || !ours.NoFollow {
			t.Errorf("%q: our own lines behind it do not count", lines)
		}
		if upper := read(strings.ToUpper(lines)); isASCII([]byte(lines)) && (upper.NoIndex != was.NoIndex || upper.NoFollow != was.NoFollow) {
			t.Errorf("%q: in capitals it means something else", lines)
		}
	})
}

// TestBase: which links a <base> applies to (HTML standard, "document base URL").
func TestBase(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"before the base":          {"<a href=x></a><base href=http://b.test/y/>", "http://b.test/y/x"},
		"before and behind":        {"<a href=x></a><base href=/y/><a href=z></a>", "http://h.test/y/x http://h.test/y/z"},
		"the first counts":         {"<base href=http://b.test/><base href=http://c.test/><a href=x>", "http://b.test/x"},
		"the first is invalid":     {"<base href=http://[><base href=http://c.test/><a href=x>", "http://h.test/d/x"},
		"the first is a script":    {"<base href=javascript:x><base href=http://c.test/><a href=x>", "http://h.test/d/x"},
		"the first has no href":    {"<base target=_top><base href=http://c.test/><a href=x>", "http://c.test/x"},
		"in a picture":             {"<svg><base href=http://b.test/></svg><a href=x>", "http://h.test/d/x"},
		"in a template":            {"<template><base href=http://b.test/></template><a href=x>", "http://h.test/d/x"},
		"in a script":              {"<script>'<base href=http://b.test/>'</script><a href=x>", "http://h.test/d/x"},
		"in a comment":             {"<!--<base href=http://b.test/>--><a href=x>", "http://h.test/d/x"},
		"relative":                 {"<base href=../e/><a href=x>", "http://h.test/e/x"},
		"relative, behind another": {"<base href=e/><base href=f/><a href=x>", "http://h.test/d/e/x"},
		"a fragment before a base": {"<a href=#x></a><a href=x></a><base href=/e/>", "http://h.test/e/x"},
		"behind a canonical":       {"<link rel=canonical href=c><base href=/e/><a href=x>", "http://h.test/e/x"},
	} {
		p, err := Parse([]byte(c.in), ParseOptions{URL: "http://h.test/d/"})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range p.Links {
			got = append(got, l.URL)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s\ngot  %s\nwant %s", name, c.in, got, c.want)
		}
		if strings.Contains(c.in, "canonical") && p.Canonical != "http://h.test/e/c" {
			t.Errorf("%s: canonical %s", name, p.Canonical)
		}
	}
}

// TestParseRefresh: the HTML standard's shared declarative refresh steps.
func TestParseRefresh(t *testing.T) {
	for _, c := range []struct {
		in, target string
		seconds    int
		bad        bool
	}{
		{in: "1", seconds: 1}, {in: "1 ", seconds: 1}, {in: "1;", seconds: 1}, {in: "1,", seconds: 1}, {in: "1; url", seconds: 1, target: "url"},
		{in: "1;url=x", seconds: 1, target: "x"}, {in: "1,url=x", seconds: 1, target: "x"}, {in: "1 url=x", seconds: 1, target: "x"}, {in: "1 x", seconds: 1, target: "x"},
		{in: " \t1 ; \n URL \f = \r x", seconds: 1, target: "x"}, {in: "1;;url=x", seconds: 1, target: ";url=x"},
		{in: "1;url=x;y=z", seconds: 1, target: "x;y=z"}, {in: "1;x;y", seconds: 1, target: "x;y"}, {in: "1; url=x, y", seconds: 1, target: "x, y"},
		{in: "1;url='x'y", seconds: 1, target: "x"}, {in: `1;url="x`, seconds: 1, target: "x"}, {in: "1;'x'", seconds: 1, target: "x"}, {in: "1;url='x\"y'", seconds: 1, target: `x"y`},
		{in: "1;urlx", seconds: 1, target: "urlx"}, {in: "1;url x", seconds: 1, target: "url x"}, {in: "1;url=url=x", seconds: 1, target: "url=x"},
		{in: "0.9;x", target: "x"}, {in: ".5;x", target: "x"}, {in: "1.5.7;x", seconds: 1, target: "x"}, {in: ".", target: ""},
		{in: "99999999999999999999;x", seconds: 999999999, target: "x"},
		{in: "", bad: true}, {in: "x", bad: true}, {in: ";x", bad: true}, {in: "+0;x", bad: true}, {in: "-1;x", bad: true}, {in: "1e0;x", bad: true},
		{in: "1x", bad: true}, {in: "1:x", bad: true}, {in: "0x1;x", bad: true}, {in: "\v1;x", bad: true},
	} {
		seconds, target, ok := parseRefresh([]byte(c.in))
		if ok == c.bad || seconds != c.seconds || string(target) != c.target {
			t.Errorf("%q: %d s, %q, %v; want %d s, %q, %v", c.in, seconds, target, ok, c.seconds, c.target, !c.bad)
		}
	}
	p, err := Parse([]byte(`<meta http-equiv=refresh content=x><meta http-equiv=refresh content="0;/1"><meta http-equiv=refresh content="0;/2">`), ParseOptions{URL: "http://h.test/"})
	if err != nil || p.Refresh != "http://h.test/1" {
		t.Errorf("of several: %s, %v; want the first that can be read", p.Refresh, err)
	}
}

// TestShown: text and links that browsers show without scripts, and those they hide.
func TestShown(t *testing.T) {
	for name, c := range map[string]struct {
		in, text string
		links    int
	}{
		"an open shadow root":      {"<x-y><template shadowrootmode=open><p>in <a href=1>it</a></template>light</x-y>", "in it\nlight", 1},
		"a closed shadow root":     {"<x-y><template shadowrootmode=CLOSED>in</template></x-y>", "in", 0},
		"a template in one":        {"<x-y><template shadowrootmode=open>in<template>not</template> it</template></x-y>", "in it", 0},
		"one in a template":        {"<template><x-y><template shadowrootmode=open>not</template></x-y> not</template>yes", "yes", 0},
		"another word":             {"<template shadowrootmode=x>not <a href=1>it</a></template>yes", "yes", 0},
		"a template":               {"<template>not <a href=1>it</a></template>yes", "yes", 0},
		"a picture":                {"a<svg><text>not</text></svg>b", "ab", 0},
		"a picture not closed":     {"<table><tr><td><svg><td>yes</table>", "yes", 0},
		"closed by a row":          {"<table><tr><td><svg></tr><tr><td>yes</table>", "yes", 0},
		"closed by a cell's end":   {"<table><tr><td><svg></td> yes</table>", "yes", 0},
		"closed by a word in bold": {"<p><svg><b>yes</b> it is", "yes it is", 0},
		"closed by a block's end":  {"<div><svg></div>yes", "yes", 0},
		"a choice":                 {"a<select><option>not<optgroup><option>not</select>b", "a\nb", 0},
		"a choice not closed":      {"<table><tr><td><select><option>not<td>yes</table>", "yes", 0},
		"a list of proposals":      {"<table><tr><td><datalist><option>not<td>yes</table>", "yes", 0},
		"a template in a table":    {"<table><tr><template><td>not</td></template><td>yes</table>", "yes", 0},
	} {
		p, err := Parse([]byte(c.in), ParseOptions{URL: "http://h.test/"})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(p.Text); got != c.text || len(p.Links) != c.links {
			t.Errorf("%s: %s\ngot  %q, %d links\nwant %q, %d", name, c.in, got, len(p.Links), c.text, c.links)
		}
	}
}

// shells are start pages from the frameworks' own templates, shortened.
var shells = map[string]string{
	"React (create-react-app)": `<!doctype html><html lang="en"><head><meta charset="utf-8"><link rel="icon" href="/favicon.ico"><meta name="description" content="Web site created using create-react-app">
		<title>React App</title><script defer="defer" src="/static/js/main.5f2c.js"></script><link href="/static/css/main.css" rel="stylesheet"></head>
		<body><noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div></body></html>`,
	"React (Vite), a bundle of another host": `<!doctype html><html><head><title>Vite + React</title><script type="module" crossorigin src="https://cdn.test/assets/index-4sd.js"></script></head><body><div id="root"></div></body></html>`,
	"Vue (CLI)": `<!DOCTYPE html><html lang=""><head><title>my-app</title><script defer src="/js/chunk-vendors.js"></script><script defer src="/js/app.js"></script></head>
		<body><noscript><strong>We're sorry but my-app doesn't work properly without JavaScript enabled. Please enable it to continue.</strong></noscript><div id="app"></div></body></html>`,
	"Vue, with a splash":         `<title>Shop</title><body><div id=app><div class=splash><img src=/logo.png alt=""><p>Loading…</p></div></div><script type=module src=/a.js></script>`,
	"Angular":                    `<!doctype html><html><head><title>Demo</title><base href="/"></head><body class="mat-typography"><app-root></app-root><script src="polyfills.js" type="module"></script><script src="main.js" type="module"></script></body></html>`,
	"Angular, a word of waiting": `<title>Demo</title><body><app-root>Loading...</app-root><script src="main.js" type="module"></script>`,
	"Next without SSR": `<!DOCTYPE html><html><head><title>Home</title><noscript data-n-css=""></noscript><script defer="" nomodule="" src="/_next/static/chunks/polyfills.js"></script><script src="/_next/static/chunks/main.js" defer=""></script></head>
		<body><div id="__next"></div><script id="__NEXT_DATA__" type="application/json">{"props":{"pageProps":{"text":"a gold mine"}},"page":"/","nextExport":true}</script></body></html>`,
	"Nuxt, ssr: false":  `<!DOCTYPE html><html><head><title></title><link rel="modulepreload" href="/_nuxt/entry.js"></head><body><div id="__nuxt"></div><div id="teleports"></div><script>window.__NUXT__={};window.__NUXT__.config={public:{},app:{baseURL:"/"}}</script><script type="module" src="/_nuxt/entry.js"></script></body></html>`,
	"Svelte (template)": `<!DOCTYPE html><html lang="en"><head><meta charset='utf-8'><title>Svelte app</title><link rel='stylesheet' href='/global.css'><script defer src='/build/bundle.js'></script></head><body></body></html>`,
	"SvelteKit, ssr off": `<!doctype html><html><body data-sveltekit-preload-data="hover"><div style="display: contents"><script>{ __sveltekit_1 = { base: "" }; const element = document.currentScript.parentElement;
		Promise.all([import("/_app/start.js"), import("/_app/app.js")]).then(([kit, app]) => { kit.start(app, element); }); </script></div><script src=/_app/start.js type=module></script></body></html>`,
	"Gatsby":                  `<!DOCTYPE html><html><head><title>Site</title></head><body><noscript>This app works best with JavaScript enabled.</noscript><div id="___gatsby"></div><script src="/app.js"></script></body></html>`,
	"Ember":                   `<!DOCTYPE html><html><head><title>Super Rentals</title><meta name="super-rentals/config/environment" content="%7B%22modulePrefix%22%7D"></head><body><script src="/assets/vendor.js"></script><script src="/assets/super-rentals.js"></script><div id="ember-basic-dropdown-wormhole"></div></body></html>`,
	"document.write":          `<html><head><title>Mine</title></head><body><script>document.write("<h1>Gold</h1><p>All of it is written by script.</p>")</script></body></html>`,
	"a long inline script":    `<html><body><script>` + strings.Repeat("render(document.body,{gold:1});", 40) + `</script></body></html>`,
	"a footer below":          `<body><div id=app></div><footer>© 2024 Gold Mines <a href=/imprint>Imprint</a></footer><script src=/a.js></script>`,
	"a place of its own name": `<body><noscript>Please enable JavaScript.</noscript><div class=c>Please wait</div><script src="https://cdn.test/a.js"></script>`,
	"a counter of visits":     `<title>x</title><body><noscript><iframe src="https://www.googletagmanager.test/ns.html?id=GTM-1" height=0></iframe></noscript><div id=root></div><script src=/a.js></script>`,
}

var noShells = map[string]string{
	"It works":                          `<html><body><h1>It works!</h1></body></html>`,
	"It works, and counts":              `<html><body><h1>It works!</h1><script>var _gaq=[];document.write('<script src="http://ga.test/ga.js"><\/script>')</script><script src=/count.js></script></body></html>`,
	"404":                               `<title>404</title><body><div id=app><h1>404</h1><p>This page is gone.</p></div><script src=/a.js></script><noscript>Enable JavaScript</noscript>`,
	"title and links":                   `<title>Mines</title><body><div id=root></div><a href=/a>A</a> <a href=/b>B</a> <a href=/c>C</a><script src=/a.js></script>`,
	"refresh":                           `<meta http-equiv=refresh content="0; url=/home"><script src=/a.js></script><body></body>`,
	"redirect by script":                `<html><head><script>window.location.href="/home/"</script></head><body></body></html>`,
	"redirect by script, and noscript":  `<script>location.replace("/home/")</script><noscript>Without JavaScript go <a href=/home/>home</a></noscript>`,
	"an image":                          `<html><body><img src=map.gif alt=""><script src=/menu.js></script></body></html>`,
	"images in an application's place":  `<body><div id=app><img src=1.jpg><img src=2.jpg></div><script src=/a.js></script>`,
	"a frameset":                        `<html><head><title>Mines</title><script src=/top.js></script></head><frameset cols="20%,80%"><frame src=menu.html><frame src=main.html></frameset></html>`,
	"a frame":                           `<body><div id=root></div><iframe src=/main.html></iframe><script src=/a.js></script>`,
	"a form":                            `<title>Log in</title><body><div id=app><form action=/login><input name=u><input name=p type=password></form></div><script src=/a.js></script>`,
	"rendered by the server":            `<body><div id="__next"><h1>Gold mines</h1><p>` + strings.Repeat("There is gold in the hills. ", 9) + `</p></div><script src=/_next/main.js></script>`,
	"rendered by the server, few words": `<body><div id="root"><p>Open on Mondays.</p></div><script src=/main.js></script>`,
	"a page for readers without scripts": `<body><div id=app></div><noscript>` + strings.Repeat("There is gold in the hills. ", 15) +
		`</noscript><script src=/a.js></script>`,
	"empty":                         `<html><head><title>x</title></head><body></body></html>`,
	"empty, a counter":              `<html><body><script async src="https://www.counter.test/gtag/js?id=G-1"></script><script>gtag('js', new Date())</script></body></html>`,
	"data alone":                    `<html><body><div id=root></div><script type="application/ld+json">{"name":"gold"}</script></body></html>`,
	"no text, but in a foreign one": `<body><div id=app>金の鉱山</div><script src=/a.js></script>`,
	"a video":                       `<body><div id=app></div><video src=/v.mp4></video><script src=/a.js></script>`,
	"an application's place that was never closed": `<body><div id=root><p>Gold<script src=/a.js></script>`,
}

func TestScriptOnly(t *testing.T) {
	is := func(body, contentType string) bool {
		p, err := Parse([]byte(body), ParseOptions{URL: "http://a.test/", ContentType: contentType})
		if err != nil {
			t.Fatal(err)
		}
		return p.ScriptOnly
	}
	for name, body := range shells {
		if !is(body, "text/html; charset=utf-8") {
			t.Errorf("%s: not taken for made by script:\n%s", name, body)
		}
		if is(body, "text/plain") {
			t.Errorf("%s: plain text is taken for made by script", name)
		}
		for _, also := range []string{"<p>" + strings.Repeat("gold ", 30) + "</p>", "<frameset><frame src=/x></frameset>", "<img src=1><img src=2>",
			"<form></form>", `<a href=/1>1</a><a href=/2>2</a><a href=/3>3</a>`} {
			if is(body+also, "text/html") {
				t.Errorf("%s, with %s behind: taken for made by script", name, cut(also, 40))
			}
		}
	}
	for name, body := range noShells {
		if is(body, "text/html; charset=utf-8") {
			t.Errorf("%s: taken for made by script:\n%s", name, body)
		}
	}
}

// TestScriptOnlyStops: the second reading of a page calls Stop as often as the first.
func TestScriptOnlyStops(t *testing.T) {
	body := "<body><div id=root></div><script src=/a.js></script>" + strings.Repeat("<i>", 10_000)
	over := errors.New("over")
	ask := func(body string, last int) (asked int, err error) {
		_, err = Parse([]byte(body), ParseOptions{Stop: func() error {
			if asked++; asked == last {
				return over
			}
			return nil
		}})
		return asked, err
	}
	once, _ := ask(strings.Repeat("gold ", 30)+body, 0)
	twice, _ := ask(body, 0)
	if twice < 2*once-5 {
		t.Errorf("asked %d times, and %d where there is no second look", twice, once)
	}
	if _, err := ask(body, twice); err != over {
		t.Errorf("stopped at the last question: %v", err)
	}
}

// TestScriptOnlyOfCorpora: the corpora have three shells, checked by hand, and no page without text
// has data that is prose. FOSSICK_COMPARE=1 reads all corpora.
func TestScriptOnlyOfCorpora(t *testing.T) {
	testkit.Only(t, "parses 53,000 pages; TestScriptOnly has the rules")
	want := map[string][]string{"uci_ics": {"http://tippersweb.ics.uci.edu/",
		"https://asterix-gerrit.ics.uci.edu/#/q/author:taewoo+status:merged", "https://www.ics.uci.edu/~avinask1/"}}
	corpora := []string{"uci_ics"}
	if os.Getenv("FOSSICK_COMPARE") != "" {
		corpora = append(corpora, "webkb", "debdocs", "msdocs", "mdn")
	}
	for _, corpus := range corpora {
		pages, short := 0, 0
		var got []string
		corpusPages(t, corpus, func(c corpusPage) bool {
			if c.HTML == "" {
				return true
			}
			url := c.URL
			if !strings.HasPrefix(url, "http") { // file:
				c.URL = "http://a.test/"
			}
			p := c.parse(t)
			if pages++; len(p.Text) <= maxShellText {
				short++
			}
			if p.ScriptOnly {
				got = append(got, url)
			}
			if p.Island != "" {
				t.Errorf("%s: its text is from %s", url, p.Island)
			}
			return true
		})
		slices.Sort(got)
		if t.Logf("%s: %d pages of HTML, %d of them with at most %d bytes of text", corpus, pages, short, maxShellText); !slices.Equal(got, want[corpus]) {
			t.Errorf("%s: made by script are %q, want %q", corpus, got, want[corpus])
		}
	}
}
