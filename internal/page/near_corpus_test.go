package page

import (
	"math/rand"
	"testing"

	"fossick/internal/fulltest"
)

// TestNearCorpora goes through whole corpora as a crawl does and counts the pages
// that are near-duplicates of an earlier one. With -v it prints thirty of the
// pairs at random, to be read; docs/duplicates.md says what reading found.
// The thresholds were chosen on debdocs alone.
func TestNearCorpora(t *testing.T) {
	fulltest.Only(t, "it reads whole corpora")
	for _, c := range []struct {
		corpus string
		near   int // pages, as last counted; a tenth more or less passes
	}{{"debdocs", 100}, {"wikispeedia", 10}, {"webkb", 20}, {"uci_ics", 5474}} {
		t.Run(c.corpus, func(t *testing.T) {
			if c.corpus != "webkb" {
				fulltest.Only(t, "reads a large corpus whole")
			}
			pages, exact, pairs := nearPairs(t, c.corpus)
			t.Logf("%d pages, %d repeat an earlier one to the word, %d (%.2f %%) nearly",
				pages, exact, len(pairs), 100*float64(len(pairs))/float64(pages))
			rand.New(rand.NewSource(1)).Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
			for _, p := range pairs[:min(30, len(pairs))] {
				t.Logf("%.3f %s %s", p.share, p.of, p.url)
			}
			if 10*len(pairs) < 9*c.near || 10*len(pairs) > 11*c.near {
				t.Errorf("%d near-duplicates, want about %d", len(pairs), c.near)
			}
		})
	}
}

type nearPair struct {
	of, url string
	share   float64
}

// nearPairs compares each page with those earlier ones whose signatures agree in
// one of five runs of six bytes, as the store's index would find them if it
// forgot nothing.
func nearPairs(t *testing.T, corpus string) (pages, exact int, pairs []nearPair) {
	type band struct {
		number int
		value  [6]byte
	}
	seen, index := map[Checksum]bool{}, map[band][]*Page{}
	corpusPages(t, corpus, func(c corpusPage) bool {
		if _, err := Normalize(c.URL); err != nil {
			return true // webkb has a few file: URLs
		}
		p := c.parse(t)
		pages++
		if seen[p.Checksum] {
			exact++
			return true
		}
		seen[p.Checksum] = true
		p.Links = nil
		var bands [5]band
		compared := map[*Page]bool{}
		for i := range bands {
			bands[i] = band{i, [6]byte(p.Signature[6*i:])}
			for _, q := range index[bands[i]] {
				if compared[q] || p.Signature.IsZero() || Estimate(&p.Signature, &q.Signature) < NearShare(p.URL, p.Title, q.URL, q.Title)-0.08 {
					continue
				}
				compared[q] = true
				if share, near := Near(p, q); near {
					pairs = append(pairs, nearPair{q.URL, p.URL, share})
					return true
				}
			}
		}
		if p.Signature.IsZero() {
			return true
		}
		for _, b := range bands {
			index[b] = append(index[b], p)
		}
		return true
	})
	return pages, exact, pairs
}
