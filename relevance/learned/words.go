package learned

import (
	"hash/maphash"
	"iter"
	"math"
	"math/bits"
	"net/url"
	"slices"
	"strings"

	"fossick/internal/page"
	"fossick/models/features"
	"fossick/relevance"
)

// wordTable maps words to their records in a third of a map's memory. Like page.Recent it has two
// halves: when the young half is full it becomes the old one, and old words move when used or are
// dropped.
//
// It is a hash table with linear probing, at most half full.
type wordTable struct {
	young, old []word // lengths are powers of two
	n          int    // words in young
	limit      int    // words per half
	seed       uint64 // random, so that no page can provoke collisions
}

// word is the record of a word. A pointer to it is valid until the table's next use.
type word struct {
	token token   // 0 in an empty slot
	share float32 // of pages at large that have it, from Background; 0 before the first lookup
	page  record  // pages with the word
	link  record  // targets of links with the word
}

// onTopic is the word's part of Background.over, before the logarithm.
func (w *word) onTopic(b *base) float64 {
	switch {
	case b.background == nil || w.page.onTopic == 0: // share does not matter
		return doubt
	case w.share == 0:
		w.share = b.background.of(w.token)
	}
	return onTopic(w.page.onTopic, w.share)
}

func newWordTable(limit int) wordTable {
	return wordTable{
		young: make([]word, 1024), old: make([]word, 1), limit: limit,
		seed: maphash.String(maphash.MakeSeed(), ""),
	}
}

// find returns a word, or an empty one. It does not move the word to the young half.
func (t *wordTable) find(w token) *word {
	if found := &t.young[t.slot(t.young, w)]; found.token != 0 {
		return found
	}
	return &t.old[t.slot(t.old, w)]
}

// use returns a word for update, and inserts it if it is new.
func (t *wordTable) use(w token) *word {
	i := t.slot(t.young, w)
	if t.young[i].token == 0 {
		i = t.enter(w, i)
	}
	return &t.young[i]
}

// enter inserts a word into the young half, where its slot would be i, and returns its slot.
func (t *wordTable) enter(w token, i int) int {
	known := t.old[t.slot(t.old, w)] // the old copy is never found again
	known.token = max(w, 1)
	if t.n >= t.limit {
		if len(t.old) != len(t.young) {
			t.old = make([]word, len(t.young))
		}
		clear(t.old)
		t.old, t.young, t.n = t.young, t.old, 0
		i = t.slot(t.young, w)
	}
	if t.n++; 2*t.n > len(t.young) {
		t.grow()
		i = t.slot(t.young, w)
	}
	t.young[i] = known
	return i
}

// grow quadruples the table; doubling would move more words in total.
func (t *wordTable) grow() {
	small := t.young
	t.young = make([]word, 4*len(small))
	for _, w := range small {
		if w.token != 0 {
			t.young[t.slot(t.young, w.token)] = w
		}
	}
}

// slot returns the slot of a word, or the free slot where it belongs. 0 marks empty slots, so word 0 is
// stored as 1.
func (t *wordTable) slot(slots []word, w token) int {
	w = max(w, 1)
	hi, lo := bits.Mul64(uint64(w)^t.seed, 0xA0761D6478BD642F)
	for i := int(hi ^ lo); ; i++ {
		i &= len(slots) - 1
		if s := slots[i].token; s == w || s == 0 {
			return i
		}
	}
}

// textReader classifies the texts of links and splits them into words. It is safe for concurrent use.
type textReader struct {
	judge   relevance.Judge
	reader  Reader  // nil if the judge cannot return words
	silence float64 // the judge's log-odds of an empty text
	readers *features.Spare[wordReader]
}

func newTextReader(judge relevance.Judge, reader Reader) *textReader {
	return &textReader{
		judge: judge, reader: reader, silence: logit(inside(judge(features.Doc{}))),
		readers: features.NewSpare(newWordReader),
	}
}

// above returns the log-odds of a text minus those of an empty text, within ±4. The bound is needed
// because a judge of a narrow topic firmly rejects any few words that it does not know.
func (t *textReader) above(probability float64) float64 {
	const most = 4
	return max(-most, min(most, logit(inside(probability))-t.silence))
}

