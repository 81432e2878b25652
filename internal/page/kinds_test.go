package page

import (
	"slices"
	"testing"
)

// TestLinkKinds counts frames, anchors and others, URLs in scripts among them, repeated ones too.
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

// TestUnseen: what is neither text nor title nobody sees; of a page in another encoding its
// bytes as UTF-8 count.
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
