package learned

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"fossick/internal/page"
	"fossick/relevance"
)

// history remembers the words of the pages that were fetched last, so that what people say of some
// pages can be carried over to the others. All words of a page are kept, since nobody knows by which a
// label will go; the pages are bounded.
type history struct {
	pages []*pastPage // in the order of the crawl
	byKey map[uint64]*pastPage
	words int // of all of them
	limit int // of words
}

// maxPastWords bounds the words of a history: 8 MiB, the words of some 6,000 pages of running text.
// maxPastPages bounds its pages, for pages of few words.
const (
	maxPastWords = 2 << 20
	maxPastPages = 1 << 14
)

// pastPage is a fetched page as a history has it. It brought its probability, but for what of it was an
// echo.
type pastPage struct {
	key          uint64
	url          string
	words        []token
	links        []token // of the links by which it was found
	judged       float64 // probability by the judge
	similar      float64 // log-odds that the similarity to the start pages adds
	now          float64 // with that, the crawl's prior and what people said: it counts for so much in vocabularies and places
	weight       float64 // and as so many pages,
	counted      float64 // its words as those of so many
	echo         float64 // how far it said what was known, in [0,1], see yields.echo
	host, folder *record
	source       *source
	named        []naming // by whom, some of them
}

// worth is what the page brings that is new, were it of a probability.
func (p *pastPage) worth(probability float64) float64 { return probability * (1 - p.echo) }

// naming is a link to a page that was fetched: which page's, and at what place there.
type naming struct {
	by *source
	at uint8
}

// maxNamings bounds the links to a page that are remembered.
const maxNamings = 4

// namedBy remembers a link to the page.
func (p *pastPage) namedBy(s *source, at uint8) {
	if len(p.named) < maxNamings {
		p.named = append(p.named, naming{s, at})
	}
}

func newHistory(limit int) history { return history{byKey: map[uint64]*pastPage{}, limit: limit} }

func (h *history) add(p *pastPage) {
	h.pages = append(h.pages, p)
	h.byKey[p.key] = p
	h.words += len(p.words)
	drop := 0
	for h.words > h.limit && drop < len(h.pages)-1 || len(h.pages)-drop > maxPastPages {
		h.words -= len(h.pages[drop].words)
		if old := h.pages[drop]; h.byKey[old.key] == old { // not one that came again since
			delete(h.byKey, old.key)
		}
		h.pages[drop] = nil
		drop++
	}
	h.pages = h.pages[drop:]
}

// find returns a page, nil when it is not remembered.
func (h *history) find(key uint64) *pastPage { return h.byKey[key] }

// name remembers a link to a page, and returns how many are remembered; of a page that is not,
// maxNamings, as no other need be told.
func (h *history) name(key uint64, by *source, at uint8) int {
	p := h.find(key)
	if p == nil {
		return maxNamings
	}
	p.namedBy(by, at)
	return len(p.named)
}

// account is why a target had its score when it was fetched, in numbers. A crawl writes one for each
// page and hardly ever reads one, so it is kept as it is, in 340 bytes. In words it would be 1,700, an
// eighth of what a page takes in the store.
type account struct {
	expected      float64       // probability that it is on topic
	parents       float64       // pages that link to it
	host, folder  float64       // pages fetched of each
	hops          float64       // links since a page on topic
	explored      bool          // it was fetched to learn of it
	byDegree      bool          // it was fetched by R, before the first lesson
	inText        bool          // a link to it stands in running text
	found, weighs featureVector // what each feature is, and what it adds to the log-odds
}

// terms says in words what each feature adds.
func (a *account) terms() []relevance.Term {
	terms := []relevance.Term{{Name: "expected", Value: a.expected, Note: "when it was fetched; the parts below add up to its log-odds"}}
	if a.explored {
		terms = append(terms, relevance.Term{Name: "explored", Value: 1, Note: "fetched because little was known of it, not for its score"})
	}
	if a.byDegree {
		terms = append(terms, relevance.Term{Name: "by R", Value: 1, Note: "nothing was learned yet: links with the largest R came first, and among equals the most promising ones"})
	}
	for i, about := range a.about() {
		terms = append(terms, relevance.Term{Name: about[0], Value: a.weighs[i], Note: about[1]})
	}
	return terms
}