// readLinks fills w with the text evidence, where wanted, and the places of p's links.
func (t *textReader) readLinks(w *linkWork, p *page.Page, around []surroundings) {
	r := t.readers.Get()
	defer t.readers.Put(r)
	for i := range w.links {
		v := &w.links[i]
		place, of := p.Place(i)
		v.early = uint8(255 * (of - place) / of)
		v.at, v.nav = placeOf(place), p.Links[i].Nav
		if around[i].wanted {
			v.linkText, v.context, v.over = t.read(r, &p.Links[i], p.Lang), t.above(around[i].judged), around[i].over
		}
	}
}

func (t *textReader) read(r *wordReader, link *page.Link, lang string) linkText {
	s := linkText{anchor: t.above(t.readAnchor(r, link, lang))}
	s.count = uint8(r.link(s.words[:], lang, link))
	s.ended = uint8(len(endings(s.endings[:0], link.Anchor)))
	return s
}

// readAnchor judges a link's text as a title, together with the target's URL, and stores its words in r.
func (t *textReader) readAnchor(r *wordReader, link *page.Link, lang string) (probability float64) {
	d := features.Doc{Title: link.Anchor, URL: link.URL, Lang: lang}
	if t.reader == nil || len(link.Anchor) > maxAnchor {
		r.anchor(link.Anchor, lang)
		return t.judge(d)
	}
	probability, r.found = t.reader(d, r.found[:0])
	return probability
}

// around reads the context of p's links where wanted.
func (t *textReader) around(p *page.Page, wanted []bool) Around {
	r := t.readers.Get()
	defer t.readers.Put(r)
	read := Around{Wanted: wanted, Judged: make([]float64, len(p.Links)), Ends: make([]int, len(p.Links))}
	for i, wanted := range wanted {
		if wanted {
			context := p.Links[i].Context
			read.Judged[i] = t.judge(features.Doc{Text: context, Lang: p.Lang})
			read.Words = r.tokens.Append(read.Words, context, p.Lang)
		}
		read.Ends[i] = len(read.Words)
	}
	return read
}

// unlinked builds evidence from the URL's own words, as from one link.
func (t *textReader) unlinked(url string) evidence {
	r := t.readers.Get()
	defer t.readers.Put(r)
	words := float32(t.above(t.judge(features.Doc{URL: url})))
	e := evidence{text: true, parents: 1, anchor: extreme{words, words}}
	r.found = r.found[:0]
	e.count = uint8(r.link(e.words[:], "", &page.Link{URL: url}))
	return e
}

// Reader is a Judge that also returns the text's words, so that a text is tokenised only once. It appends
// to words the tokens that Words describes.
type Reader func(d features.Doc, words []uint32) (probability float64, read []uint32)

// Words describes the tokens that a Scorer needs, for callers that tokenise pages for it.
func Words() features.Also {
	return features.Also{Analyzer: wordOptions, Number: tokenOf, TextBytes: maxPageText}
}

var wordOptions = features.AnalyzerOptions{Numbers: features.NumbersKeep}

func tokenOf(term string) token { return token(page.Key(term)) }

const (
	// maxPageText is how many bytes of a page's text are read. The beginning says what a page is
	// about, and the rest costs more than it tells.
	maxPageText = 16 << 10
	maxAnchor   = 256 // bytes of an anchor text, or of a URL's last path segment
)

// wordReader tokenises texts. It serves one goroutine.
type wordReader struct {
	tokens *features.Tokens[token]
	found  []token
	seen   distinct
}

func newWordReader() *wordReader {
	return &wordReader{tokens: features.NewTokens(wordOptions, tokenOf), seen: newDistinct()}
}

// page returns the distinct words of p, valid until the next call.
func (r *wordReader) page(p *page.Page) []token {
	r.found = r.found[:0]
	for _, text := range []string{p.Title, p.Description, features.Head(p.Text, maxPageText)} {
		r.found = r.tokens.Append(r.found, text, p.Lang)
	}
	return r.seen.of(r.found)
}

