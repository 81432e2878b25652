package train

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	"fossick/models"
	"fossick/models/features"
)

// The domain's bounds (docs/classifiers.md). A page in a language without training pages is outside if it is
// less familiar than a quarter of the training pages' median; pages in other languages reach an eighth. A
// page in a known language must also be less familiar than all but unlikeShare of the training pages. A
// page has too few words if all but fewShare have more.
const (
	familiarPart = 4
	unlikeShare  = 0.01
	fewShare     = 0.02
)

// Upper limits of LeastWords and LeastTerms: more are always enough.
const (
	mostLeastWords = 8
	mostLeastTerms = 12
)

type common struct {
	models.Domain // without the least values
	familiar      []float32
	words         []uint16 // by page: how many of Domain.Words it has
}

// wordsOf counts the words of title and text in a row.
func wordsOf(lex *features.Lexicon, row features.Vector) int32 {
	var n float32
	for k, i := range row.Index {
		if features.IsWord(lex.Terms()[i]) {
			n += row.Value[k]
		}
	}
	return int32(n)
}

// common finds the words that occur on most pages, and how familiar each page is. It reads the rows once
// more, because not all words need stay in memory.
func (g *gatherer) common(ctx context.Context, number []int32) (*common, error) {
	terms, df := g.lossy.lex.Terms(), g.lossy.df
	var words []int
	for i, n := range number {
		if n >= 0 && features.IsWord(terms[i]) {
			words = append(words, i)
		}
	}
	slices.SortFunc(words, func(a, b int) int { return cmp.Or(cmp.Compare(df[b], df[a]), cmp.Compare(terms[a], terms[b])) })
	pages := g.rows.pages
	c := &common{familiar: make([]float32, pages), words: make([]uint16, pages)}
	place, _ := numbered(len(number), func(int) bool { return false })
	for n, i := range words[:min(len(words), models.DomainWords)] {
		place[i] = int32(n)
		c.Words, c.Shares = append(c.Words, terms[i]), append(c.Shares, min(1, float32(df[i])/float32(pages)))
	}
	for _, lang := range slices.Sorted(maps.Keys(g.langs)) {
		if lang != "" && float64(g.langs[lang]) >= unlikeShare*float64(pages) {
			c.Languages = append(c.Languages, lang)
		}
	}
	return c, g.each(ctx, place, func(p int, v features.Vector) error {
		var sum float64
		for k, n := range v.Index {
			sum += float64(v.Value[k]) * float64(c.Shares[n])
		}
		c.familiar[p] = float32(sum / float64(max(1, g.c.lengths[p].words)))
		c.words[p] = uint16(len(v.Index))
		return nil
	})
}

// domain returns what a page must have for m to judge it.
func (c *corpus) domain(f *fitted, m *models.Model, held *heldOut) *models.Domain {
	d := c.common.Domain
	sorted := slices.Sorted(slices.Values(c.common.familiar))
	d.LeastForeign = float64(sorted[len(sorted)/2] / familiarPart)
	gains, lost := c.gains(m, held)
	d.LeastFamiliar = float64(least(c.common.familiar, gains, lost, float32(d.LeastForeign), unlikeShare))
	d.LeastWords = 1
	if slices.Contains(c.classes, Other) && len(c.classes) == 2 { // with several classes a sentence may be enough
		d.LeastWords = max(1, int(least(c.common.words, gains, lost, mostLeastWords, fewShare)))
		d.LeastTerms = int(least(c.termsOf(f), gains, lost, mostLeastTerms, fewShare))
	}
	return &d
}

// termsOf returns how many of f's words each page has.
func (c *corpus) termsOf(f *fitted) []uint16 {
	word := make([]bool, len(c.terms))
	for i, t := range c.terms {
		word[i] = f.number[i] >= 0 && features.IsWord(t)
	}
	terms := make([]uint16, len(c.rows))
	for p, row := range c.rows {
		for _, i := range row.Index {
			if word[i] && terms[p] < math.MaxUint16 {
				terms[p]++
			}
		}
	}
	return terms
}

// gains returns what the model gains on each held-out page: 1 if it is right. For a topic against the rest it
// is less 1 if the prior is right. With several classes no right label may be lost, because a page that
// cannot be judged is on none of them (see classify): there the prior is no answer. lost is the total that
// may be lost: for a topic one per thousand pages.
func (c *corpus) gains(m *models.Model, held *heldOut) (gain []int, lost int) {
	gain = make([]int, len(c.y))
	prior, _ := m.Prior()
	judged, topical := 0, len(c.classes) == 2 && c.classes[prior] == Other
	for p, s := range held.scores {
		if s == nil {
			continue
		}
		judged++
		label := best(s)
		if topic := 1 - prior; topical {
			if label = prior; s[topic] >= m.Thresholds[topic] {
				label = topic
			}
		}
		if label == c.y[p] {
			gain[p]++
		}
		if topical && prior == c.y[p] {
			gain[p]--
		}
	}
	if topical {
		lost = judged / 1000
	}
	return gain, lost
}

// least returns how much of something a page must have: at most most, and at most what all but a share of
// the training pages have. The pages with less may have a total gain of at most lost.
func least[T uint16 | float32](has []T, gain []int, lost int, most T, share float64) T {
	order := upTo(len(has))
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(has[a], has[b]), cmp.Compare(a, b)) })
	most = min(most, has[order[int(share*float64(len(order)))]])
	var enough T
	sum := 0
	for n, p := range order {
		if has[p] >= most {
			if sum <= lost {
				enough = most
			}
			break
		}
		if sum <= lost && (n == 0 || has[order[n-1]] < has[p]) {
			enough = has[p]
		}
		sum += gain[p]
	}
	return enough
}
