package web

import (
	"fmt"
	"strings"
	"testing"
)

// small is a web of ten hosts, the first of which have the pages on topic.
func small() (pages []PlantedPage) {
	for i := range 200 {
		on := i%10 < 3
		text := strings.Repeat(fmt.Sprintf("Dust of kind %c%c. ", 'a'+rune(i%26), 'a'+rune(i/26)), 20)
		if on {
			text = strings.ReplaceAll(text, "Dust", "Gold")
		}
		pages = append(pages, PlantedPage{
			URL: fmt.Sprintf("http://h%d.test/%d", i%10, i), Title: "Page", Text: text, OnTopic: on,
			HTML: "<html><body><p>" + text + "</p></body></html>",
		})
	}
	return pages
}

func TestAnswers(t *testing.T) {
	w, same, other := NewPlanted(small(), 1), NewPlanted(small(), 1), NewPlanted(small(), 2)
	onTopic, missing := map[string]bool{}, 0
	ask := func(url string) {
		a, ok := w.Answer(url)
		if b, _ := same.Answer(url); a != b {
			t.Errorf("%s: two webs of one seed differ", url)
		}
		if !ok {
			missing++
		}
		if a.OnTopic {
			onTopic[a.Name] = true
		}
	}
	for _, p := range small() {
		ask(p.URL)
	}
	if want := w.OnTopic() / movedShare; missing != want {
		t.Errorf("%d pages have moved, want %d", missing, want)
	}
	for place := range w.databases {
		for _, n := range []int{0, 1, 2, 3, Size - 1} {
			ask(fmt.Sprintf("http://%s/item/%d", place, n))
			ask(fmt.Sprintf("http://%s/item/%d?visit=7f", place, n))
		}
		for n := range 60 {
			ask(fmt.Sprintf("http://%s/item/%d", place, n))
		}
		ask("http://" + place + fmt.Sprintf("/list?page=%d", Size/aList-1))
		for _, beyond := range []string{fmt.Sprintf("/item/%d", Size), "/item/x", fmt.Sprintf("/list?page=%d", Size/aList), "/list?page=-1", "/list", "/"} {
			if _, ok := w.Answer("http://" + place + beyond); ok {
				t.Errorf("%s%s is a page", place, beyond)
			}
		}
	}
	if len(onTopic) != w.OnTopic() {
		t.Errorf("%d pages are on topic and new, want %d", len(onTopic), w.OnTopic())
	}
	a, _ := w.Answer("http://species.planted.test/view/item/7")
	if b, _ := other.Answer("http://species.planted.test/view/item/7"); a == b {
		t.Error("another seed makes the same record")
	}
	for _, start := range w.Starts() {
		if a, ok := w.Answer(start); !ok || !a.OnTopic {
			t.Errorf("start page %s is not on topic", start)
		}
	}
}
