package propose_test

import (
	"context"
	"fmt"

	"fossick/internal/page"
	"fossick/models/features"
	"fossick/relevance/propose"
)

// This example proposes start pages for a crawl about bees.
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

// This example normalises addresses as people write them.
func ExampleNewStartPages() {
	list := propose.NewStartPages(page.NewNormalizer(nil))
	for _, address := range []string{"https://Bees.test:443/hive#queen", "bees.test/hive", "bees.test"} {
		if err := list.Add(address, "--seed"); err != nil {
			fmt.Println(err)
			return
		}
	}
	for _, url := range list.URLs {
		fmt.Println(url)
	}
	fmt.Println(list.Assumed())
	// Output:
	// https://bees.test/hive
	// https://bees.test/
	// start page bees.test/hive is taken as https://bees.test/hive, and so 1 more; write http:// before those that have no https
}
