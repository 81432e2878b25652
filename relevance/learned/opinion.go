package learned

import (
	"cmp"
	"fmt"
	"strings"

	"fossick/page"
	"fossick/relevance"
)

// opinion is the probability of a page with what people said, and the terms that say
// so; none where nobody said a thing.
func (l *Scorer) opinion(key uint64, words []token, judged float64) (float64, []relevance.Term) {
	if onTopic, marked := l.marks.said[key]; marked {
		return truth(onTopic), []relevance.Term{{Name: "marked", Value: truth(onTopic), Note: "a person said so; it counts as a page of this probability"}}
	}
	shift := l.marks.fix.shift(words)
	if shift == 0 {
		return judged, nil
	}
	p := corrected(judged, shift)
	return p, []relevance.Term{{Name: "marks", Value: shift, Note: fmt.Sprintf("%s added to the log-odds%s: it counts as a page of probability %.3g",
		l.marks.count(), l.marks.because(words), p)}}
}

func (m *marks) count() string {
	if m.fix.marks == 1 {
		return "1 page marked by a person"
	}
	return fmt.Sprintf("%d pages marked by people", m.fix.marks)
}

// because names the words that weigh most.
func (m *marks) because(words []token) string {
	const most = 4
	var names []string
	for _, w := range m.fix.strongest(words, most) {
		names = append(names, cmp.Or(m.names[w], "?"))
	}
	if len(names) == 0 {
		return ""
	}
	return ", most for " + strings.Join(names, ", ")
}

// Explain returns the present opinion of a URL that waits, or of a page that is
// remembered, with the terms of it; false when there is none.
func (l *Scorer) Explain(url string) (relevance.Score, bool) {
	key := page.Key(url)
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.evidence.Peek(key); ok {
		return relevance.Score{Value: l.score(e), Terms: l.account(e).terms()}, true
	}
	p := l.marks.pages[key]
	if p == nil {
		p = l.history.find(key)
	}
	if p == nil {
		return relevance.Score{}, false
	}
	value, terms := l.opinion(key, p.words, p.judged)
	return relevance.Score{Value: value, Terms: append([]relevance.Term{{Name: "probability", Value: p.judged, Note: "of the topic, by the model"}}, terms...)}, true
}
