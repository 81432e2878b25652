package plan

import (
	"cmp"
	"hash/maphash"
	"math"
	"sync"

	"fossick/classify"
	"fossick/crawler"
	"fossick/internal/cli"
	"fossick/internal/page"
	"fossick/models"
	"fossick/models/features"
	"fossick/relevance"
	"fossick/relevance/learned"
	"fossick/store"
)

// Labeller labels pages by a topic's model.
type Labeller struct {
	classifier *classify.Classifier
	class      int     // index of the topic in the model
	cut        float64 // the model's decision threshold for the topic
	memo       *memo   // earlier results; nil where each text comes once

	// background has the share of the model's training pages that have each word, warmStart the
	// words' statistics in those on topic; nil where the model lacks them. Each is computed once.
	background func() *learned.Background
	warmStart  func() *learned.WarmStart
}

// maxStoredRule bounds the runes of a stored reason: a lopsided tree's rule can have a hundred
// conditions.
const maxStoredRule = 400

// NewLabeller prepares the topic's model.
func NewLabeller(t *models.Topic) (*Labeller, error) {
	c, err := classify.NewReading(t.Model, learned.Words())
	if err != nil {
		return nil, err
	}
	l := &Labeller{classifier: c, class: t.Model.Class(t.Name), cut: t.Model.Threshold(t.Name)}
	l.background = sync.OnceValue(l.newBackground)
	l.warmStart = sync.OnceValue(func() *learned.WarmStart { return learned.NewWarmStart(t.Model, l.class) })
	return l, nil
}

// Remember lets the labeller cache its results, for crawls that see the same pages again.
func (l *Labeller) Remember() { l.memo = newMemo() }

// label writes the model's judgement of p into score and returns the topic's probability.
func (l *Labeller) label(p *page.Page, score *crawler.Score) float64 {
	if l.memo != nil {
		return l.memo.label(l, p, score)
	}
	result, why := l.classifier.ClassifyAndExplain(features.Doc(p.Fields()))
	return l.note(score, result, why)
}

// note writes the model's result into score.
func (l *Labeller) note(score *crawler.Score, r classify.Result, why string) (probability float64) {
	score.Label, score.Probability, score.Rule = r.Label, r.Score, cli.Cut(why, maxStoredRule)
	probability = r.Probs[l.class]
	score.Relevant = probability >= l.cut
	return probability
}

// finds reports whether a page is on topic by the model.
func (l *Labeller) finds(p *page.Page) bool { return l.judge(features.Doc(p.Fields())) >= l.cut }

// judge is the model's judgement of a text.
func (l *Labeller) judge(d features.Doc) float64 {
	if l.memo != nil {
		return l.memo.judge(l, d)
	}
	return l.score(d)
}

func (l *Labeller) score(d features.Doc) float64 {
	return l.classifier.Score(d, l.classifier.Model().Classes[l.class])
}

// heed replaces the model's verdict by the probability corrected from people's labels.
func (l *Labeller) heed(score *crawler.Score, probability, corrected float64) {
	if l != nil && corrected != probability {
		score.Relevant = corrected >= l.cut
	}
}

// adapt makes scorers of a policy of package relevance.
func adapt(policyOf func(Input) relevance.Policy) func(Input) (crawler.Scorer, error) {
	return func(in Input) (crawler.Scorer, error) {
		p := policyOf(in)
		s := policyScorer{policy: p, labeller: in.Labeller, keywords: in.Keywords, threshold: in.Threshold}
		if l, ok := p.(*learned.Scorer); ok {
			return &learnedScorer{rescoringScorer{s, l}, l, newWordScorer(l, in.Labeller)}, nil
		}
		if r, ok := p.(relevance.Rescorer); ok {
			return &rescoringScorer{s, r}, nil
		}
		return &s, nil
	}
}

// policyScorer orders by a policy of package relevance. Without a model a page's similarity to
// the topic is the share of the keywords in it.
type policyScorer struct {
	policy    relevance.Policy
	labeller  *Labeller
	keywords  *relevance.Keywords
	threshold float64 // of the similarity, for relevance without a model
}

