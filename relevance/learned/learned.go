package learned

import (
	"math"
	"slices"
	"sync"

	"fossick/features"
	"fossick/internal/recent"
	"fossick/page"
	"fossick/relevance"
)

// Scorer scores a link by the probability that its target is on topic, from all
// that the pages seen so far say of the target. What is known of it stands in its
// evidence, which gives the numbers of parts.go; a logistic model weighs these. The
// model begins with the weights of prior and learns from each fetched page, and so
// do two vocabularies, which say what a word is worth in this crawl: on a page, and
// in a link.
//
// It remembers the targets that were spoken of last, see recent; of one that it
// forgot, only later links count. The same pages in the same order give the same
// scores. Safe for concurrent use.
type Scorer struct {
	judge   relevance.Judge
	reader  Reader  // nil where nobody cuts for both
	cut     float64 // probability from which a page counts as on topic
	share   float64 // of the topic among the pages that the judge was trained on
	silence float64 // log-odds of a text without words, by the judge
	readers *features.Spare[wordReader]
	works   *features.Spare[linkWork]

	mu         sync.Mutex            // guards the rest
	evidence   recent.Map[*evidence] // by page.Key of targets that were not fetched yet
	fetched    recent.Map[known]     // by page.Key
	turn       uint32                // pages whose links were heard
	touched    uint32                // so that fetching is not left out
	expected   []*evidence           // room for Expect
	sources    recent.Map[*source]   // by page.Key of pages whose links come next
	places     recent.Map[*place]    // hosts and folders, by page.Key
	all        record                // the crawl
	base       base                  // of it
	vocabulary vocabulary
	model      logistic
	explorer   explorer
	history    history
	marks      *marks
	kin        kin
	starts     map[uint64]bool // by page.Key, start pages that are scored next

	sayings sayings // of links
}

// known is a fetched page as a target of links. There are half a million.
type known struct {
	told  float32 // its probability, as its links were told
	heard uint32  // see turn and named
}

// turn is that of the page that named it last, so that a page counts once.
func (k known) turn() uint32 { return k.heard / (maxNamings + 1) }

// named is how many links to it its history has.
func (k known) named() int { return int(k.heard % (maxNamings + 1)) }

// heardIn makes a known's heard.
func heardIn(turn uint32, named int) uint32 { return turn*(maxNamings+1) + uint32(named) }

// Options are the settings of New.
type Options struct {
	Cut        float64     // probability from which a page counts as on topic
	Explore    float64     // share of the fetches, in [0,1), that go to targets of which little is known
	Seed       uint64      // of the choice of these
	Share      float64     // of the topic among the pages that the judge was trained on, in (0,1); 0: not known
	Background *Background // words on pages at large; nil: only the crawl's pages say what words are worth
	Lesson     *Lesson     // what the judge's training pages on topic say of words; nil: nothing
	Reader     Reader      // says what the judge says; nil: the scorer cuts links into words itself
}

// New returns a scorer that knows nothing yet but the judge.
func New(judge relevance.Judge, opt Options) *Scorer {
	l := &Scorer{
		judge: judge, reader: opt.Reader, cut: opt.Cut, share: opt.Share, silence: logit(inside(judge(features.Doc{}))), readers: features.NewSpare(newWordReader),
		works:    features.NewSpare(func() *linkWork { return new(linkWork) }),
		evidence: recent.New[*evidence](maxTargets), fetched: recent.New[known](maxFetched),
		sources: recent.New[*source](maxSourcePages), places: recent.New[*place](maxPlaces),
		base: newBase(opt.Background, opt.Lesson), vocabulary: newVocabulary(),
		model: newLogistic(opt.Background != nil, opt.Lesson != nil), explorer: newExplorer(opt.Explore, opt.Seed),
		history: newHistory(maxPastWords), marks: newMarks(),
		kin: newKin(), starts: map[uint64]bool{}, sayings: newSayings(),
	}
	l.vocabulary.take(opt.Lesson)
	return l
}

// ScorePage takes in that p was fetched and turned out to be on topic with the
// probability given. A page without evidence, such as a start page, teaches about
// its words and its host, and nothing about links.
func (l *Scorer) ScorePage(p *page.Page, probability float64) relevance.Score {
	r := l.readers.Get()
	defer l.readers.Put(r)
	return l.take(p, probability, r.page(p), nil)
}

// ScoreWords is ScorePage for a page that was cut into words already: words is what
// Words has of its title, description and text. words is changed, nothing is kept.
func (l *Scorer) ScoreWords(p *page.Page, probability float64, words []uint32, around *Around) relevance.Score {
	r := l.readers.Get()
	words = r.seen.of(words)
	l.readers.Put(r)
	return l.take(p, probability, words, around)
}

