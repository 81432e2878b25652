package survey_test

import (
	"context"
	"fmt"
	"iter"

	"fossick/eval/survey"
)

// crawled is what a crawl has on record of two hosts.
type crawled []survey.URL

func (c crawled) URLs() iter.Seq2[*survey.URL, error] {
	return func(yield func(*survey.URL, error) bool) {
		for _, u := range c {
			if !yield(&u, nil) {
				return
			}
		}
	}
}

func (crawled) Pages() iter.Seq2[*survey.Page, error] {
	return func(yield func(*survey.Page, error) bool) { yield(&survey.Page{Links: []uint64{2}}, nil) }
}

func (c crawled) Name(id uint64) (string, error) { return c[id-1].URL, nil }

// A link that leaves a party makes a candidate of the URL.
func Example() {
	found, err := survey.Find(context.Background(), crawled{
		{ID: 1, URL: "http://a.test/", Seed: true, State: "ok", Got: true},
		{ID: 2, URL: "http://b.test/news/today", From: 1, State: "none", Outside: true},
	}, survey.Options{Seeds: []string{"http://a.test/"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer found.Close()
	err = found.Each(context.Background(), func(s *survey.Seed) error {
		fmt.Printf("%s candidate=%v\n", s.URL, s.Candidate)
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// http://a.test/ candidate=false
	// http://b.test/news/today candidate=true
}
