package crawlplan

import (
	"sync"

	"fossick/classify"
	"fossick/crawler"
	"fossick/internal/page"
	"fossick/internal/printable"
	"fossick/models"
	"fossick/models/features"
	"fossick/relevance"
	"fossick/relevance/learned"
	"fossick/store"
)

// Labeller labels pages by a topic's model.
type Labeller struct {
	classifier *classify.Classifier
	class      int       // of the topic in the model
	cut        float64   // the model's decision threshold for it
	large      sync.Once // of atLarge
	atLarge    *learned.Background
	started    sync.Once // of warm
	warm       *learned.WarmStart
	memo       *memo // of what it said before; nil where each text comes once
}

// maxStoredRule is how many runes of a reason a page's record keeps: a rule of a
// lopsided tree can have a hundred conditions, those that hold first.
const maxStoredRule = 400

// NewLabeller sets the topic's model to work.
func NewLabeller(t *models.Topic) (*Labeller, error) {
	c, err := classify.NewReading(t.Model, learned.Words())
	if err != nil {
		return nil, err
	}
	return &Labeller{classifier: c, class: t.Model.Class(t.Name), cut: t.Model.Threshold(t.Name)}, nil
}

// Remember has the labeller keep what it says, for crawls that see the same pages again.
func (l *Labeller) Remember() { l.memo = newMemo() }

// label writes the model's opinion of p into score and returns the probability
// of the topic.
func (l *Labeller) label(p *page.Page, score *crawler.Score) float64 {
	if l.memo != nil {
		return l.memo.label(l, p, score)
	}
	result, why := l.classifier.ClassifyAndExplain(features.Doc(p.Fields()))
	return l.note(score, result, why)
}

// note writes what the model says into score.
func (l *Labeller) note(score *crawler.Score, r classify.Result, why string) (probability float64) {
	score.Label, score.Probability, score.Rule = r.Label, r.Score, printable.Cut(why, maxStoredRule)
	probability = r.Probs[l.class]
	score.Relevant = probability >= l.cut
	return probability
}

// finds says whether a page is on topic by the model.
func (l *Labeller) finds(p *page.Page) bool { return l.judge(features.Doc(p.Fields())) >= l.cut }

// judge is the model's opinion of any text.
func (l *Labeller) judge(d features.Doc) float64 {
	if l.memo != nil {
		return l.memo.judge(l, d)
	}
	return l.score(d)
}

func (l *Labeller) score(d features.Doc) float64 {
	return l.classifier.Score(d, l.classifier.Model().Classes[l.class])
}

// heed lets a page count as on topic by what people's labels made of the model's
// probability.
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

// policyScorer orders by a policy of package relevance. Without a model a page's
// similarity to the topic is the share of the keywords that it has.
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
	score.Value, score.Terms, score.Account, score.Echo, score.Giver = r.Value, Terms(r.Terms), r.Account, r.Echo, r.Giver
	s.labeller.heed(&score, similarity, r.Value)
	return score
}

func (s *policyScorer) ScoreLinks(dst []float64, p *page.Page, score crawler.Score) []float64 {
	return s.policy.ScoreLinks(dst, p, score.Value)
}

func (s *policyScorer) ScoreUnlinked(_ string, parent float64) float64 { return parent }

// rescoringScorer is one whose scores of waiting URLs change.
type rescoringScorer struct {
	policyScorer
	rescorer relevance.Rescorer
}

func (s *rescoringScorer) Rescore(key uint64) (float64, bool) { return s.rescorer.Rescore(key) }

// learnedScorer learns from start pages, words, and what people say as well.
type learnedScorer struct {
	rescoringScorer
	learned *learned.Scorer
	words   *wordScorer // nil where the same pages come again and again
}

// ofStart is what the crawler gives as the score of a start page's parent (paper A
// eq. 1); no link has it.
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

func (s *learnedScorer) ScoreUnlinked(url string, _ float64) float64 {
	return s.learned.ScoreUnlinked(url)
}

// Led is as crawler.Redirected says.
func (s *learnedScorer) Led(url uint64) []float64 { return []float64{s.learned.Led(url)} }

// Lead is as crawler.Redirected says.
func (s *learnedScorer) Lead(url uint64, led []float64) {
	if len(led) == 1 {
		s.learned.Lead(url, led[0])
	}
}

// Begun is how many topics have had their first lesson: none, or one.
func (s *learnedScorer) Begun() int {
	if s.learned.Begun() {
		return 1
	}
	return 0
}

// Promise is for what a crawl journals.
func (s *learnedScorer) Promise(key uint64) (float64, bool) { return s.learned.Promise(key) }

func (s *learnedScorer) Mark(marks []crawler.Marked) {
	said := make([]learned.Marked, len(marks))
	for i, m := range marks {
		said[i] = learned.Marked{URL: m.URL, Page: m.Page, OnTopic: m.OnTopic}
	}
	s.learned.Mark(said)
}

// Explain returns the present opinion of a URL, if there is one.
func (s *learnedScorer) Explain(url string) (crawler.Score, bool) {
	r, ok := s.learned.Explain(url)
	return crawler.Score{Value: r.Value, Terms: Terms(r.Terms)}, ok
}

// Terms are the terms of a score as stores keep them.
func Terms(terms []relevance.Term) []store.Term {
	out := make([]store.Term, len(terms))
	for i, t := range terms {
		out[i] = store.Term(t)
	}
	return out
}

// Ask returns pages whose labels would tell the crawl most.
func (s *learnedScorer) Ask(n int) []crawler.Question {
	var asked []crawler.Question
	for _, q := range s.learned.Ask(n) {
		asked = append(asked, crawler.Question(q))
	}
	return asked
}
