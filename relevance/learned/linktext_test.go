package learned

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"fossick/page"
)

// TestLinkTexts: what links say is the same whether it is remembered or read, and what
// they say depends on their text, their URL and the page's language.
func TestLinkTexts(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	l := New(goldJudge, Options{Cut: 0.5})
	some := func(n int) string { return []string{"gold mine", "gold mines", "miner", "", "les mines"}[rng.IntN(n)] }
	for range 500 {
		p := &page.Page{URL: "http://p.test/", Lang: []string{"en", "fr", ""}[rng.IntN(3)]}
		for range rng.IntN(20) {
			p.Links = append(p.Links, page.Link{URL: fmt.Sprintf("http://t.test/%s/%d", some(2), rng.IntN(2)), Anchor: some(5)})
		}
		r, w := newWordReader(), new(linkWork)
		w.begin(p)
		l.texts.readTexts(w, p, slices.Repeat([]surroundings{{wanted: true}}, len(p.Links)))
		for i, got := range w.texts {
			if want := l.texts.read(r, &p.Links[i], p.Lang); got != want {
				t.Fatalf("link %+v on a page in %q says %+v, want %+v", p.Links[i], p.Lang, got, want)
			}
		}
	}
}
