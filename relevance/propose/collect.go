package propose

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"fossick/internal/cli"
	"fossick/internal/page"
	"fossick/models/features"
)

// Candidate is a URL with what its source knows about it.
type Candidate struct {
	URL   string       // normal form
	Doc   features.Doc // page content; only the URL if unknown
	Words string       // words of links to it
	Links []Link       // outgoing links
}

// Link is a link of a candidate.
type Link struct{ URL, Words string }

// Source streams candidates and can be iterated again.
type Source = iter.Seq2[*Candidate, error]

const (
	// pool is how many candidates keep their words and links; the choice is made among them.
	pool = 5000
	// keptTerms and keptLinks bound these per candidate.
	keptTerms = 64
	keptLinks = 400
)

type kept struct {
	url, title string
	key        uint64
	place      int     // in the source, from 0
	like       float64 // likeness to the topic, not normalised unless judged
	relevance  float64 // in [0,1]
	promise    float64 // rank in the pool
	known      bool    // its text is known
	words      vector
	links      []outLink
}

// outLink is a link of a kept candidate. like is the likeness of its words, used if the source does not
// have the target.
type outLink struct {
	key  uint64
	like float32
}

type collection struct {
	topic   *Topic
	profile *profile
	freq    *frequencies
	all     map[uint64]float32 // likeness by page.Key of the URL
	pool    []*kept
	count   int     // candidates
	links   int     // their links
	mean    float64 // mean likeness of all candidates
	high    float64 // likeness that counts as relevance 1
	exclude func(url string) bool
}

// collect reads the source twice: for word frequencies and stand-ins for examples, then for the likeness
// of every candidate.
func collect(ctx context.Context, t *Topic, source Source, opt *Options) (*collection, error) {
	if len(t.Examples) == 0 && len(t.Keywords) == 0 && t.Judge == nil {
		return nil, errNoTopic
	}
	c := &collection{topic: t, freq: &frequencies{df: make([]uint32, buckets)}, all: map[uint64]float32{}, exclude: opt.Exclude}
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

// first counts words and finds the stand-ins.
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

// held is holds for a candidate, including its title and the words of links to it.
func (c *counter) held(words []phrase, e *Candidate) float64 {
	c.buf = c.tokens.Append(c.buf[:0], head(e.Doc.Text), e.Doc.Lang)
	for range titleTimes {
		c.buf = c.tokens.Append(c.buf, e.Doc.Title, e.Doc.Lang)
	}
	c.buf = c.tokens.Append(c.buf, e.Words, e.Doc.Lang)
	c.buf = c.tokens.Append(c.buf, urlWords(e.URL), e.Doc.Lang)
	return holds(words, c.buf)
}

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
			k.like = max(like, k.promise) // judge it by the words of its links
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

// follow records a candidate's links and sets promise to the mean likeness of their words.
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

// hasRoom reports whether k may enter the pool, which it trims at twice its size.
func (c *collection) hasRoom(k *kept) bool {
	if len(c.pool) >= 2*pool {
		c.trim()
	}
	return len(c.pool) < pool || k.promise > c.pool[pool-1].promise
}

// trim keeps the most promising candidates; ties go to the earlier.
func (c *collection) trim() {
	slices.SortStableFunc(c.pool, byPromise)
	clear(c.pool[pool:])
	c.pool = c.pool[:pool]
}

func byPromise(a, b *kept) int {
	return cmp.Or(cmp.Compare(b.promise, a.promise), cmp.Compare(a.place, b.place))
}

// settle converts likeness to relevance when the source is read: the mean becomes 0 and the best 1. If the
// topic has only a judge, its probability is the relevance.
func (c *collection) settle() {
	slices.SortStableFunc(c.pool, byPromise)
	if len(c.pool) > pool {
		c.trim()
	}
	c.high = c.top()
	for _, k := range c.pool {
		k.relevance = c.relevance(k.like)
	}
}

func (c *collection) relevance(like float64) float64 {
	if c.topic.Judge != nil && len(c.profile.words) == 0 {
		return like
	}
	return min(1, max(0, (like-c.mean)/max(1e-9, c.high-c.mean)))
}

// top is the likeness with relevance 1: that of the tenth best candidate, or of a better one if there are
// few candidates.
func (c *collection) top() float64 {
	likes := make([]float64, 0, len(c.pool))
	for _, k := range c.pool {
		likes = append(likes, k.like)
	}
	slices.SortFunc(likes, func(a, b float64) int { return cmp.Compare(b, a) })
	if len(likes) == 0 {
		return 1
	}
	return likes[min(len(likes)/20, 9)]
}

// target is the relevance of a link's target, by the link's words if the source does not have it.
func (c *collection) target(l outLink) float64 {
	like, ok := c.all[l.key]
	if !ok {
		like = l.like
	}
	return c.relevance(float64(like))
}

func urlWords(raw string) string {
	_, rest, _ := strings.Cut(raw, "://")
	i := strings.IndexByte(rest, '/')
	if i < 0 {
		return ""
	}
	path := rest[i:]
	if plain, err := url.PathUnescape(path); err == nil {
		path = plain
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return r
		}
		return ' '
	}, path)
}

