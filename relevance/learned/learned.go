package learned

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"fossick/internal/page"
	"fossick/models/features"
	"fossick/relevance"
)

// Scorer scores a link by the probability that its target is on topic, given all pages seen so far. A
// linkModel turns the target's evidence into features and weights them, and learns from each fetched
// page.
//
// It remembers the most recently linked targets (page.Recent); a forgotten target starts anew. It is
// safe for concurrent use.
type Scorer struct {
	cut     float64 // probability from which a page counts as on topic
	share   float64 // of the topic among the judge's training pages
	texts   *textReader
	works   *features.Spare[linkWork]
	degrees degrees

	mu       sync.Mutex // guards the rest
	links    linkGraph
	model    linkModel
	explorer explorer
	starts   startPages
	history  history
	labels   labels
	sent     *Sums // everything that Learned has returned; nil unless shared

	watch   bool  // keep arrived
	arrived Sight // the last page
}

// Options are the settings of New.
type Options struct {
	Cut        float64             // probability from which a page counts as on topic
	Explore    float64             // share of fetches, in [0,1), spent on targets with little evidence
	Seed       uint64              // of the choice of these targets
	Share      float64             // of the topic among the judge's training pages, in (0,1); 0: unknown
	Seen       float64             // number of the judge's training pages on topic; 0: unknown
	Background *Background         // word frequencies on pages at large; nil: words are weighed by the crawl's pages alone
	WarmStart  *WarmStart          // word counts from the judge's training pages; nil: none
	Scorers    int                 // number of scorers of this crawl, which share the memory; 0 is 1
	Keywords   *relevance.Keywords // K; nil: the judge's probability replaces the share of K on a page
	Rho        float64             // ρ of R, in [0,1)
	Order      *Order              // weights learned offline; nil: those of this build
	Reader     Reader              // judge that also returns words; nil: the scorer tokenises links itself
}

// order returns the weights to use.
func (opt *Options) order() *Order {
	if opt.Order != nil {
		return opt.Order
	}
	o, err := ReadOrder(shippedOrder)
	if err != nil {
		panic(err) // a test reads it
	}
	return o
}

// New returns a scorer for a crawl that has not begun.
func New(judge relevance.Judge, opt Options) *Scorer {
	l := &Scorer{
		cut: opt.Cut, share: opt.Share, texts: newTextReader(judge, opt.Reader),
		works: features.NewSpare(func() *linkWork { return new(linkWork) }),
		links: newLinkGraph(), model: newLinkModel(opt.Background, opt.WarmStart, opt.order(), opt.Seen), explorer: explorer{share: opt.Explore, rng: rand.New(rand.NewPCG(opt.Seed, 0xe91))},
		starts: newStartPages(), history: newHistory(maxPastWords), labels: labels{said: map[uint64]bool{}, pages: map[uint64]*pastPage{}, links: map[uint64]*labelledLink{}, names: map[token]string{}},
		degrees: degrees{keywords: opt.Keywords, rho: opt.Rho, byLang: map[string]*topicWords{}},
	}
	l.divide(opt.Scorers)
	return l
}

// Start announces that ScorePage will next get the start page with this page.Key. trained tells whether
// the judge was trained on it.
func (l *Scorer) Start(key uint64, trained bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.starts.next[key] = trained
}

// ScorePage learns from a fetched page with the classifier's probability and returns its score. A page
// without evidence, such as a start page, teaches about words and hosts but not about links.
func (l *Scorer) ScorePage(p *page.Page, probability float64) relevance.Score {
	r := l.texts.readers.Get()
	defer l.texts.readers.Put(r)
	return l.take(p, probability, r.page(p), nil)
}

// ScoreWords is ScorePage for a page that is already tokenised: words are the tokens, as Words describes,
// of its title, description and text. It modifies words and keeps no reference to it.
func (l *Scorer) ScoreWords(p *page.Page, probability float64, words []uint32, around *Around) relevance.Score {
	r := l.texts.readers.Get()
	words = r.seen.of(words)
	l.texts.readers.Put(r)
	return l.take(p, probability, words, around)
}

// take learns from a page and its distinct words.
func (l *Scorer) take(p *page.Page, probability float64, words []token, around *Around) relevance.Score {
	key, lambda := page.Key(p.URL), l.degrees.lambda(p, words)
	defer l.refitStale() // needed if a label was waiting for this page
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
	probability, past.similar = l.believe(p.URL, key, words, judged)
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
	if past.own = probability; l.labels.fix != nil || len(labelled) > 0 {
		past.own = corrected(inCrawl(past.judged, l.model.base.prior(l.share)), past.similar)
	}
	l.remember(past, p)
	l.model.nextPage()
	if around != nil {
		from.around = l.model.weighAround(around)
	}
	l.explorer.choose(&l.links, l.score)
	score := relevance.Score{Value: judged, Terms: terms, Account: packed, Echo: past.echo > isEcho}
	if l.sent != nil {
		score.Introduction = from.introduction()
	}
	return score
}

