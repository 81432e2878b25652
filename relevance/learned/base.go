package learned

// base is the crawl's base rate now: what lifts are above.
type base struct {
	all        record      // pages of the crawl; the rest is of what it was when it was moved to last
	mean, odds float64     // mean probability of the crawl's pages, and its log-odds
	taught     float32     // pages on topic that the vocabulary began with, see WarmStart
	background *Background // nil: not known
	atLarge    float64     // what all words' share is compared with, see Background
}

func newBase(background *Background, start *WarmStart) base {
	b := base{background: background, taught: start.worth()}
	b.move()
	return b
}

// move goes on to what the crawl's base rate is after one more page.
func (b *base) move() {
	b.mean = b.all.mean()
	b.odds = logit(b.mean)
	b.atLarge = atLarge(b.all.onTopic + b.taught)
}

// over is by how much more often words stand on the crawl's pages on topic than on
// pages at large, see Background; onTopic is the mean of the logarithms of their own
// part of it.
func (b *base) over(onTopic float64) float64 {
	if b.background == nil {
		return 0
	}
	return onTopic - b.atLarge
}