func (s *policyScorer) ScorePage(p *page.Page, _ float64) crawler.Score {
	var score crawler.Score
	var similarity float64
	if s.labeller != nil {
		similarity = s.labeller.label(p, &score)
	} else {
		similarity = float64(len(s.keywords.Found(p))) / float64(s.keywords.Len())
		score.Relevant = similarity >= s.threshold
	}
	r := s.policy.ScorePage(p, similarity)
	score.Value, score.Terms, score.Account, score.Echo, score.Introduction = r.Value, Terms(r.Terms), r.Account, r.Echo, r.Introduction
	s.labeller.heed(&score, similarity, r.Value)
	return score
}

func (s *policyScorer) ScoreLinks(dst []float64, p *page.Page, score crawler.Score) []float64 {
	return s.policy.ScoreLinks(dst, p, score.Value)
}

func (s *policyScorer) ScoreUnlinked(_ string, parent float64) float64 { return parent }

// rescoringScorer is a policyScorer whose scores of waiting URLs change.
type rescoringScorer struct {
	policyScorer
	rescorer relevance.Rescorer
}

func (s *rescoringScorer) Rescore(key uint64) (float64, bool) { return s.rescorer.Rescore(key) }

// learnedScorer also learns from start pages, words and people's labels.
type learnedScorer struct {
	rescoringScorer
	learned *learned.Scorer
	words   *wordScorer // nil where the same pages come again
}

// ofStart is the parent score of a start page (paper A, eq. 1); no link has it.
const ofStart = 1

func (s *learnedScorer) ScorePage(p *page.Page, parent float64) crawler.Score {
	if parent == ofStart {
		s.learned.Start(page.Key(p.URL), s.labeller.trainedOn(p))
	}
	if s.words != nil {
		return s.words.scorePage(s.labeller, p)
	}
	return s.rescoringScorer.ScorePage(p, parent)
}

// Watched returns the policy, for programs that learn its order.
func (s *learnedScorer) Watched() *learned.Scorer { return s.learned }

func (s *learnedScorer) ScoreUnlinked(url string, _ float64) float64 {
	return s.learned.ScoreUnlinked(url)
}

// Led implements crawler.Redirected.
func (s *learnedScorer) Led(url uint64) []float64 { return []float64{s.learned.Led(url)} }

// Lead implements crawler.Redirected.
func (s *learnedScorer) Lead(url uint64, led []float64) {
	if len(led) == 1 {
		s.learned.Lead(url, led[0])
	}
}

// Begun returns the number of topics that learned something: none or one.
func (s *learnedScorer) Begun() int {
	if s.learned.Begun() {
		return 1
	}
	return 0
}

// Promise returns the probability for the crawl's journal.
func (s *learnedScorer) Promise(key uint64) (float64, bool) { return s.learned.Promise(key) }

func (s *learnedScorer) Mark(marks []crawler.Marked) {
	said := make([]learned.Marked, len(marks))
	for i, m := range marks {
		said[i] = learned.Marked{URL: m.URL, Page: m.Page, OnTopic: m.OnTopic, Gone: m.Gone}
	}
	s.learned.Mark(said)
}

// Explain returns the present score of a URL, if there is one.
func (s *learnedScorer) Explain(url string) (crawler.Score, bool) {
	r, ok := s.learned.Explain(url)
	return crawler.Score{Value: r.Value, Terms: Terms(r.Terms)}, ok
}

// Terms returns the terms of a score in the store's form.
func Terms(terms []relevance.Term) []store.Term {
	out := make([]store.Term, len(terms))
	for i, t := range terms {
		out[i] = store.Term(t)
	}
	return out
}

// Ask returns the pages whose labels would help the crawl most.
func (s *learnedScorer) Ask(n int) []crawler.Question {
	var asked []crawler.Question
	for _, q := range s.learned.Ask(n) {
		asked = append(asked, crawler.Question(q))
	}
	return asked
}

// A page is split into words once, by the model's extractor; the scorer reads the same words,
// and the model judges those around each link.

// reader returns judge with the words of the text; nil where results are cached and no text is
// split.
func (l *Labeller) reader() learned.Reader {
	if l.memo != nil {
		return nil
	}
	return func(d features.Doc, words []uint32) (float64, []uint32) {
		return l.classifier.ScoreWords(d, l.class, words)
	}
}

// wordScorer scores pages by the words that the model read.
type wordScorer struct {
	policy *learned.Scorer
	spare  *features.Spare[classify.Reading]
}

