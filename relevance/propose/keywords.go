package propose

import (
	"cmp"
	"slices"
	"strings"

	"fossick/models/features"
)

// Where nothing but keywords is given, the pages that have most of them stand
// in for examples (blind relevance feedback: Croft and Harper 1979; Rocchio
// 1971). So they do where there are fewer examples than that.
const standIns = 10

// phrase is a keyword as its stems.
type phrase []term

func phrases(keywords []string) (all []phrase) {
	tokens := features.NewTokens(features.AnalyzerOptions{}, termOf)
	for _, k := range keywords {
		if p := tokens.Append(nil, k, ""); len(p) > 0 {
			all = append(all, p)
		}
	}
	return all
}

// BM25's constants are the usual ones (Robertson and Zaragoza 2009). The mean length is
// not known before the source was read, so a usual one stands for it.
const (
	bm25K1     = 1.2
	bm25B      = 0.75
	usualWords = 400
)

// holds says how well a text holds the keywords: for each the saturated
// frequency of BM25, in [0,1). So a page with all of them goes before one with
// much of one. terms are the text's, in their order.
func holds(phrases []phrase, terms []term) (score float64) {
	norm := bm25K1 * (1 - bm25B + bm25B*float64(len(terms))/usualWords)
	for _, p := range phrases {
		n := 0.0
		for i := range terms {
			if len(terms)-i >= len(p) && slices.Equal(terms[i:i+len(p)], p) {
				n++
			}
		}
		score += n / (n + norm)
	}
	return score
}

// standIn is a page that may stand in for an example.
type standIn struct {
	score  float64
	counts vector
	doc    features.Doc // for the names of its words
}

// ranking keeps the pages that hold the keywords best.
type ranking struct{ best []standIn }

// add takes a page in if it is among the best; counts and doc are copied then.
func (r *ranking) add(score float64, counts vector, d features.Doc) {
	if score <= 0 || len(r.best) == standIns && score <= r.best[len(r.best)-1].score {
		return
	}
	d.Title, d.Text, d.URL = strings.Clone(d.Title), strings.Clone(head(d.Text)), ""
	if len(r.best) == standIns {
		r.best = r.best[:standIns-1]
	}
	r.best = append(r.best, standIn{score, slices.Clone(counts), d})
	slices.SortStableFunc(r.best, func(a, b standIn) int { return cmp.Compare(b.score, a.score) })
}