// link fills dst with distinct words: first the anchor's, which are in r.found, then those of the URL's
// last segment. It returns their number.
func (r *wordReader) link(dst []token, lang string, l *page.Link) int {
	n := 0
	r.found = r.tokens.Append(r.found, lastPart(l.URL), lang)
	for _, w := range r.found {
		if n < len(dst) && !slices.Contains(dst[:n], w) {
			dst[n] = w
			n++
		}
	}
	return n
}

func (r *wordReader) anchor(text, lang string) {
	r.found = r.tokens.Append(r.found[:0], features.Head(text, maxAnchor), lang)
}

// lastPart returns the last non-empty segment of a URL's path, or the host, with spaces between words.
func lastPart(address string) string {
	path, _, _ := strings.Cut(address, "?")
	path = strings.TrimRight(path, "/")
	part := path[strings.LastIndexByte(path, '/')+1:]
	if plain, err := url.PathUnescape(part); err == nil {
		part = plain // on bad escapes use the raw text
	}
	return betweenWords.Replace(features.Head(part, maxAnchor))
}

var betweenWords = strings.NewReplacer("_", " ", "-", " ", ".", " ", "+", " ")

// Around holds the contexts of a page's links, tokenised and judged, where they are wanted.
type Around struct {
	Wanted []bool    // per link, see Scorer.Wanted
	Judged []float64 // per link, probability by the judge
	Words  []uint32  // tokens of all links, concatenated; see Words
	Ends   []int     // per link, end of its tokens
}

// surroundings are the words around one link, as evidence. An anchor names the target; the context
// describes it, with more words.
type surroundings struct {
	wanted bool    // false: not read
	judged float64 // probability by the judge
	over   float64 // mean over-representation on pages on topic, see Background
}

// around returns the surroundings of p's links. It takes those that came with the page, once, because
// the source may live long; or else it reads them now.
func (l *Scorer) around(w *linkWork, p *page.Page) []surroundings {
	known, wanted := l.aroundKnown(w, p)
	if len(known) == len(p.Links) {
		return known
	}
	read := l.texts.around(p, wanted)
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.model.weighAround(&read)
}

// aroundKnown returns the surroundings that came with the page, or else which links are wanted.
func (l *Scorer) aroundKnown(w *linkWork, p *page.Page) (known []surroundings, wanted []bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s, ok := l.links.sources.Peek(page.Key(p.URL)); ok {
		known, s.around = s.around, nil
	}
	if len(known) != len(p.Links) {
		wanted = l.links.wanted(nil, w.keys)
	}
	return known, wanted
}

// Wanted appends to dst, per link of p, whether the scorer uses its anchor and context. It does unless
// the target was fetched or maxTexts pages already link to it.
func (l *Scorer) Wanted(dst []bool, p *page.Page) []bool {
	w := l.works.Get()
	defer l.works.Put(w)
	w.name(p)
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.links.wanted(dst, w.keys)
}

// vocabulary counts, for each word, pages and followed links with the word and how far they were on
// topic. It keeps the most recently used words. Terms are the analyzer's; tokens are 32-bit hashes, so
// collisions are rare.
type vocabulary struct{ words wordTable }

func newVocabulary() vocabulary { return vocabulary{newWordTable(maxVocabulary)} }

// learnPage counts a page's distinct words, as weight pages.
func (v *vocabulary) learnPage(words []token, probability, weight float64) {
	pages, onTopic := float32(weight), float32(weight*probability)
	for _, w := range words {
		r := &v.words.use(w).page
		r.pages += pages
		r.onTopic += onTopic
	}
}

// learnLink counts the distinct words of links to a fetched page.
func (v *vocabulary) learnLink(words []token, probability float64) {
	for _, w := range words {
		v.words.use(w).link.add(probability)
	}
}

// worth is what a target's words say about it. Lifts are 0 for new words.
type worth struct {
	mean, most float64 // lift on pages
	inLinks    float64 // mean lift in links
	over       float64 // mean over-representation, see Background
}

