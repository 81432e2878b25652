package classify_test

import (
	"fmt"

	"fossick/classify"
	"fossick/models"
	"fossick/models/features"
)

// Label a page with the model of a built-in topic.
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
	r := c.Classify(features.Doc{Title: "Cup final", Text: "The striker scored twice in the football match, and the team won the league for the first time since its coach had come from another club. In the second half the goalkeeper held all that the other players had, and at the end of the season the fans of both teams were in the stadium until late.", Lang: "en"})
	fmt.Println(r.Label, r.Score > 0.5)
	// Output: sport true
}
