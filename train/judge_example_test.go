package train_test

import (
	"fmt"

	"fossick/classify"
	"fossick/datasets"
	"fossick/models"
	"fossick/models/features"
	"fossick/train"
)

// How good a built-in model is on three pages of which people know what they are.
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
