package main

import (
	"context"
	"testing"

	"fossick/classify"
	"fossick/datasets"
	"fossick/internal/fulltest"
	"fossick/train"
)

// news opens a part of 20 Newsgroups, or skips where the corpora are not.
func news(b *testing.B, split string) *datasets.Set {
	b.Helper()
	w, err := datasets.ParseWhere("split=" + split)
	if err != nil {
		b.Fatal(err)
	}
	set, err := datasets.Open(fulltest.Corpus(b, "20news"), datasets.Options{Where: []datasets.Where{w}})
	if err != nil {
		b.Fatal(err)
	}
	return set
}

// BenchmarkNewsTrain makes a linear model of 11,314 posts, from their file on, and
// BenchmarkNewsPredict labels posts from their bytes on: a new page each time, as in
// a crawl. scripts/allwords.py speed has scikit-learn's times beside.
func BenchmarkNewsTrain(b *testing.B) {
	set := news(b, "train")
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := train.Train(context.Background(), set.Examples(), train.Options{Classifier: "linear", Seed: 1}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNewsPredict(b *testing.B) {
	m, _, err := train.Train(context.Background(), news(b, "train").Examples(), train.Options{Classifier: "linear", Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	c, err := classify.New(m)
	if err != nil {
		b.Fatal(err)
	}
	var posts []*datasets.Example
	bytes := 0
	for e, err := range news(b, "test").Examples() {
		if err != nil {
			b.Fatal(err)
		}
		posts, bytes = append(posts, e), bytes+len(e.Text)
	}
	b.SetBytes(int64(bytes / len(posts)))
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		d, err := train.Doc(posts[i%len(posts)])
		if err != nil {
			b.Fatal(err)
		}
		c.Classify(d)
		i++
	}
}