// newWordScorer returns nil where no model splits pages.
func newWordScorer(p *learned.Scorer, l *Labeller) *wordScorer {
	if l.memo != nil {
		return nil
	}
	return &wordScorer{p, features.NewSpare(func() *classify.Reading { return new(classify.Reading) })}
}

func (s *wordScorer) scorePage(l *Labeller, p *page.Page) (score crawler.Score) {
	reading := s.spare.Get()
	defer s.spare.Put(reading)
	around := learned.Around{Wanted: s.policy.Wanted(nil, p)}
	contexts := func(yield func(classify.Part) bool) {
		for i, wanted := range around.Wanted {
			var part classify.Part
			if at := p.Links[i].Around; wanted {
				part = classify.Part{Text: p.Links[i].Context, Around: [2]features.Span{features.Span(at[0]), features.Span(at[1])}}
			}
			if !yield(part) {
				return
			}
		}
	}
	result, why := l.classifier.Read(reading, features.Doc(p.Fields()), l.class, contexts)
	probability := l.note(&score, result, why)
	around.Judged, around.Words, around.Ends = reading.Parts, reading.PartWords, reading.PartEnds
	r := s.policy.ScoreWords(p, probability, reading.Words, &around)
	score.Value, score.Terms, score.Account, score.Echo, score.Introduction = r.Value, Terms(r.Terms), r.Account, r.Echo, r.Introduction
	l.heed(&score, probability, r.Value)
	return score
}

// A topic that shares a crawl learns from the pages that it asked for, as in its own crawl.
// Other topics' pages would change its base rate and mislead it where its model errs.

// askedShare is the share of the highest expectation from which on a topic has asked for a
// page too. It ignores the topics' present wants, which a resumed crawl does not know.
const askedShare = 0.05

// learns reports whether the topic, with the verdict of that index, asked for the page. A page
// without expectations belongs to all topics, and a topic without a start page learns from
// any.
func (t *part) learns(verdicts []store.Verdict, topic int) bool {
	if !t.begun.Load() {
		return true
	}
	most := 0.0
	for _, v := range verdicts {
		most = max(most, v.Expected)
	}
	return verdicts[topic].Expected >= askedShare*most
}

// A glancer is a scorer that can judge a page without learning from it.
type glancer interface {
	glance(*page.Page) crawler.Score
}

// show lets the topic judge a page, and learn from it if it asked for it.
func (t *part) show(p *page.Page, expected float64, asked bool) crawler.Score {
	if g, can := t.Scorer.(glancer); can && !asked {
		return g.glance(p)
	}
	return t.rescorer.ScorePage(p, expected)
}

// links appends the topic's scores of a page's links; for a page that it did not ask for, its
// present ones.
func (t *part) links(dst []float64, p *page.Page, score crawler.Score, asked bool) []float64 {
	if _, can := t.Scorer.(glancer); !can || asked {
		return t.rescorer.ScoreLinks(dst, p, score)
	}
	for i := range p.Links {
		x, _ := t.rescorer.Rescore(page.Key(p.Links[i].URL))
		dst = append(dst, x)
	}
	return dst
}

// glance labels a page by the model alone.
func (s *learnedScorer) glance(p *page.Page) (score crawler.Score) {
	score.Value = s.labeller.label(p, &score)
	return score
}

// share returns the topic's share of the training pages; 0 where the card lacks it.
func (l *Labeller) share() float64 {
	return l.seen() / float64(max(1, l.classifier.Model().Card.Pages))
}

// seen returns the topic's number of training pages; 0 where the card lacks it.
func (l *Labeller) seen() float64 {
	m := l.classifier.Model()
	return float64(m.Card.PerClass[m.Classes[l.class]])
}

// trainedOn reports whether the model is known to be trained on a page.
func (l *Labeller) trainedOn(p *page.Page) bool {
	trained, _ := l.classifier.Model().Card.Trained(models.Mark(features.Doc(p.Fields())))
	return trained
}

// learned builds the policy that learns during the crawl.
func (in Input) learned() *learned.Scorer {
	l := in.Labeller
	return learned.New(l.judge, learned.Options{
		Cut: l.cut, Explore: explore / float64(max(1, in.Topics)), Seed: in.Seed, Reader: l.reader(), Scorers: in.Topics,
		Keywords: in.topicWords(), Rho: in.Rho,
		Background: l.background(), WarmStart: l.warmStart(), Share: l.share(), Seen: l.seen(), Order: in.Order,
	})
}

