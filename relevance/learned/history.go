package learned

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"fossick/internal/page"
	"fossick/relevance"
)

// history remembers the words of the latest pages, so that labels can change what these pages taught. It
// keeps all words of a page, because a correction may depend on any of them.
type history struct {
	pages []*pastPage // in crawl order
	byKey map[uint64]*pastPage
	words int // total
	limit int // of words
}

// maxPastWords bounds the words: 8 MiB, about 6,000 pages of running text. maxPastPages bounds pages with
// few words.
const (
	maxPastWords = 2 << 20
	maxPastPages = 1 << 14
)

// pastPage is a fetched page and how it was counted.
type pastPage struct {
	key          uint64
	url          string
	words        []token
	links        []token // of the links that led to it
	judged       float64 // probability by the judge
	similar      float64 // log-odds shift by similarity to the start pages
	own          float64 // probability that it counts with while there are no labels
	now          float64 // corrected probability, with which it counts in vocabularies and places
	weight       float64 // number of pages it counts as
	counted      float64 // number of pages its words count as
	echo         float64 // how far it repeats known text, in [0,1], see yields.echo
	host, folder *record
	source       *source
	named        []naming // some of the pages that link to it
}

// worth is the new part of a page of the given probability.
func (p *pastPage) worth(probability float64) float64 { return probability * (1 - p.echo) }

// naming is a link to a fetched page: its source and its place there.
type naming struct {
	by *source
	at uint8
}

// maxNamings bounds the remembered links per page.
const maxNamings = 4

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
		if old := h.pages[drop]; h.byKey[old.key] == old { // unless the page was fetched again
			delete(h.byKey, old.key)
		}
		h.pages[drop] = nil
		drop++
	}
	h.pages = h.pages[drop:]
}

func (h *history) find(key uint64) *pastPage { return h.byKey[key] }

// name remembers a link to a page and returns how many are remembered; maxNamings if the page is
// forgotten, so that the caller stops.
func (h *history) name(key uint64, by *source, at uint8) int {
	p := h.find(key)
	if p == nil {
		return maxNamings
	}
	p.namedBy(by, at)
	return len(p.named)
}

// account is the numeric explanation of a target's score. It is stored for each page and rarely read, so
// it is packed into 450 bytes; as text it would be 2,300.
type account struct {
	expected      float64       // probability that it is on topic
	parents       float64       // pages that link to it
	host, folder  float64       // fetched pages of each
	hops          float64       // links from a page on topic
	explored      bool          // fetched for exploration
	byDegree      bool          // ordered by R, before the first lesson
	inText        bool          // a link is in running text
	found, weighs featureVector // value of each feature, and its contribution to the log-odds
}

// terms describes the contribution of each feature.
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

// Packed form, little-endian: version, flags and number of features, a byte each; expected; parents, host,
// folder and hops; then value and contribution of each feature. The score and contributions are float64,
// so that they add up; the rest is float32.
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

// unpack reads what pack wrote. An older build's account has fewer features.
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

// Spell converts a Score's Account to terms, none if it is empty. It fails on bytes that pack did not
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

// yield is a discounted Beta estimate (Garivier and Moulines 2011) of what pages at URLs of one pattern
// bring. A database may have a million URLs of which only the first are good, so the latest pages
// predict the next one.
type yield struct {
	wider *yield // the next wider pattern; nil: the crawl
	last  record
}

const (
	// yieldFades is the decay per page: about the last fifty count.
	yieldFades = 0.98
	// yieldDoubt is the weight of the wider pattern, in pages.
	yieldDoubt = 2
)

// add records what a page brought.
func (y *yield) add(worth float64) {
	for ; y != nil; y = y.wider {
		y.last.pages *= yieldFades
		y.last.onTopic *= yieldFades
		y.last.add(worth)
	}
}

// next is the expected worth of the next page, with the wider pattern as prior. base is the crawl's.
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

// lift is the log-odds of next minus those of the base rate; odds is logit(base).
func (y *yield) lift(base, odds float64) float64 {
	if y == nil {
		return 0
	}
	return logit(inside(y.next(base))) - odds
}

type yields struct {
	patterns page.Recent[*yield]  // by page.Key of host and pattern
	said     page.Recent[*echoes] // by page.Key of host and pattern, ignoring query names
}

func newYields(limit int) yields {
	return yields{patterns: page.NewRecent[*yield](limit), said: page.NewRecent[*echoes](limit / 4)}
}

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

// echoes are the latest pages on topic at URLs of a pattern, against which new pages are compared.
type echoes struct {
	last []page.Signature
	next int
}

const (
	// isEcho is the echo from which a page earns its pattern nothing.
	isEcho = 0.5
	// maxEchoes is how many pages per pattern are compared.
	maxEchoes = 16
	// echoFrom is the minimum probability for the comparison to matter.
	echoFrom = 0.1
	// Shares of new three-word shingles: from allNew a page counts as new, since pages of a site share
	// phrases; at hardlyNew it says nothing new.
	allNew    = 0.5
	hardlyNew = 0.1
)

// echo is how far a page repeats the most similar of its pattern's latest pages, in [0,1]; 0 if its share
// of new shingles is at least allNew.
func (y *yields) echo(p *page.Page, probability float64) float64 {
	if probability < echoFrom || p.Signature.IsZero() {
		return 0
	}
	pattern := page.Pattern(p.URL)
	if wider := page.WiderPattern(pattern); wider != "" && wider[len(wider)-1] == '?' {
		pattern = wider
	}
	key := page.Key(page.Host(p.URL) + pattern)
	e := page.Entry(&y.said, key)
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
