package web

import (
	"fmt"
	"iter"
	"strings"
	"testing"

	"fossick/datasets"
)

// many yields n pages in folders of one host.
func many(n int) iter.Seq2[*datasets.Example, error] {
	return func(yield func(*datasets.Example, error) bool) {
		for i := range n {
			e := &datasets.Example{URL: fmt.Sprintf("http://m.test/d%d/p%d", i%17, i), HTML: fmt.Sprint("<p>", i)}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// TestDisallow counts what robots.txt forbids by plain prefixes.
func TestDisallow(t *testing.T) {
	const n = 2000
	texts := map[string]bool{}
	for _, share := range []float64{0, 0.05, 0.3, 0.9} {
		for seed := range uint64(2) {
			opt := Options{Disallow: share, Seed: seed}
			_, _, client := start(t, opt, datasets.FromSeq("m", many(n), datasets.Options{}))
			_, robots := get(t, client, "http://m.test/robots.txt")
			_, _, client2 := start(t, opt, datasets.FromSeq("m", many(n), datasets.Options{}))
			if _, again := get(t, client2, "http://m.test/robots.txt"); again != robots {
				t.Errorf("share %v, seed %d: robots.txt differs from run to run", share, seed)
			}
			texts[robots] = true
			var rules []string
			for line := range strings.Lines(robots) {
				if rule, ok := strings.CutPrefix(strings.TrimSpace(line), "Disallow: "); ok {
					rules = append(rules, rule)
				}
			}
			got := 0
			for e := range many(n) {
				for _, rule := range rules {
					if strings.HasPrefix(strings.TrimPrefix(e.URL, "http://m.test"), rule) {
						got++
						break
					}
				}
			}
			if want := int(share * n); got != want {
				t.Errorf("share %v, seed %d: %d of %d pages disallowed, want %d", share, seed, got, n, want)
			}
		}
	}
	if len(texts) != 7 { // share 0 is the same for both seeds
		t.Errorf("%d different robots.txt, want 7: each share and seed its own", len(texts))
	}
}
