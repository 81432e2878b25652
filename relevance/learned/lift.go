package learned

import "math"

// doubt is how many pages of the base rate a record's pages are counted with.
const doubt = 2

// lift is how much more likely than base the record's next page is on topic, as a
// difference of log-odds; 0 where there is no page. odds is logit(base).
func (r *record) lift(base, odds float64) float64 {
	if r.pages == 0 {
		return 0
	}
	return math.Log(r.odds(base)) - odds
}

// odds is the odds that the record's next page is on topic.
func (r *record) odds(base float64) float64 {
	return (float64(r.onTopic) + doubt*base) / (float64(r.pages) - float64(r.onTopic) + doubt*(1-base))
}

// logSum is a sum of logarithms, taken as one of a product: scores are made of sums of
// lifts, and a logarithm takes longer than all else that a lift is made of.
type logSum struct{ product, sum float64 }

func newLogSum() logSum { return logSum{product: 1} }

// add adds the logarithm of x, a positive number between 1e-50 and 1e50.
func (s *logSum) add(x float64) {
	s.product *= x
	if s.product < 1e-200 || s.product > 1e200 {
		s.sum, s.product = s.value(), 1
	}
}

func (s *logSum) value() float64 { return s.sum + math.Log(s.product) }
