package classify_test

import (
	"fmt"

	"fossick/classify"
	"fossick/features"
	"fossick/models"
)

// A built-in topic's model labels a page.
func Example() {
	topic, err := models.BuiltinTopic("sport")
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := classify.New(topic.Model)
	if err != nil {
		fmt.Println(err)
		return
	}
	r := c.Classify(features.Doc{Title: "Cup final", Text: "The striker scored twice in the football match and the team won the league.", Lang: "en"})
	fmt.Println(r.Label, r.Score > 0.5)
	// Output: sport true
}
