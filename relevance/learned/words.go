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

// wordTable finds what the crawl so far says of a word. It does what a map does in a third of the
// memory. Like recent it keeps what was used last: when the young half is full it becomes the old one,
// whose words move when they are used, or are given up.
//
// Slots are tried one after the other, and at most half of them are in use.
type wordTable struct {
	young, old []word // each a power of two long
	n          int    // words in young
	limit      int    // of each half
	seed       uint64 // by chance, so that no page can be made of words for one slot
}

// word is what is known of a word. A pointer to one is valid until the table's next use.
type word struct {
	token token   // 0 of an empty slot
	share float32 // of pages at large, as Background has it; 0 is not asked for yet
	page  record  // the pages that the word was on
	link  record  // the pages that links with the word led to
}

// onTopic is the word's own part of how much more often it stands on pages on topic than at large, see
// Background.
func (w *word) onTopic(b *base) float64 {
	switch {
	case b.background == nil || w.page.onTopic == 0: // whatever its share
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

// find returns a word, one without pages when it is not known. It does not count as its use.
func (t *wordTable) find(w token) *word {
	if found := &t.young[t.slot(t.young, w)]; found.token != 0 {
		return found
	}
	return &t.old[t.slot(t.old, w)]
}

// use returns a word, of which nothing is known yet if it is new, to which the caller then adds a page.
func (t *wordTable) use(w token) *word {
	i := t.slot(t.young, w)
	if t.young[i].token == 0 {
		i = t.enter(w, i)
	}
	return &t.young[i]
}

// enter makes room for a word that is not in the young half, where its slot would be i, and returns its
// slot there.
func (t *wordTable) enter(w token, i int) int {
	known := t.old[t.slot(t.old, w)] // the copy that stays behind is never found again
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

// grow makes room for four times as many words, and moves fewer in all than by twos.
func (t *wordTable) grow() {
	small := t.young
	t.young = make([]word, 4*len(small))
	for _, w := range small {
		if w.token != 0 {
			t.young[t.slot(t.young, w.token)] = w
		}
	}
}

// slot returns the number of the slot where a word is, or would be. No word is 0: what should be is
// taken for 1.
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

// textReader finds out what the texts of links say, by the judge and by their words. Safe for
// concurrent use.
type textReader struct {
	judge   relevance.Judge
	reader  Reader  // nil where nobody cuts for both
	silence float64 // log-odds of a text without words, by the judge
	readers *features.Spare[wordReader]
}

func newTextReader(judge relevance.Judge, reader Reader) *textReader {
	return &textReader{
		judge: judge, reader: reader, silence: logit(inside(judge(features.Doc{}))),
		readers: features.NewSpare(newWordReader),
	}
}

// above is by how much a text changes the judge's mind: the log-odds of what it says of the text, above
// those of a text without words. The judge of a small topic says no to four words that it does not
// know, and surely.
func (t *textReader) above(probability float64) float64 {
	const most = 4
	return max(-most, min(most, logit(inside(probability))-t.silence))
}

// readLinks fills w with what the links of p say, where it is wanted, and where they stand.
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

// read finds out what a link says.
func (t *textReader) read(r *wordReader, link *page.Link, lang string) linkText {
	s := linkText{anchor: t.above(t.readAnchor(r, link, lang))}
	s.count = uint8(r.link(s.words[:], lang, link))
	s.ended = uint8(len(endings(s.endings[:0], link.Anchor)))
	return s
}

// readAnchor judges a link's text as a title, with the target's URL, and has r find its words.
func (t *textReader) readAnchor(r *wordReader, link *page.Link, lang string) (probability float64) {
	d := features.Doc{Title: link.Anchor, URL: link.URL, Lang: lang}
	if t.reader == nil || len(link.Anchor) > maxAnchor {
		r.anchor(link.Anchor, lang)
		return t.judge(d)
	}
	probability, r.found = t.reader(d, r.found[:0])
	return probability
}

// around reads the words around the links of p that are wanted.
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

// unlinked is evidence of a URL's own words, as if one page had named it by these.
func (t *textReader) unlinked(url string) evidence {
	r := t.readers.Get()
	defer t.readers.Put(r)
	words := float32(t.above(t.judge(features.Doc{URL: url})))
	e := evidence{text: true, parents: 1, anchor: extreme{words, words}}
	r.found = r.found[:0]
	e.count = uint8(r.link(e.words[:], "", &page.Link{URL: url}))
	return e
}

// Reader is a Judge that gives the words of a text as well, both from one cut. It appends to words what
// Words has of the text's title, description and text.
type Reader func(d features.Doc, words []uint32) (probability float64, read []uint32)

// Words says how a scorer that learns words reads them, for who cuts texts for both.
func Words() features.Also {
	return features.Also{Analyzer: wordOptions, Number: tokenOf, TextBytes: maxPageText}
}

var wordOptions = features.AnalyzerOptions{Numbers: features.NumbersKeep}

func tokenOf(term string) token { return token(page.Key(term)) }

const (
	// maxPageText is how many bytes of a page's text are read: it says first what it is about, and more
	// words of long pages cost more than they tell.
	maxPageText = 16 << 10
	maxAnchor   = 256 // bytes of a link's text, and of the last part of its URL
)

// wordReader cuts texts into words where nobody did for it. It serves one goroutine.
type wordReader struct {
	tokens *features.Tokens[token]
	found  []token
	seen   distinct
}

func newWordReader() *wordReader {
	return &wordReader{tokens: features.NewTokens(wordOptions, tokenOf), seen: newDistinct()}
}

// page returns the words of p, each once; they are valid until the next call.
func (r *wordReader) page(p *page.Page) []token {
	r.found = r.found[:0]
	for _, text := range []string{p.Title, p.Description, features.Head(p.Text, maxPageText)} {
		r.found = r.tokens.Append(r.found, text, p.Lang)
	}
	return r.seen.of(r.found)
}

// link fills dst with words of a link, first those of its text, which r found, then of the last part of
// its URL, and returns their number.
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

// anchor has r find the words of a link's text.
func (r *wordReader) anchor(text, lang string) {
	r.found = r.tokens.Append(r.found[:0], features.Head(text, maxAnchor), lang)
}

// lastPart returns the last part of a URL's path that isn't empty, else its host, with spaces between
// words.
func lastPart(address string) string {
	path, _, _ := strings.Cut(address, "?")
	path = strings.TrimRight(path, "/")
	part := path[strings.LastIndexByte(path, '/')+1:]
	if plain, err := url.PathUnescape(part); err == nil {
		part = plain // else it isn't escaped, or wrongly: read it as it stands
	}
	return betweenWords.Replace(features.Head(part, maxAnchor))
}

var betweenWords = strings.NewReplacer("_", " ", "-", " ", ".", " ", "+", " ")

// Around is what one cut of a page says of the words around each of its links; of none where they are
// of no use.
type Around struct {
	Wanted []bool    // of each link, see Scorer.Wanted
	Judged []float64 // how far they are on topic, by the judge
	Words  []uint32  // what Words has of them, one link's after the other's
	Ends   []int     // where each link's words end
}

// surroundings are the words around one link as a scorer has them. A name says what a target is called;
// they say what is said of it, and there are more of them.
type surroundings struct {
	wanted bool    // else nothing was read
	judged float64 // probability, by the judge
	over   float64 // how much more often they stand on pages on topic than at large: the mean, see Background
}

// around returns the surroundings of p's links: those that came with the page, which are given once,
// since its source may live for long, or else read now.
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

// aroundKnown returns the surroundings that came with the page, else which links' are of use.
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

// Wanted appends to dst, for each link of p, whether the scorer has a use for its words and those
// around it. It has while the target waits and fewer than maxTexts pages have named it.
func (l *Scorer) Wanted(dst []bool, p *page.Page) []bool {
	w := l.works.Get()
	defer l.works.Put(w)
	w.name(p)
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.links.wanted(dst, w.keys)
}

// vocabulary says what words are worth in this crawl. A word occurs in pages, or in links that were
// followed; it keeps how many pages there were and how far they were on topic. It keeps the words that
// were used last. Two words in 2^32 may share a token; the analyzer makes one term of a word's forms,
// and words of scripts that do not space them.
type vocabulary struct{ words wordTable }

func newVocabulary() vocabulary { return vocabulary{newWordTable(maxVocabulary)} }

// learnPage takes in that these words, each given once, were on a page.
func (v *vocabulary) learnPage(words []token, probability, weight float64) {
	pages, onTopic := float32(weight), float32(weight*probability)
	for _, w := range words {
		r := &v.words.use(w).page
		r.pages += pages
		r.onTopic += onTopic
	}
}

// learnLink takes in that these words, each given once, were in links to a page.
func (v *vocabulary) learnLink(words []token, probability float64) {
	for _, w := range words {
		v.words.use(w).link.add(probability)
	}
}

// worth is what the words of a target say of it: lifts are 0 for a new word.
type worth struct {
	mean, most float64 // lift on pages
	inLinks    float64 // mean lift in links
	over       float64 // mean, see Background
}

// ended is the mean lift of some endings in links; 0 for a new one.
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

// worth says what some words are worth.
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

// over is by how much more often some words stand on the crawl's pages on topic than on pages at large,
// in the mean; 0 without words.
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

// Background says on what share of pages at large a word stands, as the page classifier saw it on its
// training pages. A crawl that goes well sees pages on topic and hardly any other. So by its own pages
// alone "Japan" and "fern" are both words of pages about plants; beside pages at large only the second
// is. It is read-only, and so may be shared by crawls.
type Background struct {
	share map[token]float32
	least float64 // the smallest share
}

// rarer is how much rarer than the rarest word that is known one is that is not: a page classifier
// leaves out words that few of its pages have.
const rarer = 1. / 8

// maxBackground bounds the words that are taken in, and so the memory to some 4 MiB.
const maxBackground = 1 << 17

// NewBackground takes in words, as Words has them, each with the share of pages that have it, in (0,1].
// Others are passed over, and of more than 131,072 words the first count. It returns nil when there is
// none.
func NewBackground(shares iter.Seq2[string, float64]) *Background {
	b := &Background{map[token]float32{}, 1}
	for word, share := range shares {
		if !(share > 0 && share <= 1) { // or not a number
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

// over is by how much more often a word stands on the crawl's pages on topic than on pages at large, as
// a logarithm:
//
//	ln((on + 2 · share) / (all + 2) / share) = ln((on / share + 2) / (all + 2))
//
// on is the sum of the probabilities of the pages that have the word, all that of all pages; two pages
// of doubt are like pages at large. It is 0 where b is nil.
func (b *Background) over(w token, on, all float32) float64 {
	if b == nil {
		return 0
	}
	return math.Log(onTopic(on, b.of(w))) - atLarge(all)
}

// of returns the share of pages at large that have a word.
func (b *Background) of(w token) float32 {
	if known, ok := b.share[w]; ok {
		return known
	}
	return float32(b.least * rarer)
}

// onTopic is the word's own part of over, of which the logarithm is to be taken: on / share + 2. It is
// 2 for a word that no page has.
func onTopic(on, share float32) float64 { return float64(on)/float64(share) + doubt }

// atLarge is the part that all words have, ln(all + 2).
func atLarge(all float32) float64 { return math.Log(float64(all) + doubt) }

// startPages says how near a page's words are to those of the start pages, and corrects the judge by
// it. Start pages are on topic because the user says so. A judge that was trained on few pages of the
// topic does better with ten more (relevance feedback, Rocchio 1971).
//
// The similarity of a page is the sum of the weights of those of its words that several start pages
// have, over the root of its length. A weight goes by rarity in the crawl so far. The judge says which
// similarity pages on topic and off topic have, each page counted with its probability. Were both
// normal with one variance, then the log-likelihood ratio of a page would be
//
//	(x − (m₁ + m₀) / 2) · (m₁ − m₀) / s²
//
// and that is what is added to the judge's log-odds. Where similarity does not tell the two apart, m₁
// is near m₀ and nothing is added.
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

// similarity returns how near words are to the start pages', 0 for not at all. rarity returns the
// weight of a word.
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
