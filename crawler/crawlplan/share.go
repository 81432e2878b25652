package crawlplan

import (
	"encoding/binary"
	"errors"

	"fossick/crawler"
	"fossick/relevance/learned"
)

// Share, like the methods that follow, is as crawler.Teller says.
func (s *learnedScorer) Share(ours func(url string) bool) { s.learned.Share(ours) }

// Told returns what was learned.
func (s *learnedScorer) Told() []byte {
	if sums := s.learned.Learned(); sums != nil {
		return sums.Pack()
	}
	return nil
}

// ToldSoFar returns all that Told ever has.
func (s *learnedScorer) ToldSoFar() (parts [][]byte) {
	for _, sums := range s.learned.Told() {
		parts = append(parts, sums.Pack())
	}
	return parts
}

// Hear takes in what another agent's scorer learned.
func (s *learnedScorer) Hear(told []byte) (pages uint64, err error) {
	sums, err := learned.UnpackSums(told)
	if err != nil {
		return 0, err
	}
	s.learned.Hear(sums)
	return sums.Pages(), nil
}

// Share, like the methods that follow, is for the topics that learn. What one tells begins
// with its place among all.
func (s *several) Share(ours func(url string) bool) {
	for _, p := range s.parts {
		if t, ok := p.Scorer.(crawler.Teller); ok {
			t.Share(ours)
		}
	}
}

// Told returns what one topic has learned; the topics take turns.
func (s *several) Told() []byte {
	for range s.parts {
		i := int(s.tells.Add(1)) % len(s.parts)
		if t, ok := s.parts[i].Scorer.(crawler.Teller); ok {
			if told := t.Told(); told != nil {
				return append(binary.AppendUvarint(nil, uint64(i)), told...)
			}
		}
	}
	return nil
}

// ToldSoFar returns all that Told ever has.
func (s *several) ToldSoFar() (parts [][]byte) {
	for i, p := range s.parts {
		if t, ok := p.Scorer.(crawler.Teller); ok {
			for _, told := range t.ToldSoFar() {
				parts = append(parts, append(binary.AppendUvarint(nil, uint64(i)), told...))
			}
		}
	}
	return parts
}

var errTopic = errors.New("another agent sent what it learned for an unknown topic; give all agents the same --topic")

// Hear takes in what a topic of another agent learned.
func (s *several) Hear(told []byte) (pages uint64, err error) {
	i, n := binary.Uvarint(told)
	if n <= 0 || i >= uint64(len(s.parts)) {
		return 0, errTopic
	}
	t, ok := s.parts[i].Scorer.(crawler.Teller)
	if !ok {
		return 0, errTopic
	}
	pages, err = t.Hear(told[n:])
	if i > 0 { // the first tells of the same pages
		pages = 0
	}
	return pages, err
}
