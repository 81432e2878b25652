package propose_test

import (
	"context"
	"fmt"

	"fossick/models/features"
	"fossick/relevance/propose"
)

// Of four known pages, the two to start a crawl about bees from.
func Example() {
	pages := []propose.Candidate{
		{URL: "http://a.test/", Doc: features.Doc{Text: "News of the town and its market"}},
		{URL: "http://bees.test/", Doc: features.Doc{Text: "All of bees, hives and honey"}, Links: []propose.Link{
			{URL: "http://bees.test/honey"}, {URL: "http://c.test/"}}},
		{URL: "http://bees.test/honey", Doc: features.Doc{Text: "Honey of bees, out of hives"}},
		{URL: "http://c.test/", Doc: features.Doc{Text: "Our bees: hives and honey"}},
	}
	source := func(yield func(*propose.Candidate, error) bool) {
		for i := range pages {
			if !yield(&pages[i], nil) {
				return
			}
		}
	}
	topic := propose.Topic{Keywords: []string{"bees", "honey", "hives"}}
	r, err := propose.Propose(context.Background(), topic, source, propose.Options{N: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range r.Proposals {
		fmt.Printf("%s (%s)\n", p.URL, p.Why)
	}
	fmt.Println(len(r.Proposals), "of", r.Candidates)
	// Output:
	// http://bees.test/ (relevance 1.00; bees, honey, hives; 2 of 2 links lead to pages on topic, 2 of them to new ones)
	// 1 of 4
}
