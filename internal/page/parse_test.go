package page

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// checkPage fails unless p is what Parse promises of any page.
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

// TestFeeds: feeds are kept, each once and not too many of them, and are no links.
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
		p.Links[i].Around = Around{} // checkPage has looked at it
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

// anchors returns "anchor [context]" of each link, with a star on navigation.
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
		if c.want == nil { // only that nothing is navigation
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
