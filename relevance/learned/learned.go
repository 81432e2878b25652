package learned

import (
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"fossick/internal/page"
	"fossick/models/features"
	"fossick/relevance"
)

// Scorer scores a link by the probability that its target is on topic, from all that the pages seen so
// far say of the target. What is known of it stands in its evidence, of which a linkModel makes
// features, and weighs them. It learns from each fetched page.
//
// It remembers the targets that were spoken of last, see recent; of one that it forgot, only later
// links count. Safe for concurrent use.
type Scorer struct {
	cut     float64 // probability from which a page counts as on topic
	share   float64 // of the topic among the pages that the judge was trained on
	doubt   float64 // of the judge at most, by how many of these it saw
	texts   *textReader
	works   *features.Spare[linkWork]
	degrees degrees

	mu       sync.Mutex // guards the rest
	links    linkGraph
	model    linkModel
	explorer explorer
	starts   startPages
	belief   belief
	history  history
	labels   labels
	told     *Sums // all that Learned has returned; nil where nobody asks
}

// Options are the settings of New.
type Options struct {
	Cut        float64             // probability from which a page counts as on topic
	Explore    float64             // share of the fetches, in [0,1), that go to targets of which little is known
	Seed       uint64              // of the choice of these
	Share      float64             // of the topic among the pages that the judge was trained on, in (0,1); 0: not known
	Seen       float64             // pages on topic that the judge was trained on; 0: not known
	Background *Background         // words on pages at large; nil: only the crawl's pages say what words are worth
	WarmStart  *WarmStart          // what the judge's training pages on topic say of words; nil: nothing
	Scorers    int                 // of one crawl, which divide the memory; 0 is 1
	Keywords   *relevance.Keywords // K; nil: the judge's probability stands for the share of K on a page
	Rho        float64             // ρ of R, in [0,1)
	Reader     Reader              // says what the judge says; nil: the scorer cuts links into words itself
}

// New returns a scorer that knows nothing yet but the judge.
func New(judge relevance.Judge, opt Options) *Scorer {
	l := &Scorer{
		cut: opt.Cut, share: opt.Share, doubt: doubtOf(opt.Seen), texts: newTextReader(judge, opt.Reader),
		works: features.NewSpare(func() *linkWork { return new(linkWork) }),
		links: newLinkGraph(), model: newLinkModel(opt.Background, opt.WarmStart), explorer: newExplorer(opt.Explore, opt.Seed),
		starts: newStartPages(), history: newHistory(maxPastWords), labels: newLabels(),
		degrees: degrees{keywords: opt.Keywords, rho: opt.Rho, byLang: map[string]*topicWords{}},
	}
	l.divide(opt.Scorers)
	l.model.scarce = scarceOf(opt.Seen)
	return l
}

// Start says that the page with this page.Key, which ScorePage is called for next, is a start page, and
// whether the judge was trained on it.
func (l *Scorer) Start(key uint64, trained bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.starts.next[key] = trained
}

// ScorePage takes in that p was fetched and turned out to be on topic with the probability given. A
// page without evidence, such as a start page, teaches about its words and its host, and nothing about
// links.
func (l *Scorer) ScorePage(p *page.Page, probability float64) relevance.Score {
	r := l.texts.readers.Get()
	defer l.texts.readers.Put(r)
	return l.take(p, probability, r.page(p), nil)
}

// ScoreWords is ScorePage for a page that was cut into words already: words is what Words has of its
// title, description and text. words is changed, nothing is kept.
func (l *Scorer) ScoreWords(p *page.Page, probability float64, words []uint32, around *Around) relevance.Score {
	r := l.texts.readers.Get()
	words = r.seen.of(words)
	l.texts.readers.Put(r)
	return l.take(p, probability, words, around)
}

