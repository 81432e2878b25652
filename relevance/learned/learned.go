package learned

import (
	"math"
	"slices"
	"strings"
	"sync"

	"fossick/internal/page"
	"fossick/models/features"
	"fossick/relevance"
)

// Scorer scores a link by the probability that its target is on topic, from all
// that the pages seen so far say of the target. What is known of it stands in its
// evidence, of which a linkModel makes features, and weighs them. It learns from each
// fetched page.
//
// It remembers the targets that were spoken of last, see recent; of one that it
// forgot, only later links count. The same pages in the same order give the same
// scores. Safe for concurrent use.
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

// Start says that the page with this page.Key, which ScorePage is called for next, is
// a start page, and whether the judge was trained on it.
func (l *Scorer) Start(key uint64, trained bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.starts.next[key] = trained
}

// ScorePage takes in that p was fetched and turned out to be on topic with the
// probability given. A page without evidence, such as a start page, teaches about
// its words and its host, and nothing about links.
func (l *Scorer) ScorePage(p *page.Page, probability float64) relevance.Score {
	r := l.texts.readers.Get()
	defer l.texts.readers.Put(r)
	return l.take(p, probability, r.page(p), nil)
}

// ScoreWords is ScorePage for a page that was cut into words already: words is what
// Words has of its title, description and text. words is changed, nothing is kept.
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

// ScoreLinks adds what p says of its links' targets and appends the score that
// each target has now. probability is p's.
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

// addLinks takes in what a page says of its links' targets, once for each, and
// what the targets that were fetched before say of the page. It returns how far the page
// is believed.
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

// findTargets finds what is known of the targets of p's links, but of those that were
// fetched.
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

// Rescore returns the present score of a target that waits; false when nothing
// is known of it.
func (l *Scorer) Rescore(key uint64) (float64, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok := l.links.waiting.Peek(key)
	if !ok {
		return 0, false
	}
	return l.score(e), true
}

// Promise is Rescore for what the target's links say alone: neither exploring nor what
// people say of it counts.
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

// soonest is the priority of what is to be fetched before all else: below 1, which is
// that of start pages. Probabilities come below it.
const (
	soonest = 1 - 1e-6
	highest = 1 - 2e-6
)

// score is the probability that a target is on topic, or soonest if it is to be fetched
// because little is known of it. Before the first lesson it is R's order, see byDegree.
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

// Explain returns the present opinion of a URL that waits, or of a page that is
// remembered, with the terms of it; false when there is none.
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

// unlinkedDoubt is how many pages of probability unlinkedPrior a host's own pages
// are counted with: a sitemap of a host nobody knows must not fill the queue.
const (
	unlinkedDoubt = 1
	unlinkedPrior = 0.3
)

// ScoreUnlinked returns the score of a URL that no page links to, such as one
// that only a sitemap names. It is that of a link from a page as good as its
// host's mean so far. It has no words but those of the URL, and lacks the
// weight of having a parent. It keeps nothing: a first link to the URL counts
// as its first.
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