// Options of Propose. The zero value works.
type Options struct {
	N       int                   // number of proposals; 0 is 10
	Exclude func(url string) bool // candidates not to propose; may be nil
}

// proposal is a start page.
type proposal struct {
	URL   string
	Score float64 // in [0,1], decreasing: the gain over earlier proposals
	Why   string
}

// proposed has the proposals from a source.
type proposed struct {
	Proposals  []proposal
	Candidates int // number of candidates in the source
}

// The weights of the choice.
const (
	hubShare  = 0.8 // share of the score that depends on links; a dead end keeps a fifth
	covered   = 0.5 // weight of a target per proposal that leads to it
	sameHost  = 0.7 // weight of a page per proposal on its host
	likeSteep = 2   // exponent of dissimilarity to earlier proposals
)

// Propose reads the source twice and returns start pages, best first.
//
// It repeatedly takes the candidate p with the largest
//
//	r(p) · ((1 − h) + h · hub(p)/(hub(p) + H)) · (1 − s(p))² · 0.7^n
//
// where r(p) in [0,1] is its relevance, s(p) the largest cosine with a proposal, n the number of proposals
// on its host, h is hubShare, and
//
//	hub(p) = Σ_t w(t) · ½^c(t) / √(links of p)
//
// over the targets t of its links, with c(t) proposals already leading to t; r(t) of a target that the
// source lacks is by the link's words. The root rewards both many
// targets on topic and a large share of them. If the links of t are known,
// w(t) = r(t) · (½ + ½ · hub₀(t)/(hub₀(t) + H)), with hub₀ using w = r and c = 0; otherwise w(t) = r(t). H is
// the mean of hub₀ over the pages on topic. This is greedy coverage (Nemhauser, Wolsey and Fisher 1978) with
// maximal marginal relevance (Carbonell and Goldstein 1998). After the first, every proposal is on topic
// and leads to a page on topic.
func Propose(ctx context.Context, t Topic, source Source, opt Options) (*proposed, error) {
	c, err := collect(ctx, &t, source, &opt)
	if err != nil {
		return nil, err
	}
	n := opt.N
	if n == 0 {
		n = 10
	}
	return &proposed{Proposals: c.choose(n), Candidates: c.count}, nil
}

// choice is a greedy choice in progress.
type choice struct {
	*collection
	leads map[uint64]int     // number of proposals that lead to a target, by page.Key
	hosts map[string]int     // number of proposals by host
	like  []float64          // by place in the pool: largest cosine with a proposal
	worth map[uint64]float64 // w of the pool's pages
	usual float64            // H
	taken []bool
}

func (c *collection) choose(n int) (all []proposal) {
	ch := newChoice(c)
	for range n {
		at, score := ch.next()
		if at < 0 {
			break
		}
		k := c.pool[at]
		all = append(all, proposal{URL: k.url, Score: score, Why: ch.why(k)})
		ch.take(at)
	}
	return all
}