// take learns from a page and its words, each of which comes once.
func (l *Scorer) take(p *page.Page, probability float64, words []token, around *Around) relevance.Score {
	key, lambda := page.Key(p.URL), l.degrees.lambda(p, words)
	defer l.refitStale() // when a label waited for this page
	l.mu.Lock()
	defer l.mu.Unlock()
	past := &pastPage{key: key, url: strings.Clone(p.URL), judged: probability, weight: 1}
	var packed []byte
	terms := []relevance.Term{{Name: "probability", Value: probability, Note: "of the topic, by the model"}}
	probability, labelled := l.labels.opinion(key, words, probability)
	if _, again := l.links.fetched.Get(key); again {
		delete(l.starts.next, key)
		return relevance.Score{Value: probability}
	}
	terms = append(terms, labelled...)
	judged := probability
	_, isStart := l.starts.next[key]
	probability, past.similar = l.believe(key, words, judged)
	past.echo = l.links.yields.echo(p, probability)
	worth, parent := past.worth(probability), float64(l.links.ledBy(key))
	if past.echo > 0 {
		terms = append(terms, relevance.Term{Name: "new", Value: 1 - past.echo, Note: "of it is new compared with the last pages at similar URLs; only this part teaches the crawl"})
	}
	from := &source{key: key, hops: 1, depth: 1, probability: float32(probability), scored: true}
	if e, ok := l.links.waiting.Get(key); ok {
		l.links.waiting.Remove(key)
		l.unlabelLink(key)
		a := l.model.account(e, l.labels.fix)
		packed = a.pack()
		l.model.learn(e, &a.found, worth)
		from.hops = min(e.hops, math.MaxUint8-1) + 1
		from.depth = e.depth
		past.links = slices.Concat(e.words[:e.count], e.endings[:e.ended])
		for i, s := range e.named() {
			past.namedBy(s, e.at[i])
		}
	}
	if judged >= l.cut {
		from.hops = 0
	}
	if isStart {
		from.depth, parent = 0, 1
	} else {
		l.model.begin()
	}
	r, term := l.degrees.degreeOf(lambda, past.judged, parent, isStart)
	from.degree = float32(r)
	terms = append(terms, term)
	l.links.fetched.Put(key, known{float32(worth), seenIn(0, len(past.named))})
	l.links.sources.Put(key, from)
	past.counted = l.model.learnPage(key, words, probability, past.echo)
	past.host, past.folder = l.links.place(page.Host(p.URL)), l.links.place(folder(p.URL))
	past.host.add(worth)
	past.folder.add(worth)
	l.links.yields.of(p.URL).add(worth)
	past.words, past.now, past.source = slices.Clone(words), probability, from
	l.remember(past, p)
	l.model.turn()
	if around != nil {
		from.around = l.model.weighAround(around)
	}
	l.explorer.choose(&l.links, l.score)
	score := relevance.Score{Value: judged, Terms: terms, Account: packed, Echo: past.echo > isEcho}
	if l.told != nil {
		score.Giver = from.introduction()
	}
	return score
}

// ScoreLinks adds what p says of its links' targets and appends the score that each target has now.
// probability is p's.
func (l *Scorer) ScoreLinks(dst []float64, p *page.Page, probability float64) []float64 {
	w := l.works.Get()
	defer l.works.Put(w)
	w.begin(p)
	l.texts.readLinks(w, p, l.around(w, p))
	l.mu.Lock()
	defer l.mu.Unlock()
	onTopic := l.addLinks(w, p, probability)
	promises, itself := record{}, page.Key(p.URL)
	for i, e := range w.targets {
		if e != nil {
			score := l.score(e)
			dst = append(dst, score)
			if !l.model.begun {
				score = l.model.promise(e, l.labels.fix)
			}
			promises.add(score)
			continue
		}
		dst = append(dst, 0)
		if was, done := l.links.fetched.Peek(w.keys[i]); done && w.keys[i] != itself {
			promises.add(float64(was.probability))
		}
	}
	if promises.pages > 0 {
		promise := float64(promises.onTopic / promises.pages)
		l.model.local.add(onTopic, promise)
		l.model.sums.learnLocal(onTopic, promise)
	}
	return dst
}

// addLinks takes in what a page says of its links' targets, once for each, and what the targets that
// were fetched before say of the page. It returns how far the page is believed.
func (l *Scorer) addLinks(w *linkWork, p *page.Page, probability float64) float64 {
	from := l.links.source(p.URL)
	if p.Excerpt != nil {
		from.introduce(p.Excerpt.Giver, probability >= l.cut)
	}
	if from.scored {
		probability = float64(from.probability)
	}
	from.probability = float32(probability)
	from.hold(linksOf(p))
	itself := page.Key(p.URL) // a link to itself says nothing
	l.links.turn++
	l.findTargets(w, p)
	for i, key := range w.keys {
		if key == itself {
			continue
		}
		if e := w.targets[i]; e == nil {
			if was, done := l.links.fetched.Get(key); done && was.turn() != l.links.turn {
				from.turned(w.links[i].at, float64(was.probability))
				l.model.sums.learnTurn(from, w.links[i].at, float64(was.probability))
				named := was.named()
				if named < maxNamings { // else its history has enough, and need not be asked
					named = l.history.name(key, from, w.links[i].at)
				}
				l.links.fetched.Update(key, known{was.probability, seenIn(l.links.turn, named)})
			}
		} else if e.turn != l.links.turn {
			e.turn = l.links.turn
			e.add(&w.links[i], from, probability)
		}
	}
	return probability
}

