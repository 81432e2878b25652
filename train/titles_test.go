package train

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"fossick/models"
)

// TestTitlesOfModel: a model has the words of its classes' titles, and on how many of each class's
// pages its terms stand, which add up to the share of all.
func TestTitlesOfModel(t *testing.T) {
	set := toy(40, "bird", "ship")
	for i, e := range set {
		e.Text, e.HTML = "", fmt.Sprintf("<title>The %ss page, page %d</title><p>%s</p>", e.Label, i/20, e.Text)
	}
	m, _, err := Train(context.Background(), stream(set), Options{Classifier: models.NaiveBayes, Target: Target{Topic: "bird"}})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]models.TitleWord{"bird": {
		{Word: "birds", Lang: "en", Pages: 20}, {Word: "page", Lang: "en", Pages: 20, Others: 20}}}
	if got := titleWordsOf(m, "0", "1"); !reflect.DeepEqual(got, want) {
		t.Errorf("titles %v, want %v", got, want)
	}
	for i, term := range m.Terms {
		var all int32
		for class := range m.Classes {
			all += m.ClassPages[class][i]
		}
		if share := float32(all) / 40; share != m.Frequency[i] {
			t.Errorf("%s: on %d pages, and on the share %v of 40", term, all, m.Frequency[i])
		}
	}
}

// titleWordsOf is a model's titles in English without some words; what the language of so short a page
// is does not matter here.
func titleWordsOf(m *models.Model, but ...string) map[string][]models.TitleWord {
	all := map[string][]models.TitleWord{}
	for class, words := range m.Titles {
		for _, w := range words {
			if !slices.Contains(but, w.Word) {
				w.Lang = "en"
				all[class] = append(all[class], w)
			}
		}
	}
	return all
}

// TestTitlesAreBounded: of a class with many words in its titles those of most pages are kept.
func TestTitlesAreBounded(t *testing.T) {
	c := newTitles()
	for i := range maxClassTitles + 100 {
		c.add("bird", []string{fmt.Sprintf("word%05d", i)}, "en")
		c.add(Other, []string{"ship"}, "en")
	}
	last := fmt.Sprintf("word%05d", maxClassTitles+99)
	c.add("bird", []string{last}, "en")
	all := c.list()
	kept := all["bird"]
	if len(all) != 1 || len(kept) != maxClassTitles {
		t.Fatalf("%d classes, %d words; want 1 and %d", len(all), len(kept), maxClassTitles)
	}
	if got := kept[len(kept)-1]; got != (models.TitleWord{Word: last, Lang: "en", Pages: 2}) {
		t.Errorf("the last of them %v, want %s of two pages", got, last)
	}
}
