package classify

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"fossick/models"
	"fossick/models/features"
)

// domain tests whether a model knows enough of a page; see models.Domain.
type domain struct {
	terms []string  // the model's, then the domain's other words
	own   int       // number of the model's own
	share []float32 // by term: share of the training pages that have it; nil without a domain
	word  []bool    // by term: it is a word of the text
	class int       // label of a page that the model cannot judge
	prior []float64 // its probabilities, each topic's below its threshold
	least models.Domain
	sure  bool // a page without the model's words can be judged, because rules also test for absence
}

func newDomain(m *models.Model) domain {
	d := domain{terms: m.Terms, own: len(m.Terms), sure: m.Tree != nil || m.Rules != nil || m.Vote != nil || m.Forest != nil}
	d.class, d.prior = m.Prior()
	for i, p := range d.prior { // a page that cannot be judged is not on topic
		if below := math.Nextafter(m.Thresholds[i], 0); p > below && m.Classes[i] != models.Other {
			d.prior[i] = below
			d.prior[d.class] += p - below
		}
	}
	if m.Domain == nil {
		return d
	}
	d.least = *m.Domain
	place := make(map[string]int, len(m.Terms))
	for i, t := range m.Terms {
		place[t] = i
	}
	d.terms = slices.Clip(d.terms)
	for _, w := range m.Domain.Words {
		if _, known := place[w]; !known {
			place[w] = len(d.terms)
			d.terms = append(d.terms, w)
		}
	}
	d.share, d.word = make([]float32, len(d.terms)), make([]bool, len(d.terms))
	for i, w := range m.Domain.Words {
		d.share[place[w]] = m.Domain.Shares[i]
	}
	for i, t := range d.terms {
		d.word[i] = features.IsWord(t)
	}
	return d
}

// unknown is what a page has too little of.
type unknown struct {
	all      float64 // words on the page
	words    int     // distinct common words
	terms    int     // distinct words of the model
	familiar float64
	least    float64 // least familiarity
	lang     string  // of the page, if no training page has it
	ahead    float64 // beyond the threshold, in log odds
	doubt    float64 // what ahead must reach; 0 if not tested
}

// unknown tests the counts of a page; strange is how many of its words are no terms. It returns nil if the
// model can tell. terms is how many of the model's words the page has, 0 without a domain.
func (d *domain) unknown(counts features.Vector, strange float64, lang string) (u *unknown, terms int) {
	if d.share == nil {
		if len(counts.Index) > 0 || d.sure {
			return nil, 0
		}
		return &unknown{all: strange}, 0
	}
	words, sum, all := 0, 0.0, strange
	for k, i := range counts.Index {
		if d.word[i] {
			n := float64(counts.Value[k])
			all += n
			if int(i) < d.own {
				terms++
			}
			if d.share[i] > 0 {
				words++
				sum += n * float64(d.share[i])
			}
		}
	}
	familiar := sum / math.Max(1, all)
	u = &unknown{all: all, words: words, terms: terms, familiar: familiar, least: d.least.LeastFamiliar}
	if lang != "" && len(d.least.Languages) > 0 && !slices.Contains(d.least.Languages, lang) {
		u.lang, u.least = lang, max(d.least.LeastForeign, d.least.LeastFamiliar)
	}
	if words >= d.least.LeastWords && terms >= d.least.LeastTerms && familiar >= u.least {
		return nil, terms
	}
	return u, terms
}

// known returns the counts of the model's own terms.
func (d *domain) known(counts features.Vector) features.Vector {
	if d.own == len(d.terms) {
		return counts
	}
	n := 0
	for k, i := range counts.Index {
		if int(i) < d.own {
			counts.Index[n], counts.Value[n] = i, counts.Value[k]
			n++
		}
	}
	return features.Vector{Index: counts.Index[:n], Value: counts.Value[:n]}
}

// fewTerms times LeastTerms known words are still few.
const fewTerms = 2

// doubt tests whether a linear model may take a page of few known words for its topic by chance. Each
// term's contribution counts as a draw of random sign: the margin beyond the threshold must reach the
// standard deviation of their sum.
func (c *Classifier) doubt(s *scratch, terms int) *unknown {
	m := c.model
	if m.Linear == nil || len(m.Classes) != 2 || m.Classes[c.class] != models.Other || terms >= fewTerms*c.least.LeastTerms {
		return nil
	}
	topic := 1 - c.class
	p, cut := s.probs[topic], m.Thresholds[topic]
	if p < min(cut, 0.5) {
		return nil
	}
	var squares float64
	for k, i := range s.terms.Index {
		said := float64(s.terms.Value[k]) * float64(m.Linear.Weights[2*int(i)+topic]-m.Linear.Weights[2*int(i)+c.class])
		squares += said * said
	}
	u := unknown{terms: terms, ahead: c.margin(s, topic) - logOdds(cut), doubt: m.Calibration.Scale * math.Sqrt(squares)}
	if u.ahead >= u.doubt {
		return nil
	}
	return &u
}

// margin returns a linear model's log odds of one of two classes, exact even where the probability is 1.
func (c *Classifier) margin(s *scratch, topic int) float64 {
	m := c.model
	if m.Calibration.Scale == 0 {
		return logOdds(s.probs[topic])
	}
	var scores [2]float64
	m.Linear.Scores(scores[:], s.terms)
	odds := m.Calibration.Scale * (scores[topic] - scores[1-topic])
	if m.Calibration.Offset != nil {
		odds += m.Calibration.Offset[topic] - m.Calibration.Offset[1-topic]
	}
	return odds
}

// logOdds returns the log odds of p, finite also for 0 and 1.
func logOdds(p float64) float64 {
	p = max(math.SmallestNonzeroFloat64, min(p, math.Nextafter(1, 0)))
	return math.Log(p) - math.Log1p(-p)
}

func (u *unknown) why(d *models.Domain) string {
	switch {
	case u.doubt > 0:
		return fmt.Sprintf("few known words, %d, so the label may be chance: log odds %.1f ± %.1f beyond the threshold's", u.terms, u.ahead, u.doubt)
	case u.lang != "" && u.familiar < u.least:
		return fmt.Sprintf("language %s, trained on %s", u.lang, strings.Join(d.Languages, ", "))
	case u.all == 0:
		return "no word"
	case u.words == 0 && u.terms == 0:
		return "no known word"
	case u.words < d.LeastWords:
		return fmt.Sprintf("too few common words, %d of %d", u.words, d.LeastWords)
	case u.terms < d.LeastTerms:
		return fmt.Sprintf("too few known words, %d of %d", u.terms, d.LeastTerms)
	}
	return fmt.Sprintf("words unlike those of the training pages, %.3f of %.3f", u.familiar, u.least)
}
