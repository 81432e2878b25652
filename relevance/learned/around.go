package learned

import (
	"fossick/features"
	"fossick/page"
)

// Around is what one cut of a page says of the words around each of its links; of none
// where nobody listens.
type Around struct {
	Listens []bool    // of each link, see Learned.Listens
	Judged  []float64 // how far they are on topic, by the judge
	Words   []uint32  // what Words has of them, one link's after the other's
	Ends    []int     // where each link's words end
}

// surroundings are the words around one link as a scorer has them: a name says what a
// target is called, they say what is said of it, and there are more of them.
type surroundings struct {
	listens bool    // else nothing was read
	judged  float64 // probability, by the judge
	over    float64 // how much more often they stand on pages on topic than at large: the mean, see Background
}

// weighAround makes surroundings of what was read, with what words are worth now. The
// caller has the lock.
func (l *Scorer) weighAround(read *Around) []surroundings {
	all := make([]surroundings, len(read.Judged))
	from := 0
	for i, listens := range read.Listens {
		if listens {
			all[i] = surroundings{true, read.Judged[i], l.vocabulary.over(read.Words[from:read.Ends[i]], &l.base)}
		}
		from = read.Ends[i]
	}
	return all
}

// over is by how much more often some words stand on the crawl's pages on topic than
// on pages at large, in the mean; 0 without words.
func (v *vocabulary) over(words []token, b *base) float64 {
	if len(words) == 0 {
		return 0
	}
	sum := 0.0
	for i, t := range words {
		if i%fetchRow == 0 {
			v.words.fetch(words[i:min(len(words), i+fetchRow)])
		}
		if w, known := v.words.find(t); known {
			sum += w.above(b)
		} else {
			sum += b.unmet
		}
	}
	return sum / float64(len(words))
}

// around returns the surroundings of p's links: those that came with the page, which
// are given once, since its source may live for long, or else read now.
func (l *Scorer) around(w *linkWork, p *page.Page) []surroundings {
	if known := l.aroundKnown(p.URL); len(known) == len(p.Links) {
		return known
	}
	r := l.readers.Get()
	defer l.readers.Put(r)
	read := Around{Listens: l.listens(nil, w.keys), Judged: make([]float64, len(p.Links)), Ends: make([]int, len(p.Links))}
	for i, listens := range read.Listens {
		if listens {
			context := p.Links[i].Context
			read.Judged[i] = l.judge(features.Doc{Text: context, Lang: p.Lang})
			read.Words = r.tokens.Append(read.Words, context, p.Lang)
		}
		read.Ends[i] = len(read.Words)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.weighAround(&read)
}

func (l *Scorer) aroundKnown(url string) (known []surroundings) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s, ok := l.sources.Peek(page.Key(url)); ok {
		known, s.around = s.around, nil
	}
	return known
}
