package train_test

import (
	"context"
	"fmt"

	"fossick/classify"
	"fossick/datasets"
	"fossick/models/features"
	"fossick/train"
)

// A model is trained on a few labelled texts, and labels one that it has not seen.
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
