package train_test

import (
	"bytes"
	"fmt"

	"fossick/models"
	"fossick/train"
)

// The page of a built-in model, with how it did on ten pages.
func ExampleWrite() {
	topic, err := models.BuiltinTopic("banking")
	if err != nil {
		fmt.Println(err)
		return
	}
	// Classes are told by their places in Model.Classes: one page of banking was missed.
	measures := train.Measure(len(topic.Model.Classes), []int{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}, []int{0, 0, 0, 0, 1, 1, 1, 1, 1, 1})
	var html bytes.Buffer
	err = train.Write(&html, train.Page{
		Model: topic.Model, Name: "banking", From: train.Test, Measures: &measures, Mistakes: 1,
	})
	fmt.Println(bytes.Contains(html.Bytes(), []byte("mortgage")), bytes.Contains(html.Bytes(), []byte("<script")), err)
	// Output: true false <nil>
}