// findTargets finds what is known of the targets of p's links, but of those that were fetched.
func (l *Scorer) findTargets(w *linkWork, p *page.Page) {
	for i, key := range w.keys {
		if _, done := l.links.fetched.Get(key); done {
			continue
		}
		e, isNew := l.links.target(key, p.Links[i].URL)
		if isNew {
			if onTopic, labelled := l.labels.said[key]; labelled {
				e.label = labelOf(onTopic)
			}
			l.explorer.offer(key, p.Links[i].URL)
		}
		w.targets[i] = e
	}
}

// Rescore returns the present score of a target that waits; false when nothing is known of it.
func (l *Scorer) Rescore(key uint64) (float64, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok := l.links.waiting.Peek(key)
	if !ok {
		return 0, false
	}
	return l.score(e), true
}

// Promise is Rescore for what the target's links say alone: neither exploring nor what people say of it
// counts.
func (l *Scorer) Promise(key uint64) (float64, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok := l.links.waiting.Peek(key)
	if !ok {
		return 0, false
	}
	return l.model.promise(e, l.labels.fix), true
}

// Begun says whether the scorer has had its first lesson, a page that is no start page.
func (l *Scorer) Begun() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.model.begun
}

// soonest is the priority of what is to be fetched before all else: below 1, which is that of start
// pages. Probabilities come below it.
const (
	soonest = 1 - 1e-6
	highest = 1 - 2e-6
)

// score is the probability that a target is on topic, or soonest if it is to be fetched because little
// is known of it. Before the first lesson it is R's order, see byDegree.
func (l *Scorer) score(e *evidence) float64 {
	switch {
	case e.label == labelledOff:
		return 0
	case e.label == labelledOn:
		return 1 // as a start page: the user wants it
	case !l.model.begun:
		return byDegree(float64(e.degree), l.model.promise(e, l.labels.fix), l.degrees.step())
	case e.explored:
		return soonest
	}
	return l.model.promise(e, l.labels.fix)
}

// Explain returns the present opinion of a URL that waits, or of a page that is remembered, with the
// terms of it; false when there is none.
func (l *Scorer) Explain(url string) (relevance.Score, bool) {
	key := page.Key(url)
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.links.waiting.Peek(key); ok {
		return relevance.Score{Value: l.score(e), Terms: l.model.account(e, l.labels.fix).terms()}, true
	}
	p := l.labels.pages[key]
	if p == nil {
		p = l.history.find(key)
	}
	if p == nil {
		return relevance.Score{}, false
	}
	value, terms := l.labels.opinion(key, p.words, p.judged)
	return relevance.Score{Value: value, Terms: append([]relevance.Term{{Name: "probability", Value: p.judged, Note: "of the topic, by the model"}}, terms...)}, true
}

// unlinkedDoubt is how many pages of probability unlinkedPrior a host's own pages are counted with: a
// sitemap of a host nobody knows must not fill the queue.
const (
	unlinkedDoubt = 1
	unlinkedPrior = 0.3
)

// ScoreUnlinked returns the score of a URL that no page links to, such as one that only a sitemap
// names. It is that of a link from a page as good as its host's mean so far.
func (l *Scorer) ScoreUnlinked(url string) float64 {
	e := l.texts.unlinked(url)
	l.mu.Lock()
	defer l.mu.Unlock()
	e.host, e.folder, e.sources[0] = l.links.place(page.Host(url)), l.links.place(folder(url)), &source{}
	mean := (float64(e.host.onTopic) + unlinkedPrior*unlinkedDoubt) / (float64(e.host.pages) + unlinkedDoubt)
	e.prob = extreme{float32(mean), float32(mean)}
	var x featureVector
	l.model.features(&x, &e, l.labels.fix)
	x[featOnTopic] = 0
	promise := l.model.weights.probability(&x)
	if !l.model.begun {
		return byDegree(0, promise, l.degrees.step())
	}
	return promise
}

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

