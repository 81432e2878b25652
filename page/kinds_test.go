package page

import (
	"slices"
	"testing"
)

// TestLinkKinds counts frames, anchors and others, repeated ones too.
func TestLinkKinds(t *testing.T) {
	for html, want := range map[string][]int{
		"<p>nothing": nil,
		"<a href=/a>a</a><a href=/a>a</a><area href=/b>":                                           {0, 3, 0},
		"<frameset><frame src=/f><frame src=/g></frameset><link rel=next href=/n><a href=/a>a</a>": {2, 1, 1},
	} {
		p, err := Parse([]byte(html), ParseOptions{URL: "http://a.test/", ContentType: "text/html"})
		if err != nil || !slices.Equal(p.LinkKinds(), want) {
			t.Errorf("%s: %v, %v; want %v", html, p.LinkKinds(), err, want)
		}
	}
}