func newChoice(c *collection) *choice {
	ch := &choice{
		collection: c, leads: map[uint64]int{}, hosts: map[string]int{}, worth: map[uint64]float64{},
		like: make([]float64, len(c.pool)), taken: make([]bool, len(c.pool)),
	}
	hubs := make([]float64, len(c.pool))
	var sum, on float64
	for i, k := range c.pool {
		hubs[i] = ch.hub(k)
		sum, on = sum+k.relevance*hubs[i], on+k.relevance
	}
	if on > 0 {
		ch.usual = sum / on
	}
	for i, k := range c.pool {
		ch.worth[k.key] = k.relevance * (0.5 + 0.5*ch.saturated(hubs[i]))
	}
	return ch
}

// saturated maps a hub value to [0,1) relative to H.
func (ch *choice) saturated(hub float64) float64 {
	if hub == 0 {
		return 0
	}
	return hub / (hub + ch.usual)
}

// hub is the weight of the targets that proposals do not yet cover.
func (ch *choice) hub(k *kept) (sum float64) {
	if len(k.links) == 0 {
		return 0
	}
	for _, l := range k.links {
		w, ok := ch.worth[l.key]
		if !ok {
			w = ch.target(l)
		}
		sum += w * math.Pow(covered, float64(ch.leads[l.key]))
	}
	return sum / math.Sqrt(float64(len(k.links)))
}

// leadsOn reports whether a page is on topic and links to another page on topic. It is true if that is
// unknown: no page of the source has links, or only the URL is known.
func (ch *choice) leadsOn(k *kept) bool {
	if ch.links == 0 || !k.known {
		return true
	}
	return k.relevance >= onTopic && slices.ContainsFunc(k.links, func(l outLink) bool { return ch.target(l) >= onTopic })
}

// next returns the best candidate and its score; -1 if none is on topic.
func (ch *choice) next() (at int, top float64) {
	at = -1
	for i, k := range ch.pool {
		if ch.taken[i] || k.relevance <= top { // the other factors are at most 1
			continue
		}
		score := k.relevance * math.Pow(1-min(1, ch.like[i]), likeSteep) * math.Pow(sameHost, float64(ch.hosts[page.Host(k.url)]))
		if score <= top || len(ch.hosts) > 0 && !ch.leadsOn(k) {
			continue
		}
		if ch.links > 0 {
			score *= 1 - hubShare + hubShare*ch.saturated(ch.hub(k))
		}
		if score > top {
			at, top = i, score
		}
	}
	return at, top
}

func (ch *choice) take(at int) {
	k := ch.pool[at]
	ch.taken[at] = true
	ch.hosts[page.Host(k.url)]++
	ch.leads[k.key]++
	for _, l := range k.links {
		ch.leads[l.key]++
	}
	for i, other := range ch.pool {
		if !ch.taken[i] {
			ch.like[i] = max(ch.like[i], k.words.dot(other.words))
		}
	}
}

// onTopic is the relevance of a page that counts as on topic.
const onTopic = 0.5

func (ch *choice) why(k *kept) string {
	var parts []string
	parts = append(parts, fmt.Sprintf("relevance %.2f", k.relevance))
	if words := ch.words(k, 5); len(words) > 0 {
		parts = append(parts, strings.Join(words, ", "))
	}
	if len(k.links) > 0 {
		on, fresh := 0, 0
		for _, l := range k.links {
			if ch.target(l) >= onTopic {
				on++
				if ch.leads[l.key] == 0 {
					fresh++
				}
			}
		}
		parts = append(parts, cli.Sprintf("%d of %d links lead to pages on topic, %d of them to new ones", on, len(k.links), fresh))
	}
	if !k.known {
		parts = append(parts, "only its URL is known")
	}
	return strings.Join(parts, "; ")
}

// words returns the words that contribute most to k's likeness.
func (ch *choice) words(k *kept, n int) (names []string) {
	both := slices.Clone(k.words)
	for i, w := range both {
		both[i].weight *= ch.profile.dense[w.term]
	}
	slices.SortStableFunc(both, func(a, b weighed) int { return cmp.Compare(b.weight, a.weight) })
	for _, w := range both {
		if name := ch.profile.names[w.term]; name != "" && w.weight > 0 && len(names) < n {
			names = append(names, name)
		}
	}
	return names
}
