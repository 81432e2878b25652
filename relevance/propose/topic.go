package propose

import (
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"fossick/datasets"
	"fossick/models/features"
)

// Topic says what start pages are wanted for. Examples, keywords and a judge add to
// each other; one of them is enough.
type Topic struct {
	Examples []features.Doc // texts on topic
	Keywords []string       // words and phrases of the topic
	// Judge says how far a text is on topic, in [0,1]. The likeness to examples and keywords
	// is multiplied by it, so that a page which either refuses is refused. nil: likeness
	// alone. Safe for concurrent use.
	Judge func(features.Doc) float64
}

// maxExamples bounds the example pages whose words are kept.
const maxExamples = 1000

// Learn adds the pages of rows to the examples, and returns their URLs. Rows that are no
// pages are logged.
func (t *Topic) Learn(rows datasets.Stream, log *slog.Logger) (given map[string]bool, err error) {
	given = map[string]bool{}
	for e, err := range rows {
		if err != nil && datasets.IsRow(err) {
			log.Warn("example left out", "err", err)
			continue
		}
		if err != nil {
			return nil, err
		}
		p, err := e.Page()
		if err != nil {
			log.Warn("example left out", "url", e.URL, "err", err)
			continue
		}
		given[p.URL] = true
		t.Examples = append(t.Examples, features.Doc(p.Fields()))
		if len(t.Examples) == maxExamples {
			break
		}
	}
	return given, nil
}

// ErrNoTopic reports a topic of which nothing is said.
var ErrNoTopic = errors.New("the topic is missing; give keywords, examples or a judge of pages")

// topicTerms is how many terms of a topic count: enough for its words, few enough
// that the names of one example do not.
const topicTerms = 200

// manyExamples is how many examples there are at least where a term must occur on two
// of them: what one alone has is mostly names.
const manyExamples = 4

// profile is a topic as a vector of words.
type profile struct {
	words    vector    // unit length
	dense    []float32 // the same by term
	names    map[term]string
	examples []vector
	phrases  []phrase
}

// newProfile makes the vector: the mean of the examples' unit vectors, plus the
// keywords', which weigh as much as all examples together.
func newProfile(t *Topic, examples []vector, f *frequencies) *profile {
	p := &profile{dense: make([]float32, buckets), names: map[term]string{}, examples: examples, phrases: phrases(t.Keywords)}
	sum, on := map[term]float64{}, map[term]int{}
	add := func(v vector, by float64) {
		for _, w := range v {
			sum[w.term] += by * float64(w.weight)
			on[w.term]++
		}
	}
	for _, v := range examples {
		add(v, 1/float64(len(examples)))
	}
	if len(examples) >= manyExamples {
		maps.DeleteFunc(sum, func(t term, _ float64) bool { return on[t] < 2 })
	}
	if len(t.Keywords) > 0 {
		var words vector
		words = newCounter().text(words, strings.Join(t.Keywords, " "), "")
		f.weigh(words)
		add(words, 1)
	}
	for _, t := range slices.Sorted(maps.Keys(sum)) {
		p.words = append(p.words, weighed{t, float32(sum[t])})
	}
	p.words = p.words.top(topicTerms)
	p.words.unit()
	for _, w := range p.words {
		p.dense[w.term] = w.weight
	}
	return p
}

// name notes how the topic's terms are written in a text.
func (p *profile) name(an *features.Analyzer, text, lang string) {
	an.Each(text, lang, func(word, stem string) {
		if t := termOf(stem); p.dense[t] > 0 && p.names[t] == "" {
			p.names[t] = strings.Clone(word)
		}
	})
}

// likeness is the cosine of a unit vector and the topic.
func (p *profile) likeness(v vector) (cos float64) {
	for _, w := range v {
		cos += float64(w.weight) * float64(p.dense[w.term])
	}
	return cos
}
