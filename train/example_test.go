package train_test

import (
	"context"
	"fmt"

	"fossick/classify"
	"fossick/datasets"
	"fossick/models"
	"fossick/models/features"
	"fossick/train"
)

// Train a model on a few labelled texts, and label a new one.
func Example() {
	texts := []struct{ label, text string }{
		{"bees", "The queen of the hive lays eggs."},
		{"bees", "Workers carry nectar to the hive."},
		{"bees", "Honey is nectar that a hive has dried."},
		{"rocks", "Basalt is a rock of cooled lava."},
		{"rocks", "Lava that cools slowly is granite."},
		{"rocks", "Granite and basalt are rock."},
	}
	examples := func(yield func(*datasets.Example, error) bool) {
		for _, t := range texts {
			if !yield(&datasets.Example{Label: t.label, Text: t.text}, nil) {
				return
			}
		}
	}
	m, report, err := train.Train(context.Background(), examples, train.Options{Classifier: "nb", Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := classify.New(m)
	if err != nil {
		fmt.Println(err)
		return
	}
	r := c.Classify(features.Doc{Text: "What nectar becomes in the hive"})
	fmt.Println(report.Pages, m.Classes, r.Label)
	// Output: 6 [bees rocks] bees
}

// Measure a built-in model on three pages with known labels.
func ExampleVerdicts() {
	topic, err := models.BuiltinTopic("banking")
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := classify.New(topic.Model)
	if err != nil {
		fmt.Println(err)
		return
	}
	v := train.NewVerdicts("banking", c)
	for _, row := range []datasets.Example{
		{URL: "http://a.test/loans", Label: "banking", Text: "The bank lends money to those who have an account with it: a loan for a year or two, or a mortgage for a house, at a rate of interest that is the same for all, and credit on your card."},
		{URL: "http://a.test/goals", Label: "other", Text: "The striker scored twice in the football match."},
		{URL: "http://a.test/river", Label: "banking", Text: "Herons wait at the bank of the river."},
	} {
		v.Row(&row, features.Doc{URL: row.URL, Text: row.Text})
	}
	r, err := v.Result(10)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d pages, accuracy %.2f; %s is taken for %s\n", len(r.Results), *r.Accuracy, r.Worst[0].URL, r.Worst[0].Label)
	// Output: 3 pages, accuracy 0.67; http://a.test/river is taken for other
}
