package learned

import (
	"math"
)

// startPages says how near a page's words are to those of the start pages, and
// corrects the judge by it. Start pages are on topic because the user says so.
// A judge that was trained on few pages of the topic does better with ten more
// (relevance feedback, Rocchio 1971).
//
// The similarity of a page is the sum of the weights of those of its words that
// several start pages have, over the root of its length. A weight goes by
// rarity in the crawl so far. The judge says which similarity pages on topic
// and off topic have, each page counted with its probability. Were both normal
// with one variance, then the log-likelihood ratio of a page would be
//
//	(x − (m₁ + m₀) / 2) · (m₁ − m₀) / s²
//
// and that is what is added to the judge's log-odds. Where similarity does not tell the
// two apart, m₁ is near m₀ and nothing is added.
type startPages struct {
	next    map[uint64]bool  // by page.Key, those that are scored next: whether the judge was trained on it
	pages   []startPage      // taken in
	having  map[token]uint16 // how many of them have the word
	on, off moments          // similarity of pages on topic and off
	heard   alike            // what others said of theirs, until as many start pages are taken in
}

// startPage is what is known of one that was scored.
type startPage struct {
	words   []token // each once
	judged  float64 // log-odds by the judge
	trained bool    // the judge was trained on it
}

// moments sums up weighted numbers.
type moments struct{ weight, sum, square float64 }

func (m *moments) add(weight, x float64) {
	m.weight += weight
	m.sum += weight * x
	m.square += weight * x * x
}

func (m *moments) plus(o moments) {
	m.weight += o.weight
	m.sum += o.sum
	m.square += o.square
}

func (m *moments) mean() float64 { return m.sum / m.weight }

// spread is the sum of the squares of the distances from the mean.
func (m *moments) spread() float64 { return max(0, m.square-m.sum*m.mean()) }

const (
	maxStarts    = 100 // start pages whose words are taken in
	similarLeast = 3   // pages on topic and off topic before similarity counts
	similarMost  = 3   // log-odds that it adds or takes away at most
	similarDoubt = 20  // words that short pages are thought to have more
)

func newStartPages() startPages {
	return startPages{next: map[uint64]bool{}, having: map[token]uint16{}}
}

// add takes in a start page.
func (s *startPages) add(p startPage) {
	if len(s.pages) >= maxStarts {
		return
	}
	s.pages = append(s.pages, p)
	for _, w := range p.words {
		s.having[w]++
	}
	s.on, s.off = moments{}, moments{} // what was compared before was compared with less
}

// similarity returns how near words are to the start pages', 0 for not at all. rarity
// returns the weight of a word.
func (s *startPages) similarity(words []token, rarity func(token) float64) float64 {
	if len(s.pages) < 2 { // one page's own words say little of the topic
		return 0
	}
	sum := 0.0
	for _, w := range words {
		if n := s.having[w]; n > 1 {
			sum += float64(n-1) * rarity(w)
		}
	}
	return sum / math.Sqrt(float64(len(words)+similarDoubt))
}

// shift takes in a page's similarity and returns what it adds to the judge's log-odds.
func (s *startPages) shift(similarity, probability float64) float64 {
	s.on.add(probability, similarity)
	s.off.add(1-probability, similarity)
	if min(s.on.weight, s.off.weight) < similarLeast {
		return 0
	}
	apart := s.on.mean() - s.off.mean()
	variance := (s.on.spread() + s.off.spread()) / (s.on.weight + s.off.weight)
	if apart <= 0 || variance < 1e-9 {
		return 0
	}
	ratio := (similarity - (s.on.mean()+s.off.mean())/2) * apart / variance
	return max(-similarMost, min(similarMost, ratio))
}