// ScoreLinks adds the evidence in p's links to their targets and appends each target's current score to
// dst. probability is that of p.
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

// addLinks adds the evidence in p's links, once per target, and the outcomes of links to fetched pages.
// It returns the probability that p is believed to have.
func (l *Scorer) addLinks(w *linkWork, p *page.Page, probability float64) float64 {
	from := l.links.source(p.URL)
	if p.Excerpt != nil {
		from.introduce(p.Excerpt.Introduction, probability >= l.cut)
	}
	if from.scored {
		probability = float64(from.probability)
	}
	from.probability = float32(probability)
	from.hold(linksOf(p))
	itself, own := page.Key(p.URL), folder(p.URL) // a link to itself is no evidence
	l.links.pagesRead++
	l.model.now = l.links.pagesRead
	l.model.out.links += float64(len(w.keys))
	origin := originOf(p.URL)
	for i := range p.Links {
		if strings.HasPrefix(p.Links[i].URL, origin) {
			l.model.out.within++
		}
	}
	l.findTargets(w, p)
	for i, key := range w.keys {
		if key == itself {
			continue
		}
		if e := w.targets[i]; e == nil {
			if was, done := l.links.fetched.Get(key); done && was.lastPage() != l.links.pagesRead {
				from.setOutcome(w.links[i].at, float64(was.probability))
				l.model.sums.learnOutcome(from, w.links[i].at, float64(was.probability))
				named := was.named()
				if named < maxNamings { // otherwise its history already has enough links
					named = l.history.name(key, from, w.links[i].at)
				}
				l.links.fetched.Set(key, known{was.probability, seenIn(l.links.pagesRead, named)})
			}
		} else if e.lastPage != l.links.pagesRead {
			e.lastPage = l.links.pagesRead
			w.links[i].near = near(p.Links[i].URL, own)
			e.add(&w.links[i], from, probability)
		}
	}
	return probability
}

// findTargets looks up the evidence for p's links, except links to fetched pages.
func (l *Scorer) findTargets(w *linkWork, p *page.Page) {
	for i, key := range w.keys {
		if _, done := l.links.fetched.Get(key); done {
			continue
		}
		e, isNew := l.links.target(key, p.Links[i].URL)
		if isNew {
			e.firstPage = l.links.pagesRead
			e.most, e.mean = l.starts.near(p.Links[i].URL)
			if onTopic, labelled := l.labels.said[key]; labelled {
				e.label = labelOf(onTopic)
			}
			l.explorer.offer(key, p.Links[i].URL)
		}
		w.targets[i] = e
	}
}

// Rescore returns the current score of a queued target, or false if it is unknown.
func (l *Scorer) Rescore(key uint64) (float64, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok := l.links.waiting.Peek(key)
	if !ok {
		return 0, false
	}
	return l.score(e), true
}

// Promise is Rescore by link evidence alone, without exploration and people's labels of the target.
func (l *Scorer) Promise(key uint64) (float64, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok := l.links.waiting.Peek(key)
	if !ok {
		return 0, false
	}
	return l.model.promise(e, l.labels.fix), true
}

// Begun reports whether a page other than a start page was scored.
func (l *Scorer) Begun() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.model.begun
}

// soonest is the priority of explored targets, below the 1 of start pages; highest bounds all other
// priorities.
const (
	soonest = 1 - 1e-6
	highest = 1 - 2e-6
)

// score is the target's probability, or soonest if it is explored. Before the first page beyond the
// start pages it orders by R, see byDegree.
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

// Explain returns the current score of a queued URL or a remembered page with its terms, or false if
// there is none.
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

// unlinkedDoubt is how many pseudo-pages of probability unlinkedPrior a host gets, so that an unknown
// host's sitemap cannot fill the queue.
const (
	unlinkedDoubt = 1
	unlinkedPrior = 0.3
)

// ScoreUnlinked scores a URL without links, such as one from a sitemap, as if a page of its host's mean
// probability linked to it.
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

// base is the crawl's current base rate, the reference of lifts.
type base struct {
	all        record      // pages so far; the fields below are as of the last move
	mean, odds float64     // mean probability of the crawl's pages, and its log-odds
	taught     float32     // pages on topic that a WarmStart contributed
	background *Background // nil: unknown
	atLarge    float64     // part of over common to all words, see Background
}

func newBase(background *Background, start *WarmStart) base {
	b := base{background: background, taught: start.worth()}
	b.move()
	return b
}

func (b *base) move() {
	b.mean = b.all.mean()
	b.odds = logit(b.mean)
	b.atLarge = atLarge(b.all.onTopic + b.taught)
}

// over completes the mean of the word-specific logarithms to a mean over-representation, see Background.
func (b *base) over(onTopic float64) float64 {
	if b.background == nil {
		return 0
	}
	return onTopic - b.atLarge
}

// Names of one kind end alike: Hinduism and Buddhism, biology and zoology. A word that is new to the
// crawl may have a known ending, and stemming would remove it.

