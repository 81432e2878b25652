package learned

import (
	"fossick/internal/page"
)

// A database has a million URLs, of which the first may be good and the rest not. What
// the next one brings shows in what the last ones brought. That is kept for the URLs of
// a pattern on a host, for the wider patterns that it is part of, and for the host.

// yield is what the last pages at URLs of a pattern brought, each counting less than the
// next (discounted Beta, as in Garivier and Moulines 2011).
type yield struct {
	wider *yield // nil: the crawl
	last  record
}

const (
	// yieldFades is what a page counts after one more: the last fifty count.
	yieldFades = 0.98
	// yieldDoubt is as how many pages the wider pattern counts.
	yieldDoubt = 2
)

// add takes in what a page brought.
func (y *yield) add(worth float64) {
	for ; y != nil; y = y.wider {
		y.last.pages *= yieldFades
		y.last.onTopic *= yieldFades
		y.last.add(worth)
	}
}

// next is what the next page is expected to bring: the pattern's last pages count, with
// the next wider pattern as what is known before there are any. base is the crawl's.
func (y *yield) next(base float64) float64 {
	if y == nil {
		return base
	}
	before := base
	if y.wider != nil {
		before = y.wider.next(base)
	}
	return (float64(y.last.onTopic) + yieldDoubt*before) / (float64(y.last.pages) + yieldDoubt)
}

// lift is what the next page is expected to bring above the crawl's base rate, as a
// difference of log-odds; odds is logit(base).
func (y *yield) lift(base, odds float64) float64 {
	if y == nil {
		return 0
	}
	return logit(inside(y.next(base))) - odds
}

// yields has what is known of patterns.
type yields struct {
	patterns page.Recent[*yield]  // by page.Key of host and pattern
	said     page.Recent[*echoes] // by page.Key of host and pattern, without the names of queries
}

func newYields(limit int) yields {
	return yields{patterns: page.NewRecent[*yield](limit), said: page.NewRecent[*echoes](limit / 4)}
}

// of returns the yield of a URL's pattern.
func (y *yields) of(url string) *yield { return y.named(page.Host(url), page.Pattern(url)) }

func (y *yields) named(host, pattern string) *yield {
	key := page.Key(host + pattern)
	v, ok := y.patterns.Get(key)
	if !ok {
		v = &yield{}
		y.patterns.Put(key, v)
		if pattern != "" {
			v.wider = y.named(host, page.WiderPattern(pattern))
		}
	}
	return v
}

// echoes are the last pages on topic at URLs of a pattern, by which it is known whether
// the next one says something new.
type echoes struct {
	last []page.Signature
	next int
}

const (
	// isEcho is how far a page repeats others that earns its pattern nothing.
	isEcho = 0.5
	// maxEchoes is how many pages of a pattern the next one is compared with.
	maxEchoes = 16
	// echoFrom is the probability from which on it matters whether a page is new.
	echoFrom = 0.1
	// A page is as good as new when allNew of its runs of three words are, as pages of a
	// site share phrases; with hardlyNew it says nothing new.
	allNew    = 0.5
	hardlyNew = 0.1
)

// echo is how far a page says what the last ones of its pattern said, in [0,1]. It is 0
// where so many of its runs of three words are new to the most like of them as make a page
// new. Of two texts of one length that resemble each other by J (page.Estimate) the share
// of these is (1−J)/(1+J).
func (y *yields) echo(p *page.Page, probability float64) float64 {
	if probability < echoFrom || p.Signature.IsZero() {
		return 0
	}
	pattern := page.Pattern(p.URL)
	if wider := page.WiderPattern(pattern); wider != "" && wider[len(wider)-1] == '?' {
		pattern = wider
	}
	key := page.Key(page.Host(p.URL) + pattern)
	e, ok := y.said.Get(key)
	if !ok {
		e = &echoes{}
		y.said.Put(key, e)
	}
	most := 0.0
	for i := range e.last {
		most = max(most, page.Estimate(&p.Signature, &e.last[i]))
	}
	if len(e.last) < maxEchoes {
		e.last = append(e.last, p.Signature)
	} else {
		e.last[e.next] = p.Signature
		e.next = (e.next + 1) % maxEchoes
	}
	share := (1 - most) / (1 + most)
	return max(0, min(1, (allNew-share)/(allNew-hardlyNew)))
}
