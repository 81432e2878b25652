package store

import (
	"fmt"
	"math"
	"slices"
)

// A Verdict is what one of the topics that share a crawl says of a page.
type Verdict struct {
	Score    float64 `cbor:"1,keyasint"`           // the page's, in [0,1]
	Expected float64 `cbor:"2,keyasint,omitempty"` // that it would be, when it was asked for
	Paid     float64 `cbor:"3,keyasint,omitempty"` // the topic's share of the page; those of all topics add up to 1
	Relevant bool    `cbor:"4,keyasint,omitempty"`
	Rule     string  `cbor:"5,keyasint,omitempty"` // why, where it is relevant
}

// TopicCounts are a topic's part of the totals.
type TopicCounts struct {
	Relevant uint64  `cbor:"1,keyasint,omitempty"`
	Paid     float64 `cbor:"2,keyasint,omitempty"` // pages, the shares of them added up
}

// Judged adds a page to the counts of the topics, or takes one away that was added.
func (c *Counts) Judged(verdicts []Verdict, away bool) {
	if n := len(verdicts); n > len(c.Topics) {
		c.Topics = append(c.Topics, make([]TopicCounts, n-len(c.Topics))...)
	}
	for i, v := range verdicts {
		t := &c.Topics[i]
		switch {
		case v.Relevant && away:
			t.Relevant--
		case v.Relevant:
			t.Relevant++
		}
		if away {
			t.Paid -= v.Paid
		} else {
			t.Paid += v.Paid
		}
	}
}

// sameTopics says whether two counts by topic are the same, but for the order in which
// shares were added up.
func sameTopics(a, b []TopicCounts) bool {
	return slices.EqualFunc(a, b, func(a, b TopicCounts) bool {
		return a.Relevant == b.Relevant && math.Abs(a.Paid-b.Paid) <= 1e-6*max(1, b.Paid)
	})
}

// byTopic tells the counts by topic, "" of one topic alone.
func byTopic(counts []TopicCounts) (text string) {
	for i, c := range counts {
		text += fmt.Sprintf(", topic %d: %d for %.2f", i+1, c.Relevant, c.Paid)
	}
	return text
}