const (
	// shortestEnded is the minimum length, in letters, of a word whose ending counts.
	shortestEnded = 5
	// maxEndings bounds the endings per target: those of two words.
	maxEndings = 4
)

// endings appends to dst, up to its capacity, distinct tokens of the last three and last four letters of
// each word of at least five letters.
func endings(dst []token, text string) []token {
	text = features.Head(text, maxAnchor)
	var last [4]rune // ring buffer: letter i is at i % 4
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

// appendEnding appends the FNV-1a hash of the last n letters, without allocating.
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

// Capacities of each of the two halves. Both together hold 184,000 targets of about 185 bytes, half a
// million fetched pages, 130,000 hosts and folders, and 260,000 words.
const (
	maxTargets     = 92_000
	maxFetched     = 1 << 18
	maxPlaces      = 1 << 16
	maxPatterns    = 1 << 14
	maxVocabulary  = 1 << 17
	maxRedirected  = 1 << 12
	maxSourcePages = 1 << 10 // scored pages whose links were not yet scored, at most one per worker
)

// token is the 32-bit hash of a word; among 100,000 words one or two collide.
type token = uint32

// divide reduces the memory for a crawl with several scorers: from three on, all together use as much as
// two.
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
	// sentWords is how many words Learned returns at once: 110 kB when packed.
	sentWords = 5000
	// sentStarts is how many of them may belong to start pages, and maxStartWords bounds the words of
	// one start page.
	sentStarts    = 2500
	maxStartWords = 2000
	// keptWords bounds the words waiting to be sent, and those sent: 5 MB each.
	keptWords = 1 << 16
)

// Share makes the scorer record what it learns, for Learned. ours reports which targets this agent may
// fetch; only these are explored.
func (l *Scorer) Share(ours func(url string) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.model.sums, l.sent = newSums(), newSums()
	l.explorer.ours = ours
	l.links.share()
}

// Learned returns what was learned since the last call, or nil. Words with the least evidence wait for a
// later call if there are too many.
func (l *Scorer) Learned() *Sums {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.model.sums
	if s == nil || s.all.pages == 0 && len(s.words) == 0 && len(s.outcomes) == 0 && len(s.starts) == 0 {
		return nil
	}
	s.outcomes = s.outcomes[max(0, len(s.outcomes)-maxOutcomes):]
	l.model.sums = newSums()
	s.shorten(keptWords, newSums())
	s.shortenStarts(sentStarts, l.model.sums)
	s.shorten(sentWords-s.startWords(), l.model.sums)
	if l.sent.plus(s); len(l.sent.words) > keptWords+keptWords/4 { // with slack, because shorten sorts
		l.sent.shorten(keptWords, newSums())
	}
	return s
}

// Lessons returns everything that Learned ever returned, in parts, for a scorer that joins late. It may drop
// words with the least evidence.
func (l *Scorer) Lessons() (parts []*Sums) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sent == nil || len(l.sent.words) == 0 && l.sent.all.pages == 0 {
		return nil
	}
	for starts := l.sent.starts; len(starts) > 0; {
		part, rest := newSums(), newSums()
		part.starts = starts
		part.shortenStarts(sentStarts, rest)
		parts, starts = append(parts, part), rest.starts
	}
	for words := range slices.Chunk(l.sent.byEvidence(), sentWords) {
		part := newSums()
		for _, t := range words {
			part.words[t] = l.sent.words[t]
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		parts = []*Sums{newSums()}
	}
	last := parts[len(parts)-1] // last, so that the receiver already knows the start pages
	last.all, last.begun, last.precision, last.shift = l.sent.all, l.sent.begun, l.sent.precision, l.sent.shift
	last.alike, last.local = l.sent.alike, l.sent.local
	return parts
}

// Learn adds what another scorer of the crawl has learned. Call it once per Sums.
func (l *Scorer) Learn(s *Sums) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := &l.model
	m.base.all.plus(s.all)
	for _, t := range slices.Sorted(maps.Keys(s.words)) { // fixed order, because the table evicts words
		w, theirs := m.words.words.use(t), s.words[t]
		w.page.plus(theirs.page)
		w.link.plus(theirs.link)
	}
	if s.all.pages > 0 {
		m.weights.merge(s)
	}
	m.begun = m.begun || s.begun
	m.local.merge(s.local, float64(s.all.pages))
	l.links.merge(s.outcomes)
	if l.starts.merge(s) {
		l.learnStarts()
	}
	m.nextPage()
}

// merge adds other scorers' start pages and similarities. It reports whether there were new start pages.
func (s *startPages) merge(theirs *Sums) (more bool) {
	for _, p := range theirs.starts {
		s.add(p)
	}
	if s.others.plus(&theirs.alike); s.others.Starts == len(s.pages) {
		s.on.plus(s.others.On)
		s.off.plus(s.others.Off)
		s.others.On, s.others.Off = moments{}, moments{}
	}
	return len(theirs.starts) > 0
}

func (s *Sums) startWords() (n int) {
	for _, p := range s.starts {
		n += len(p.Words)
	}
	return n
}