// ended is the mean lift of word endings in links; 0 if all are new.
func (v *vocabulary) ended(endings []token, b *base) float64 {
	if len(endings) == 0 {
		return 0
	}
	links := newLogSum()
	for _, t := range endings {
		links.add(v.words.find(t).link.odds(b.mean))
	}
	return links.value()/float64(len(endings)) - b.odds
}

func (v *vocabulary) worth(words []token, b *base) worth {
	if len(words) == 0 {
		return worth{}
	}
	pages, links, over, most := newLogSum(), newLogSum(), newLogSum(), 0.0
	for _, t := range words {
		w := v.words.find(t)
		odds := w.page.odds(b.mean)
		pages.add(odds)
		links.add(w.link.odds(b.mean))
		over.add(w.onTopic(b))
		most = max(most, odds)
	}
	n := float64(len(words))
	return worth{
		mean: pages.value()/n - b.odds, most: math.Log(most) - b.odds,
		inLinks: links.value()/n - b.odds, over: b.over(over.value() / n),
	}
}

// over is the mean over-representation of words, see Background; 0 without words.
func (v *vocabulary) over(words []token, b *base) float64 {
	if len(words) == 0 {
		return 0
	}
	over := newLogSum()
	for _, t := range words {
		over.add(v.words.find(t).onTopic(b))
	}
	return b.over(over.value() / float64(len(words)))
}

// Background is the share of pages at large that have each word, taken from the page classifier's
// training set. A good crawl sees hardly any pages off topic, so by its own pages alone "Japan" and
// "fern" both look like words of pages about plants; compared with pages at large only "fern" does. It
// is read-only and may be shared.
type Background struct {
	share map[token]float32
	least float64 // smallest share
}

// rarer is the share assumed for an unknown word, relative to the rarest known one: classifiers omit
// words of few pages.
const rarer = 1. / 8

// maxBackground bounds the number of words, and so the memory to about 4 MiB.
const maxBackground = 1 << 17

// NewBackground takes words with the share of pages that have them, in (0,1]. It ignores other shares
// and all words after the first 131,072, and returns nil if none remain.
func NewBackground(shares iter.Seq2[string, float64]) *Background {
	b := &Background{map[token]float32{}, 1}
	for word, share := range shares {
		if !(share > 0 && share <= 1) { // also rejects NaN
			continue
		}
		b.share[tokenOf(word)] = float32(share)
		if b.least = min(b.least, share); len(b.share) == maxBackground {
			break
		}
	}
	if len(b.share) == 0 {
		return nil
	}
	return b
}

// over is the log over-representation of a word on the crawl's pages on topic:
//
//	ln((on + 2 · share) / (all + 2) / share) = ln((on / share + 2) / (all + 2))
//
// on is the sum of the probabilities of the pages with the word, all that of all pages. Two pseudo-pages
// are distributed as pages at large. It is 0 if b is nil.
func (b *Background) over(w token, on, all float32) float64 {
	if b == nil {
		return 0
	}
	return math.Log(onTopic(on, b.of(w))) - atLarge(all)
}

func (b *Background) of(w token) float32 {
	if known, ok := b.share[w]; ok {
		return known
	}
	return float32(b.least * rarer)
}

// onTopic is the word-specific part of over before the logarithm, on / share + 2; 2 for a word that no
// page has.
func onTopic(on, share float32) float64 { return float64(on)/float64(share) + doubt }

// atLarge is the part of over common to all words, ln(all + 2).
func atLarge(all float32) float64 { return math.Log(float64(all) + doubt) }

// startPages corrects the judge by the similarity of a page's words to those of the start pages, which
// the user declares to be on topic. This helps a judge that was trained on few pages of the topic
// (relevance feedback, Rocchio 1971).
//
// The similarity x of a page is the sum of the weights of its words that several start pages have,
// divided by the root of its length. Weights grow with rarity in the crawl. The similarities on and off
// topic are modelled as normal distributions with one variance s², each page weighted by its
// probability. The judge's log-odds then gain the log-likelihood ratio
//
//	(x − (m₁ + m₀) / 2) · (m₁ − m₀) / s²
//
// which is near 0 where similarity does not separate the two.
type startPages struct {
	next    map[uint64]bool  // page.Key of start pages to be scored next → the judge was trained on it
	pages   []startPage      // scored start pages
	having  map[token]uint16 // number of start pages with the word
	on, off moments          // similarity of pages on and off topic
	others  alike            // other scorers' similarities, until as many start pages are known here
}