// over is by how much more often words stand on the crawl's pages on topic than on pages at large, see
// Background; onTopic is the mean of the logarithms of their own part of it.
func (b *base) over(onTopic float64) float64 {
	if b.background == nil {
		return 0
	}
	return onTopic - b.atLarge
}

// A judge that saw next to nothing of a topic cannot tell its parts apart. What it says of a link's
// words foretells what it will say of the page, not what the page is. Where pages on topic link to each
// other, links then go by where they come from: by the best page that has one, and by the distance from
// the start pages. Their words count less.
const (
	// scarce is how many training pages on topic leave a judge half blind. The square of their number
	// counts: with five it misses parts of a topic, with ten few.
	scarce = 4
	// Nothing of this holds where links of pages on topic promise blindFrom, all of it where they
	// promise blindTo; or did once. What they promise falls when the topic's links are used up, and as
	// such a judge does not know the parts that a crawl comes to.
	blindFrom = 0.4
	blindTo   = 0.7
	// blindWords is what is taken from the signs of words.
	blindWords = 0.8
	// boundKin bounds the log-odds of a page that links.
	boundKin = 6
)

// scarceOf is how little a judge saw of a topic, in [0,1], that was trained on so many of its pages; 0
// where that is not known.
func scarceOf(seen float64) float64 {
	if seen <= 0 {
		return 0
	}
	return scarce * scarce / (scarce*scarce + seen*seen)
}

// ofWords are the features of the words of links and around them.
var ofWords = [...]int{
	featBestAnchor, featMeanAnchor, featBestContext, featMeanContext, featWord, featMeanWord, featLinkWord, featOver, featAround, featEnding,
}

// blind takes from what words say, and adds what the best page that links here says, as far as the
// judge is blind, in [0,1].
func (x *featureVector) blind(far, best float64) {
	for _, i := range ofWords {
		x[i] *= 1 - blindWords*far
	}
	x[featKin] = far * max(-boundKin, min(boundKin, logit(inside(best))))
}

// Names of a kind end alike: Hinduism and Buddhism, Stegosaurus and Allosaurus, biology and zoology,
// Westbank and Citibank. A word that no link has had yet has an ending that many have had, and stems
// are cut where it begins.

const (
	// shortestEnded is how many letters a word has whose ending counts.
	shortestEnded = 5
	// maxEndings bounds the endings of a target: those of two words.
	maxEndings = 4
)

// endings appends to dst, up to its capacity, tokens for the last three and the last four letters of
// words of a link's text. Words have five letters at least; each token comes once.
func endings(dst []token, text string) []token {
	text = features.Head(text, maxAnchor)
	var last [4]rune // of the word, the latest in place (letters-1) % 4
	letters := 0
	for at := 0; at <= len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		at += max(1, size)
		if unicode.IsLetter(r) {
			last[letters%4] = unicode.ToLower(r)
			letters++
			continue
		}
		if letters >= shortestEnded {
			dst = appendEnding(dst, &last, letters, 3)
			dst = appendEnding(dst, &last, letters, 4)
		}
		letters = 0
	}
	return dst
}

// appendEnding appends the token of the last n letters, by FNV-1a: the same in every run, and nothing
// is allocated for it.
func appendEnding(dst []token, last *[4]rune, letters, n int) []token {
	if len(dst) == cap(dst) {
		return dst
	}
	h := uint32(2166136261)
	for i := letters - n; i < letters; i++ {
		h = (h ^ uint32(last[i%4])) * 16777619
	}
	h = (h ^ uint32(n)) * 16777619
	for _, known := range dst {
		if known == h {
			return dst
		}
	}
	return append(dst, h)
}

// What is remembered, in each half: 184,000 targets of about 185 bytes in both, half a million fetched
// pages. And 130,000 hosts and folders, 260,000 words of pages and as many of links.
const (
	maxTargets     = 92_000
	maxFetched     = 1 << 18
	maxPlaces      = 1 << 16
	maxPatterns    = 1 << 14
	maxVocabulary  = 1 << 17
	maxRedirected  = 1 << 12
	maxSourcePages = 1 << 10 // pages scored whose links were not, one a worker at most
)

// token is a word of a link or a page, as a number: of 2^32, so that among 100,000 words one or two
// share one.
type token = uint32

