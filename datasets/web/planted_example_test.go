package web_test

import (
	"fmt"

	"fossick/datasets/web"
)

// Four pages on topic get an archive that has one of them, and a board without any.
func ExampleNewPlanted() {
	var pages []web.PlantedPage
	for i := range 8 {
		pages = append(pages, web.PlantedPage{URL: fmt.Sprintf("http://a.test/%d", i), Title: "Gold", Text: "gold in veins", HTML: "<p>gold in veins", OnTopic: i < 4})
	}
	w := web.NewPlanted(pages, 1)
	archived, _ := w.Answer("http://archive.planted.test/records/item/0")
	thread, _ := w.Answer(fmt.Sprintf("http://board.planted.test/board/item/%d", web.Size-1))
	fmt.Println(archived.Kind, archived.OnTopic, thread.Kind, thread.OnTopic)
	// Output: archive true board false
}
