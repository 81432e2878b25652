package models_test

import (
	"bytes"
	"fmt"

	"fossick/models"
)

// The model of a built-in topic describes itself, and survives writing.
func ExampleBuiltinTopic() {
	topic, err := models.BuiltinTopic("banking")
	if err != nil {
		fmt.Println(err)
		return
	}
	m := topic.Model
	fmt.Println(m.Classes, m.Threshold(topic.Name) > 0, len(topic.Seeds) > 0)

	var file bytes.Buffer
	if err := m.Write(&file); err != nil {
		fmt.Println(err)
		return
	}
	again, err := models.Read(&file)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(again.Summary() == m.Summary())
	// Output:
	// [banking other] true true
	// true
}
