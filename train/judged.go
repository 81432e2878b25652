package train

// Judged is what was said of a labelled page that was not trained on.
type Judged struct {
	URL, File    string
	Line         int // in File, from 1; 0 when it has no lines
	Truth, Label int // classes; −1 for a label that the model does not have
	Score        float64
	Site         string // that was held out whole with the page, "" where pages are singly
	Mark         uint64 // of its text, see models.Mark; 0 where that is not known
}

func (j Judged) right() bool { return j.Truth == j.Label }

// source is where a training page comes from.
type source struct {
	url, file string
	line      int
}

// judged says what the held-out scores, by page, make of each page that has some.
func (c *corpus) judged(probs [][]float64, bySite bool) []Judged {
	out := make([]Judged, 0, len(c.y))
	for p, s := range probs {
		if s == nil {
			continue
		}
		label := best(s)
		j := Judged{Truth: c.y[p], Label: label, Score: s[label], Site: c.apart(p, bySite)}
		if c.texts != nil {
			j.Mark = c.texts[p]
		}
		if c.from != nil {
			j.URL, j.File, j.Line = c.from[p].url, c.from[p].file, c.from[p].line
		}
		out = append(out, j)
	}
	return out
}

// MeasureJudged compares labels with truth, and probabilities with both.
func MeasureJudged(classes int, pages []Judged) (Measures, Reliability) {
	truth, predicted := make([]int, len(pages)), make([]int, len(pages))
	for i, p := range pages {
		truth[i], predicted[i] = p.Truth, p.Label
	}
	m := Measure(classes, truth, predicted)
	m.CI, m.Units = judgedCI(pages), units(pages)
	return m, measureReliability(pages)
}

// units counts pages that tell something new: copies of a text are one, and so are the pages of
// a site that was held out whole.
func units(pages []Judged) (n int) {
	seen := map[any]bool{}
	for _, p := range pages {
		switch {
		case p.Site != "":
			seen[p.Site] = true
		case p.Mark != 0:
			seen[p.Mark] = true
		default:
			n++
		}
	}
	return n + len(seen)
}

func judgedCI(pages []Judged) [2]float64 {
	return rightCI(len(pages), func(i int) string { return pages[i].Site }, func(i int) bool { return pages[i].right() })
}
