package crawler

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"fossick/graph/orders"
	"fossick/internal/page"
	"fossick/store"
)

// twoTopics has two topics with equal links. Each page lowers the scores of its topic.
type twoTopics struct{ paid *[2]float64 }

// topicOfPath returns the topic of a URL, by the first letter of its path.
func topicOfPath(url string) int { return strings.Index("ab", url[len("http://h.test/"):][:1]) }

func (s twoTopics) worth(topic int) float64 { return 0.9 * math.Exp(-s.paid[topic]) }

func (s twoTopics) ScorePage(p *page.Page, _ float64) Score {
	score := Score{Topics: make([]store.Verdict, 2)}
	if !strings.HasSuffix(p.URL, "/start") {
		score.Topics[topicOfPath(p.URL)].Paid = 1
	}
	return score
}

func (s twoTopics) ScoreLinks(dst []float64, p *page.Page, _ Score) []float64 {
	for _, l := range p.Links {
		dst = append(dst, s.worth(topicOfPath(l.URL)))
	}
	return dst
}

func (s twoTopics) Rescore(key uint64) (float64, bool) {
	for i := range 100 {
		for topic, name := range []string{"a", "b"} {
			if key == page.Key(fmt.Sprintf("http://h.test/%s%d", name, i)) {
				return s.worth(topic), true
			}
		}
	}
	return 0, false
}

func (s twoTopics) Paid(counts []store.TopicCounts) {
	for i, c := range counts {
		s.paid[i] = c.Paid
	}
}

// TestSecondLook: topics that share a crawl take turns, even between two passes over the queue.
func TestSecondLook(t *testing.T) {
	web := func(u string) Answer {
		body := "<title>" + u + "</title><p>" + strings.ReplaceAll(u, "/", " ")
		for i := 0; i < 100 && strings.HasSuffix(u, "/start"); i++ {
			body += fmt.Sprintf("<a href=/a%d>x</a>", i)
		}
		for i := 0; i < 100 && strings.HasSuffix(u, "/start"); i++ {
			body += fmt.Sprintf("<a href=/b%d>x</a>", i)
		}
		p, err := page.Parse([]byte(body), page.ParseOptions{URL: u, ContentType: "text/html"})
		if err != nil {
			t.Error(err)
		}
		return Answer{Page: p}
	}
	r, err := Virtual(t.Context(), Options{Scorer: twoTopics{new([2]float64)}, Ordering: orders.Latest, Seeds: []string{"http://h.test/start"},
		MaxPages: 60, FollowTraps: true, KeepNear: true}, web)
	if err != nil || len(r.Pages) != 60 {
		t.Fatalf("%d pages, %v", len(r.Pages), err)
	}
	ahead := 0
	for _, p := range r.Pages[1:] {
		ahead += 1 - 2*topicOfPath(p.Page.URL)
		if ahead < -1 || ahead > 1 {
			t.Fatalf("a topic is %d pages ahead at %s", ahead, p.Page.URL)
		}
	}
}
