package propose

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"fossick/internal/page"
	"fossick/models/features"
)

// Candidate is what a source knows of a URL.
type Candidate struct {
	URL   string       // normal form
	Doc   features.Doc // its text; all but the URL empty where that is not known
	Words string       // what links to it say
	Links []Link       // where it leads
}

// Link is a link of a candidate.
type Link struct{ URL, Words string }

// Source streams candidates, every time it is ranged over.
type Source = iter.Seq2[*Candidate, error]

const (
	// pool is how many candidates are kept with their words and links: what the
	// choice is made from.
	pool = 5000
	// keptTerms and keptLinks bound what is kept of each.
	keptTerms = 64
	keptLinks = 400
)

// kept is a candidate in the pool.
type kept struct {
	url, title string
	key        uint64
	place      int     // in the source, from 0
	like       float64 // to the topic, not yet in [0,1] where no judge said it
	relevance  float64 // in [0,1]
	promise    float64 // by which the pool is kept
	known      bool    // its text is known
	words      vector
	links      []outLink
}

// outLink is a link of a kept candidate. like is what its words say, for a target
// that the source does not have.
type outLink struct {
	key  uint64
	like float32
}

// collection is what reading the source came to.
type collection struct {
	topic   *Topic
	profile *profile
	freq    *frequencies
	all     map[uint64]float32 // likeness by page.Key of the URL
	pool    []*kept
	count   int     // candidates
	links   int     // that they have
	mean    float64 // likeness of all candidates
	high    float64 // from which on a candidate is as much on topic as can be
	exclude func(url string) bool
}

// collect reads the source twice: for the frequencies of words and, with keywords,
// the pages that stand in for examples; then for the likeness of every candidate.
func collect(ctx context.Context, t *Topic, source Source, opt *Options) (*collection, error) {
	if len(t.Examples) == 0 && len(t.Keywords) == 0 && t.Judge == nil {
		return nil, ErrNoTopic
	}
	c := &collection{topic: t, freq: newFrequencies(), all: map[uint64]float32{}, exclude: opt.Exclude}
	stand, err := c.first(ctx, source)
	if err != nil {
		return nil, err
	}
	c.describe(stand)
	if err := c.second(ctx, source); err != nil {
		return nil, err
	}
	c.settle()
	return c, nil
}

// first counts words, and finds the stand-ins.
func (c *collection) first(ctx context.Context, source Source) (*ranking, error) {
	count, top, words := newCounter(), &ranking{}, phrases(c.topic.Keywords)
	seen := map[uint64]struct{}{}
	var v vector
	for e, err := range source {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("reading candidates: %w", err)
		}
		key := page.Key(e.URL)
		if _, again := seen[key]; again {
			continue
		}
		seen[key] = struct{}{}
		v = count.doc(v[:0], e.Doc, e.Words)
		c.freq.add(v)
		if len(words) > 0 && len(c.topic.Examples) < standIns {
			top.add(count.held(words, e), v, e.Doc)
		}
	}
	return top, nil
}

// held is holds of a candidate, of which the title and what links say count too.
func (c *counter) held(words []phrase, e *Candidate) float64 {
	c.buf = c.tokens.Append(c.buf[:0], head(e.Doc.Text), e.Doc.Lang)
	for range titleTimes {
		c.buf = c.tokens.Append(c.buf, e.Doc.Title, e.Doc.Lang)
	}
	c.buf = c.tokens.Append(c.buf, e.Words, e.Doc.Lang)
	c.buf = c.tokens.Append(c.buf, urlWords(e.URL), e.Doc.Lang)
	return holds(words, c.buf)
}

// describe makes the topic's vector.
func (c *collection) describe(top *ranking) {
	count := newCounter()
	var examples []vector
	docs := slices.Clone(c.topic.Examples)
	for _, d := range docs {
		v := count.doc(nil, d, "")
		c.freq.weigh(v)
		examples = append(examples, v)
	}
	for _, s := range top.best[:min(len(top.best), max(0, standIns-len(docs)))] {
		c.freq.weigh(s.counts)
		examples, docs = append(examples, s.counts), append(docs, s.doc)
	}
	c.profile = newProfile(c.topic, examples, c.freq)
	an := features.NewAnalyzer(features.AnalyzerOptions{})
	c.profile.name(an, strings.Join(c.topic.Keywords, " "), "")
	for _, d := range docs {
		c.profile.name(an, d.Title, d.Lang)
		c.profile.name(an, d.Text, d.Lang)
	}
}

// second measures every candidate, and keeps the most promising.
func (c *collection) second(ctx context.Context, source Source) error {
	count := newCounter()
	var v, short vector
	var sum float64
	for e, err := range source {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("reading candidates: %w", err)
		}
		key := page.Key(e.URL)
		if _, again := c.all[key]; again {
			continue
		}
		v = count.doc(v[:0], e.Doc, e.Words)
		c.freq.weigh(v)
		like := c.profile.likeness(v)
		known := e.Doc.Text != "" || e.Doc.Title != ""
		if c.topic.Judge != nil && known {
			judged := c.topic.Judge(e.Doc)
			if like *= judged; len(c.profile.words) == 0 {
				like = judged
			}
		}
		k := &kept{key: key, place: c.count, like: like, known: known}
		short = c.follow(k, e, count, short)
		if !known {
			k.like = max(like, k.promise) // what its links say of it
		}
		sum += k.like
		c.all[key] = float32(k.like)
		c.count++
		c.links += len(e.Links)
		if c.exclude != nil && c.exclude(e.URL) {
			continue
		}
		if k.promise += k.like; k.promise > 0 && c.hasRoom(k) {
			k.url, k.title = strings.Clone(e.URL), strings.Clone(e.Doc.Title)
			k.words = v.top(keptTerms)
			c.pool = append(c.pool, k)
		}
	}
	c.mean = sum / float64(max(1, c.count))
	return nil
}

// follow notes a candidate's links, and promises by the words of the best of them.
func (c *collection) follow(k *kept, e *Candidate, count *counter, v vector) vector {
	seen := map[uint64]bool{k.key: true}
	var sum float64
	for _, l := range e.Links {
		key := page.Key(l.URL)
		if seen[key] || len(k.links) == keptLinks {
			continue
		}
		seen[key] = true
		v = count.text(v[:0], l.Words+" "+urlWords(l.URL), e.Doc.Lang)
		c.freq.weigh(v)
		like := c.profile.likeness(v)
		sum += like
		k.links = append(k.links, outLink{key, float32(like)})
	}
	if n := len(k.links); n > 0 {
		k.promise = sum / float64(n)
	}
	return v
}

// hasRoom keeps the pool at its size, at most twice that for a while.
func (c *collection) hasRoom(k *kept) bool {
	if len(c.pool) >= 2*pool {
		c.trim()
	}
	return len(c.pool) < pool || k.promise > c.pool[pool-1].promise
}

// trim leaves the most promising candidates in the pool, of equals the earlier.
func (c *collection) trim() {
	slices.SortStableFunc(c.pool, byPromise)
	clear(c.pool[pool:])
	c.pool = c.pool[:pool]
}
