package crawler

import (
	"cmp"
	"slices"

	"fossick/store"
)

// replay shows a scorer that learns the stored pages, in the order of the
// crawl, and what people said of them when they said it. So the scorer goes on
// with what it knew.
func (pe *people) replay() error {
	marks, err := pe.restore()
	if err != nil {
		return err
	}
	scorer, ok := pe.opt.Scorer.(Rescorer)
	if !ok || pe.totals.Pages == 0 {
		return nil
	}
	for stored, err := range pe.opt.Store.Pages() {
		if err != nil {
			return err
		}
		if marks, err = pe.replayMarks(scorer, marks, stored.Number); err != nil {
			return err
		}
		p, err := pe.parseStored(stored)
		if err != nil {
			return err
		}
		scorer.ScoreLinks(nil, p, scorer.ScorePage(p, stored.Parent))
	}
	if _, err := pe.replayMarks(scorer, marks, pe.totals.Pages+1); err != nil {
		return err
	}
	pe.queue.rescore()
	return nil
}

// restore returns what people said, in order of time.
func (pe *people) restore() ([]store.MarkedURL, error) {
	var marks []store.MarkedURL
	for m, err := range pe.opt.Store.Marks() {
		if err != nil {
			return nil, err
		}
		pe.marks[m.ID] = m.OnTopic
		marks = append(marks, m)
	}
	slices.SortFunc(marks, func(a, b store.MarkedURL) int {
		return cmp.Or(cmp.Compare(a.After, b.After), cmp.Compare(a.At, b.At), cmp.Compare(a.ID, b.ID))
	})
	return marks, nil
}

// replayMarks shows the scorer the marks that were made before a page was stored and
// returns those that are left; marks of one moment were made together.
func (pe *people) replayMarks(scorer Scorer, marks []store.MarkedURL, before uint64) ([]store.MarkedURL, error) {
	for len(marks) > 0 && marks[0].After < before {
		n := 1
		for n < len(marks) && marks[n].After == marks[0].After && marks[n].At == marks[0].At {
			n++
		}
		if marker, ok := scorer.(Marker); ok {
			together, err := pe.marked(marks[:n])
			if err != nil {
				return nil, err
			}
			marker.Mark(together)
		}
		marks = marks[n:]
	}
	return marks, nil
}

// marked reads the pages of marks, those that had one when the marks were made.
func (pe *people) marked(marks []store.MarkedURL) ([]Marked, error) {
	all := make([]Marked, len(marks))
	for i, m := range marks {
		birth, err := pe.journal.Birth(m.ID)
		if err != nil {
			return nil, err
		}
		all[i] = Marked{URL: birth.URL, OnTopic: m.OnTopic}
		life, err := pe.opt.Store.URLs().Life(birth.URL)
		if err != nil {
			return nil, err
		}
		if life.Page == nil || life.Page.Number > m.After || markable(life) != nil {
			continue // it came later, and will be known as marked then
		}
		if all[i].Page, err = pe.parseStored(life.Page); err != nil {
			return nil, err
		}
	}
	return all, nil
}