// take learns from a page and its words, each of which comes once.
func (l *Scorer) take(p *page.Page, probability float64, words []token, around *Around) relevance.Score {
	key := page.Key(p.URL)
	defer l.refitStale() // when a mark waited for this page
	l.mu.Lock()
	defer l.mu.Unlock()
	past := &pastPage{key: key, judged: probability, weight: 1}
	var packed []byte
	terms := []relevance.Term{{Name: "probability", Value: probability, Note: "of the topic, by the model"}}
	probability, marked := l.opinion(key, words, probability)
	if _, again := l.fetched.Get(key); again {
		delete(l.starts, key)
		return relevance.Score{Value: probability}
	}
	terms = append(terms, marked...)
	judged := probability
	probability, past.kin = l.believe(key, words, judged)
	from := &source{hops: 1, told: float32(probability), scored: true}
	if e, ok := l.evidence.Get(key); ok {
		l.evidence.Remove(key)
		a := l.account(e)
		packed = a.pack()
		l.learn(e, &a.found, probability)
		from.hops = min(e.hops, math.MaxUint8-1) + 1
		past.links = slices.Concat(e.words[:e.count], e.endings[:e.ended])
		for i, s := range e.named() {
			past.namedBy(s, e.at[i])
		}
	}
	if judged >= l.cut {
		from.hops = 0
	}
	l.fetched.Put(key, known{float32(probability), heardIn(0, len(past.named))})
	l.sources.Put(key, from)
	if past.counted = l.counts(key, probability); past.counted > 0 {
		l.vocabulary.learnPage(words, probability, past.counted)
	}
	l.all.add(probability)
	past.host, past.folder = l.place(page.Host(p.URL)), l.place(folder(p.URL))
	past.host.add(probability)
	past.folder.add(probability)
	past.words, past.now, past.source = slices.Clone(words), probability, from
	l.fetchedNow(past, p)
	l.base.move(&l.all)
	l.model.age(float64(l.all.pages))
	if around != nil {
		from.around = l.weighAround(around)
	}
	l.explore()
	return relevance.Score{Value: judged, Terms: terms, Account: packed}
}

// learn takes in what the evidence of a target, and what was found in it, was worth: for
// the weights, for the words of its links, and for the pages that named it.
func (l *Scorer) learn(e *evidence, found *[parts]float64, probability float64) {
	l.model.learn(*found, probability)
	l.vocabulary.learnLink(e.words[:e.count], probability)
	l.vocabulary.learnLink(e.endings[:e.ended], probability)
	for i, s := range e.named() {
		s.turned(e.at[i], probability)
	}
}

// ScoreLinks adds what p says of its links' targets and appends the score that
// each target has now. probability is p's.
func (l *Scorer) ScoreLinks(dst []float64, p *page.Page, probability float64) []float64 {
	w := l.works.Get()
	defer l.works.Put(w)
	w.begin(p)
	around := l.around(w, p)
	l.listen(w, p, around)
	l.hear(w, p, around)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hearAll(w, p, probability)
	l.fetch(w.targets)
	for _, e := range w.targets {
		if e == nil {
			dst = append(dst, 0)
		} else {
			dst = append(dst, l.score(e))
		}
	}
	return dst
}

// findTargets finds what is known of the targets of p's links, but of those that were
// fetched. It asks for all before anybody waits for one to come from memory.
func (l *Scorer) findTargets(w *linkWork, p *page.Page) {
	for i, key := range w.keys {
		if _, done := l.fetched.Get(key); !done {
			w.targets[i] = l.target(key, p.Links[i].URL)
		}
	}
	l.touched += touchAll(w.targets)
}

// hearAll takes in what a page says of its links' targets, one voice for each, and
// what the targets that were fetched before say of the page.
func (l *Scorer) hearAll(w *linkWork, p *page.Page, probability float64) {
	from := l.source(p.URL)
	if from.scored {
		probability = float64(from.told)
	}
	from.told = float32(probability)
	from.turns = make([]uint8, min(len(p.Links), maxPlace+1))
	itself := page.Key(p.URL) // a link to itself says nothing
	l.turn++
	l.findTargets(w, p)
	for i, key := range w.keys {
		if key == itself {
			continue
		}
		if e := w.targets[i]; e == nil {
			if was, done := l.fetched.Get(key); done && was.turn() != l.turn {
				from.turned(w.told[i].at, float64(was.told))
				named := was.named()
				if named < maxNamings { // else its history has enough, and need not be asked
					named = l.history.name(key, from, w.told[i].at)
				}
				l.fetched.Update(key, known{was.told, heardIn(l.turn, named)})
			}
		} else if e.turn != l.turn {
			e.turn = l.turn
			e.add(&w.told[i], from, probability)
		}
	}
}

// source returns what the page is as a giver of links.
func (l *Scorer) source(url string) *source {
	key := page.Key(url)
	s, ok := l.sources.Get(key)
	if !ok {
		return &source{hops: 1}
	}
	l.sources.Remove(key)
	return s
}

// target returns the evidence of a URL, new if there is none.
func (l *Scorer) target(key uint64, url string) *evidence {
	e, ok := l.evidence.Get(key)
	if !ok {
		e = &evidence{host: l.place(page.Host(url)), folder: l.place(folder(url))}
		if onTopic, marked := l.marks.said[key]; marked {
			e.marked = markOf(onTopic)
		}
		l.evidence.Put(key, e)
		l.explorer.offer(key)
	}
	return e
}

// place returns the record of a host or a folder.
func (l *Scorer) place(name string) *place {
	key := page.Key(name)
	r, ok := l.places.Get(key)
	if !ok {
		r = &place{}
		l.places.Put(key, r)
	}
	return r
}

// Rescore returns the present score of a target that waits; false when nothing
// is known of it.
func (l *Scorer) Rescore(key uint64) (float64, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok := l.evidence.Peek(key)
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
	e, ok := l.evidence.Peek(key)
	if !ok {
		return 0, false
	}
	return l.promise(e), true
}

// soonest is the priority of what is to be fetched before all else: below 1, which is
// that of start pages. Probabilities come below it.
const (
	soonest = 1 - 1e-6
	highest = 1 - 2e-6
)

// score is the probability that a target is on topic, or soonest if it is to be fetched
// because little is known of it.
func (l *Scorer) score(e *evidence) float64 {
	switch {
	case e.marked == markedNo:
		return 0
	case e.marked == markedYes:
		return 1 // as a start page: the user wants it
	case e.explored:
		return soonest
	}
	return l.promise(e)
}

// promise is the probability that a target is on topic.
func (l *Scorer) promise(e *evidence) float64 {
	var x [parts]float64
	l.partsTo(&x, e)
	return highest * l.model.probability(&x)
}