// startPage is a scored start page.
type startPage struct {
	_       struct{} `cbor:",toarray"`
	Words   []token  `most:"16384"` // distinct
	Judged  float64  // log-odds by the judge
	Trained bool     // the judge was trained on it
	Folder  string   // of its URL
}

type moments struct {
	_                   struct{} `cbor:",toarray"`
	Weight, Sum, Square float64
}

func (m *moments) add(weight, x float64) {
	m.Weight += weight
	m.Sum += weight * x
	m.Square += weight * x * x
}

func (m *moments) plus(o moments) {
	m.Weight += o.Weight
	m.Sum += o.Sum
	m.Square += o.Square
}

func (m *moments) mean() float64 { return m.Sum / m.Weight }

// spread is the sum of squared deviations from the mean.
func (m *moments) spread() float64 { return max(0, m.Square-m.Sum*m.mean()) }

const (
	maxStarts    = 100 // start pages that are used
	similarLeast = 3   // pages on and off topic before similarity counts
	similarMost  = 3   // bound of the shift in log-odds
	similarDoubt = 20  // pseudo-length added to every page
)

func newStartPages() startPages {
	return startPages{next: map[uint64]bool{}, having: map[token]uint16{}}
}

func (s *startPages) add(p startPage) {
	if len(s.pages) >= maxStarts {
		return
	}
	s.pages = append(s.pages, p)
	for _, w := range p.Words {
		s.having[w]++
	}
	s.on, s.off = moments{}, moments{} // earlier similarities were based on fewer start pages
}

// nearStarts is how many start pages a URL's nearness goes by: each new link is compared with all of them.
const nearStarts = 16

// near returns the greatest and the mean nearness of a URL to the start pages' folders.
func (s *startPages) near(url string) (most, mean float32) {
	pages := s.pages[:min(len(s.pages), nearStarts)]
	for i := range pages {
		n := float32(near(url, pages[i].Folder))
		most = max(most, n)
		mean += n / float32(len(pages))
	}
	return most, mean
}

// together is the mean nearness of start pages to each other.
func (s *startPages) together() float64 {
	pages := s.pages[:min(len(s.pages), nearStarts)]
	if len(pages) < 2 {
		return 0
	}
	sum := 0.0
	for i := range pages {
		_, mean := s.near(pages[i].Folder)
		sum += float64(mean)
	}
	return (sum - 1) / float64(len(pages)-1) // each is 1 near to itself
}

// meanJudged is the judge's mean log-odds of the start pages that it was not trained on.
func (s *startPages) meanJudged() float64 {
	sum, n := 0.0, 0.0
	for _, p := range s.pages {
		if !p.Trained {
			sum += p.Judged
			n++
		}
	}
	return sum / max(1, n)
}

// similarity returns how similar words are to the start pages', 0 for not at all. rarity weights a word.
func (s *startPages) similarity(words []token, rarity func(token) float64) float64 {
	if len(s.pages) < 2 { // one page alone does not show which words belong to the topic
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

// shift learns from a page's similarity and returns the correction of its log-odds.
func (s *startPages) shift(similarity, probability float64) float64 {
	s.on.add(probability, similarity)
	s.off.add(1-probability, similarity)
	if min(s.on.Weight, s.off.Weight) < similarLeast {
		return 0
	}
	apart := s.on.mean() - s.off.mean()
	variance := (s.on.spread() + s.off.spread()) / (s.on.Weight + s.off.Weight)
	if apart <= 0 || variance < 1e-9 {
		return 0
	}
	ratio := (similarity - (s.on.mean()+s.off.mean())/2) * apart / variance
	return max(-similarMost, min(similarMost, ratio))
}
