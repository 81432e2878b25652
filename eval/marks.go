package eval

import (
	"slices"

	"fossick/store"
)

// marksOf returns what people said of the URLs of a store.
func marksOf(s *store.Store) (map[store.ID][]store.Mark, error) {
	marks := map[store.ID][]store.Mark{}
	for m, err := range s.Marks() {
		if err != nil {
			return nil, err
		}
		marks[m.ID] = append(marks[m.ID], m.Mark)
	}
	return marks, nil
}

// heed writes what people said of the page.
func (p *Page) heed(marks []store.Mark) {
	for _, m := range marks {
		if m.Topic == 0 {
			p.Mark = &m
		} else {
			p.Marked |= 1 << (m.Topic - 1)
		}
	}
}

// marked is a label as a person's mark overrules it; what the model says goes on
// standing in its reason.
func (opt *RefineOptions) marked(l store.Label, m store.Mark, rest string) store.Label {
	why := l.Rule
	l = l.Marked(m, opt.Topic)
	if !m.OnTopic {
		l.Label = rest
	}
	l.Rule += "; the model: " + why
	return l
}

// judgeByMarks lets what people said of pages stand against what a model says. Where
// several topics share the crawl, that is what they said for the one that is judged.
func (c *Crawl) judgeByMarks() {
	topic := slices.Index(c.Info.Topics, c.Source.Target)
	for i := range c.Pages {
		p := &c.Pages[i]
		if p.Mark != nil {
			p.Relevant, p.Known = p.Mark.OnTopic, true
		}
		if topic >= 0 && p.Marked&(1<<topic) != 0 {
			p.Relevant, p.Known = p.Topics&(1<<topic) != 0, true
		}
	}
}
