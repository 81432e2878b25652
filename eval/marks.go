package eval

import "fossick/store"

// marksOf returns what people said of the URLs of a store.
func marksOf(s *store.Store) (map[store.ID]store.Mark, error) {
	marks := map[store.ID]store.Mark{}
	for m, err := range s.Marks() {
		if err != nil {
			return nil, err
		}
		marks[m.ID] = m.Mark
	}
	return marks, nil
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

// judgeByMarks lets what people said of pages stand against what a model says.
func (c *Crawl) judgeByMarks() {
	for i := range c.Pages {
		if m := c.Pages[i].Mark; m != nil {
			c.Pages[i].Relevant, c.Pages[i].Known = m.OnTopic, true
		}
	}
}
