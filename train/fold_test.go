package train

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"fossick/datasets"
	"fossick/internal/fulltest"
	"fossick/models/features"
)

// sitesCorpus has 12 small sites, one site with half of all pages, and pages without a site.
func sitesCorpus() *corpus {
	c := &corpus{classes: []string{"a", "b"}}
	add := func(site string, class, n int) {
		for range n {
			c.sites, c.y = append(c.sites, site), append(c.y, class)
		}
	}
	for i := range 12 {
		add(fmt.Sprintf("s%d", i), i%2, 5)
	}
	add("big", 0, 70)
	add("", 1, 20)
	c.rows = make([]features.Vector, len(c.y))
	return c
}

func TestFoldsBySite(t *testing.T) {
	const n = 5
	c := sitesCorpus()
	fold := folds(c, n, &Options{Seed: 1, BySite: true})
	of := map[string]map[int]bool{}
	size := make([]map[int]int, n)
	for p, f := range fold {
		if of[c.sites[p]] == nil {
			of[c.sites[p]] = map[int]bool{}
		}
		of[c.sites[p]][f] = true
		if size[f] == nil {
			size[f] = map[int]int{}
		}
		size[f][c.y[p]]++
	}
	for site, in := range of {
		dealt := site == "big" || site == "" // too large for a fold, or no site at all
		if dealt != (len(in) > 1) {
			t.Errorf("site %q is in %d folds; dealt out page by page: want %v", site, len(in), dealt)
		}
	}
	for f, classes := range size {
		for class, total := range c.classRows(c.all()) {
			if got := classes[class]; got < total/n-1 || got > total/n+1 {
				t.Errorf("fold %d has %d pages of class %d, want %d, give or take one", f, got, class, total/n)
			}
		}
	}
	if again := folds(c, n, &Options{Seed: 1, BySite: true}); !slices.Equal(fold, again) {
		t.Error("the same seed gives other folds")
	}
	if plain := folds(c, n, &Options{Seed: 1}); slices.Equal(fold, plain) {
		t.Error("folds by site are those without sites")
	}
}

// TestBySiteTellsMenusFromTopics: pages whose only common words are their site's look easy page by
// page, and are not when whole sites are held out.
func TestBySiteTellsMenusFromTopics(t *testing.T) {
	fulltest.Only(t, "seconds of processor time")
	rows := func(yield func(*datasets.Example, error) bool) {
		for site := range 12 {
			for i := range 8 {
				e := &datasets.Example{
					URL: fmt.Sprintf("http://s%d.test/%d", site, i), Site: fmt.Sprint("s", site),
					Label: []string{"a", "b"}[site%2], Text: fmt.Sprintf("menu%c home%c page about this and that", 'a'+site, 'a'+site),
				}
				if !yield(e, nil) {
					return
				}
			}
		}
	}
	accuracy := func(bySite bool, classifier string) float64 {
		_, rep, err := Train(context.Background(), rows, Options{Classifier: classifier, BySite: bySite})
		if err != nil {
			t.Fatal(err)
		}
		return rep.CV.Accuracy
	}
	for _, classifier := range Classifiers()[1:] {
		if got := accuracy(true, classifier); got > 0.7 {
			t.Errorf("%s by site: accuracy %.2f, want about one half", classifier, got)
		}
	}
	if got := accuracy(false, "linear"); got < 0.95 {
		t.Errorf("page by page: accuracy %.2f, want nearly 1", got)
	}
}

// TestMinSites: a word that only one site has is no word of the model.
func TestMinSites(t *testing.T) {
	rows := func(yield func(*datasets.Example, error) bool) {
		for i := range 160 {
			site, label := i/8, []string{"a", "b"}[i/8%2]
			e := &datasets.Example{
				URL: fmt.Sprintf("http://x.test/%d", i), Site: fmt.Sprint("s", site), Label: label,
				Text: fmt.Sprintf("name%c topic%s", 'a'+site, label),
			}
			if !yield(e, nil) {
				return
			}
		}
	}
	for _, least := range []int{0, 3} {
		m, _, err := Train(context.Background(), rows, Options{Classifier: "linear", MinSites: least})
		if err != nil {
			t.Fatal(err)
		}
		if has := slices.Contains(m.Terms, "namec"); has != (least == 0) {
			t.Errorf("with %d sites at least: the name of a single site is a term: %v", least, has)
		}
		if !slices.Contains(m.Terms, "topica") {
			t.Errorf("with %d sites at least: topica, on ten sites, is no term: %v", least, m.Terms)
		}
	}
}