// divide bounds what is remembered where so many scorers are of one crawl: from three on, all together
// remember as much as two.
func (l *Scorer) divide(scorers int) {
	part := (scorers + 1) / 2
	if part <= 1 {
		return
	}
	l.links.waiting, l.links.fetched, l.links.places = page.NewRecent[*evidence](maxTargets/part), page.NewRecent[known](maxFetched/part), page.NewRecent[*record](maxPlaces/part)
	l.links.yields = newYields(maxPatterns / part)
	l.model.words.words.limit = maxVocabulary / part
	l.history.limit = maxPastWords / part
}

const (
	// toldWords is how many words Learned tells of at once: sums are packed in 110 kB then.
	toldWords = 5000
	// toldStarts is how many of these may be start pages' words, and maxStartWords what is told of one
	// of them.
	toldStarts    = 2500
	maxStartWords = 2000
	// keptWords bounds the words that wait to be told, and those that were: 5 MB each.
	keptWords = 1 << 16
)

// Share has the scorer note what it learns from now on, for Learned. ours says which targets may be
// fetched here: only these are explored.
func (l *Scorer) Share(ours func(url string) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.model.sums, l.told = newSums(), newSums()
	l.explorer.ours = ours
	l.links.share()
}

// Learned returns what was learned since the last time; nil when that is nothing. Of many words those
// with the least evidence are left for the next time.
func (l *Scorer) Learned() *Sums {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.model.sums
	if s == nil || s.all.pages == 0 && len(s.words) == 0 && len(s.turns) == 0 && len(s.starts) == 0 {
		return nil
	}
	s.turns = s.turns[max(0, len(s.turns)-maxTurns):]
	l.model.sums = newSums()
	s.shorten(keptWords, newSums())
	s.shortenStarts(toldStarts, l.model.sums)
	s.shorten(toldWords-s.startWords(), l.model.sums)
	if l.told.plus(s); len(l.told.words) > keptWords+keptWords/4 { // not each time, as that sorts them
		l.told.shorten(keptWords, newSums())
	}
	return s
}

// Told returns all that Learned ever has, in parts, for who has heard nothing yet. Of very many words
// those with the least evidence are left out.
func (l *Scorer) Told() (parts []*Sums) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.told == nil || len(l.told.words) == 0 && l.told.all.pages == 0 {
		return nil
	}
	for starts := l.told.starts; len(starts) > 0; {
		part, rest := newSums(), newSums()
		part.starts = starts
		part.shortenStarts(toldStarts, rest)
		parts, starts = append(parts, part), rest.starts
	}
	for words := range slices.Chunk(l.told.byEvidence(), toldWords) {
		part := newSums()
		for _, t := range words {
			part.words[t] = l.told.words[t]
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		parts = []*Sums{newSums()}
	}
	last := parts[len(parts)-1] // as the start pages are known by then
	last.all, last.begun, last.precision, last.shift = l.told.all, l.told.begun, l.told.precision, l.told.shift
	last.alike, last.local = l.told.alike, l.told.local
	return parts
}

// Hear takes in what another scorer of the same crawl has learned. Each of its Sums must be heard once.
func (l *Scorer) Hear(s *Sums) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := &l.model
	m.base.all.plus(s.all)
	for _, t := range slices.Sorted(maps.Keys(s.words)) { // in one order, as words forget each other
		w, heard := m.words.words.use(t), s.words[t]
		w.page.plus(heard.page)
		w.link.plus(heard.link)
	}
	if s.all.pages > 0 {
		m.weights.hear(s)
	}
	m.begun = m.begun || s.begun
	m.local.hear(s.local, float64(s.all.pages))
	l.links.hear(s.turns)
	if l.starts.hear(s) {
		l.setBelief(newBelief(&l.starts, m.base.background, l.share, l.doubt))
	}
	m.turn()
}

// hear takes in others' start pages, and how near their pages were to these. It says whether there were
// new ones.
func (s *startPages) hear(told *Sums) (more bool) {
	for _, p := range told.starts {
		s.add(p)
	}
	if s.heard.plus(&told.alike); s.heard.starts == len(s.pages) {
		s.on.plus(s.heard.on)
		s.off.plus(s.heard.off)
		s.heard.on, s.heard.off = moments{}, moments{}
	}
	return len(told.starts) > 0
}

// startWords is how many words its start pages have.
func (s *Sums) startWords() (n int) {
	for _, p := range s.starts {
		n += len(p.words)
	}
	return n
}
