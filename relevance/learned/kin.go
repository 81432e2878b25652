package learned

import "math"

// kin says how near a page's words are to those of the start pages, and corrects the
// judge by it: start pages are on topic because the user says so, and a judge that
// was trained on few pages of the topic does better with ten more (relevance
// feedback, Rocchio 1971).
//
// The likeness of a page is the sum over its words that several start pages have of
// their weight, by rarity in the crawl so far, over the root of its length. The judge
// says which likeness pages on topic and off topic have, each page counted with its
// probability; were both normal with one variance, then the log-likelihood ratio of
// a page would be
//
//	(x − (m₁ + m₀) / 2) · (m₁ − m₀) / s²
//
// and that is what is added to the judge's log-odds. Where likeness does not tell the
// two apart, m₁ is near m₀ and nothing is added.
type kin struct {
	starts  int
	pages   map[token]uint16 // start pages that have the word
	several [1 << 9]uint64   // bits of words that several have: nearly all that have none are not in pages
	on, off moments          // likeness of pages on topic and off
}

// moments sums up weighted numbers.
type moments struct{ weight, sum, square float64 }

func (m *moments) add(weight, x float64) {
	m.weight += weight
	m.sum += weight * x
	m.square += weight * x * x
}

func (m *moments) mean() float64 { return m.sum / m.weight }

// spread is the sum of the squares of the distances from the mean.
func (m *moments) spread() float64 { return max(0, m.square-m.sum*m.mean()) }

const (
	maxStarts = 100 // start pages whose words are taken in
	kinLeast  = 3   // pages on topic and off topic before likeness counts
	kinMost   = 3   // log-odds that it adds or takes away at most
	kinDoubt  = 20  // words that short pages are thought to have more
)

func newKin() kin { return kin{pages: map[token]uint16{}} }

// start takes in the words of a start page, each once.
func (k *kin) start(words []token) {
	if k.starts >= maxStarts {
		return
	}
	k.starts++
	for _, w := range words {
		if k.pages[w]++; k.pages[w] > 1 {
			k.several[w/64%(1<<9)] |= 1 << (w % 64)
		}
	}
	k.on, k.off = moments{}, moments{} // what was compared before was compared with less
}

// likeness returns how near words are to the start pages', 0 for not at all. rarity
// returns the weight of a word.
func (k *kin) likeness(words []token, rarity func(token) float64) float64 {
	sum := 0.0
	for _, w := range words {
		if k.several[w/64%(1<<9)]>>(w%64)&1 == 0 { // one page's own words say little of the topic
			continue
		}
		if n := k.pages[w]; n > 1 {
			sum += float64(n-1) * rarity(w)
		}
	}
	return sum / math.Sqrt(float64(len(words)+kinDoubt))
}

// shift takes in a page's likeness and returns what it adds to the judge's log-odds.
func (k *kin) shift(likeness, probability float64) float64 {
	k.on.add(probability, likeness)
	k.off.add(1-probability, likeness)
	if min(k.on.weight, k.off.weight) < kinLeast {
		return 0
	}
	apart := k.on.mean() - k.off.mean()
	variance := (k.on.spread() + k.off.spread()) / (k.on.weight + k.off.weight)
	if apart <= 0 || variance < 1e-9 {
		return 0
	}
	ratio := (likeness - (k.on.mean()+k.off.mean())/2) * apart / variance
	return max(-kinMost, min(kinMost, ratio))
}

// believe returns how far a page is taken to be on topic, for all that is learned
// from it: its probability, with the crawl's prior and corrected by the likeness to the
// start pages, unless it is one or a person has marked it, and by how much the latter is
// in log-odds. It does not change what the crawl says of the page.
func (l *Scorer) believe(key uint64, words []token, probability float64) (believed, shift float64) {
	if l.starts[key] {
		delete(l.starts, key)
		l.kin.start(words)
		return probability, 0
	}
	if _, marked := l.marks.said[key]; marked {
		return probability, 0
	}
	probability = inCrawl(probability, l.prior())
	if l.kin.starts == 0 {
		return probability, 0
	}
	pages := float64(l.all.pages)
	likeness := l.kin.likeness(words, func(w token) float64 {
		known := 0.0
		if r, met := l.vocabulary.words.find(w); met {
			known = float64(r.page.pages)
		}
		return math.Log((pages + 1) / (known + 1))
	})
	shift = l.kin.shift(likeness, probability)
	return corrected(probability, shift), shift
}

// Start says that the page with this page.Key, which ScorePage is called for next, is
// a start page.
func (l *Scorer) Start(key uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.starts[key] = true
}