// An account is packed as its version, its flags and the number of its features, a byte each. Then come
// expected; parents, host, folder and hops; of each feature what it is and what it adds. What is added
// to the score, and the score, have 8 bytes, so that they add up, all else 4: it is told in two digits.
// All are little-endian.
const (
	accountVersion = 1
	accountHead    = 3 + 8 + 4*4
	accountFeature = 4 + 8

	flagExplored = 1
	flagInText   = 2
	flagByDegree = 4
)

func (a *account) pack() []byte {
	b := make([]byte, 0, accountHead+numFeatures*accountFeature)
	var flags byte
	if a.explored {
		flags |= flagExplored
	}
	if a.inText {
		flags |= flagInText
	}
	if a.byDegree {
		flags |= flagByDegree
	}
	b = append(b, accountVersion, flags, numFeatures)
	b = append64(b, a.expected)
	for _, v := range [...]float64{a.parents, a.host, a.folder, a.hops} {
		b = append32(b, v)
	}
	for i := range a.found {
		b = append64(append32(b, a.found[i]), a.weighs[i])
	}
	return b
}

func append32(b []byte, v float64) []byte {
	return binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
}

func append64(b []byte, v float64) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
}

var errAccount = errors.New("the record of its score cannot be read")

// unpack reads what pack wrote. An account of an earlier build has fewer features.
func unpack(b []byte) (a account, n int, err error) {
	if len(b) < accountHead || b[0] != accountVersion || int(b[2]) > numFeatures {
		return a, 0, fmt.Errorf("%w: it is of another build of fossick", errAccount)
	}
	if n = int(b[2]); len(b) != accountHead+n*accountFeature {
		return a, 0, fmt.Errorf("%w: it has %d bytes, want %d", errAccount, len(b), accountHead+n*accountFeature)
	}
	a.explored, a.inText, a.byDegree = b[1]&flagExplored != 0, b[1]&flagInText != 0, b[1]&flagByDegree != 0
	a.expected = float64At(b[3:])
	for i, v := range [...]*float64{&a.parents, &a.host, &a.folder, &a.hops} {
		*v = float32At(b[11+4*i:])
	}
	for i := range n {
		feature := b[accountHead+i*accountFeature:]
		a.found[i], a.weighs[i] = float32At(feature), float64At(feature[4:])
	}
	return a, n, nil
}

func float32At(b []byte) float64 {
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
}

func float64At(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }

// Spell makes terms of a Score's Account, none of one that is empty. It fails on one that it did not
// write.
func Spell(packed []byte) ([]relevance.Term, error) {
	if len(packed) == 0 {
		return nil, nil
	}
	a, n, err := unpack(packed)
	if err != nil {
		return nil, err
	}
	terms := a.terms()
	return terms[:len(terms)-(numFeatures-n)], nil
}

// A database has a million URLs, of which the first may be good and the rest not. What the next one
// brings shows in what the last ones brought.

// yield is what the last pages at URLs of a pattern brought, each counting less than the next
// (discounted Beta, as in Garivier and Moulines 2011).
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

// next is what the next page is expected to bring: the pattern's last pages count, with the next wider
// pattern as what is known before there are any. base is the crawl's.
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

// lift is what the next page is expected to bring above the crawl's base rate, as a difference of
// log-odds; odds is logit(base).
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

// echoes are the last pages on topic at URLs of a pattern, by which it is known whether the next one
// says something new.
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
	// A page is as good as new when allNew of its runs of three words are, as pages of a site share
	// phrases; with hardlyNew it says nothing new.
	allNew    = 0.5
	hardlyNew = 0.1
)

// echo is how far a page says what the last ones of its pattern said, in [0,1]. It is 0 where so many
// of its runs of three words are new to the most like of them as make a page new.
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