// topicWords returns the given K, else the model's; nil where there is none.
func (in Input) topicWords() *relevance.Keywords {
	if in.Keywords != nil {
		return in.Keywords
	}
	k, _ := relevance.NewKeywords(in.Labeller.keywords()) // an error means that there are none
	return k
}

func (l *Labeller) keywords() []string {
	m := l.classifier.Model()
	return m.Keywords[m.Classes[l.class]]
}

func (l *Labeller) newBackground() *learned.Background {
	m := l.classifier.Model()
	shares := m.Frequency
	if shares == nil {
		shares = sharesByIDF(m)
	}
	return learned.NewBackground(func(yield func(string, float64) bool) {
		for i, share := range shares {
			if features.IsWord(m.Terms[i]) && !yield(m.Terms[i], float64(share)) {
				return
			}
		}
	})
}

// sharesByIDF derives the shares from an older model's inverse document frequencies, 1 + ln((1
// + n) / (1 + DF)); see features.Weighting. A model with log-odds weights has none.
func sharesByIDF(m *models.Model) []float32 {
	if m.Card.Settings["term_weights"] != "" {
		return nil
	}
	shares := make([]float32, len(m.Weighting.IDF))
	for i, idf := range m.Weighting.IDF {
		shares[i] = float32(math.Exp(1 - float64(idf)))
	}
	return shares
}

// memo caches a model's results for crawls that see the same pages again. Pages are keyed by
// address: they are shared and do not change. Reasons are left out. Safe for concurrent use.
type memo struct {
	seed  maphash.Seed
	parts [64]memoPart // by hash, so that parallel crawls do not wait for each other
}

type memoPart struct {
	mu    sync.Mutex // guards the rest
	pages map[*page.Page]memoLabel
	texts map[features.Doc]float64
}

type memoLabel struct {
	label                   string
	score, topicProbability float64
}

func newMemo() *memo {
	m := &memo{seed: maphash.MakeSeed()}
	for i := range m.parts {
		m.parts[i].pages = map[*page.Page]memoLabel{}
		m.parts[i].texts = map[features.Doc]float64{}
	}
	return m
}

func (m *memo) label(l *Labeller, p *page.Page, score *crawler.Score) float64 {
	part := &m.parts[maphash.Comparable(m.seed, p)%uint64(len(m.parts))]
	part.mu.Lock()
	known, ok := part.pages[p]
	part.mu.Unlock()
	if !ok {
		r := l.classifier.Classify(features.Doc(p.Fields()))
		known = memoLabel{r.Label, r.Score, r.Probs[l.class]}
		part.mu.Lock()
		part.pages[p] = known
		part.mu.Unlock()
	}
	score.Label, score.Probability = known.label, known.score
	score.Relevant = known.topicProbability >= l.cut
	return known.topicProbability
}

func (m *memo) judge(l *Labeller, d features.Doc) float64 {
	part := &m.parts[maphash.Comparable(m.seed, d)%uint64(len(m.parts))]
	part.mu.Lock()
	known, ok := part.texts[d]
	part.mu.Unlock()
	if ok {
		return known
	}
	known = l.score(d)
	part.mu.Lock()
	part.texts[d] = known
	part.mu.Unlock()
	return known
}

// remembering makes a scorer that scores a link once answer again: a URL with several links
// has its best score.
type remembering struct {
	crawler.Scorer
	mu   sync.Mutex // guards best
	best page.Recent[float64]
}

// maxRemembered bounds the memory: at most twice as many URLs, 16 bytes each and the map's
// own.
const maxRemembered = 1 << 17

func newRemembering(s crawler.Scorer) *remembering {
	return &remembering{Scorer: s, best: page.NewRecent[float64](maxRemembered)}
}

func (r *remembering) ScoreLinks(dst []float64, p *page.Page, s crawler.Score) []float64 {
	from := len(dst)
	dst = r.Scorer.ScoreLinks(dst, p, s)
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, score := range dst[from:] {
		dst[from+i] = r.best.Raise(page.Key(p.Links[i].URL), score, cmp.Less[float64])
	}
	return dst
}

func (r *remembering) Rescore(key uint64) (float64, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.best.Peek(key)
}
