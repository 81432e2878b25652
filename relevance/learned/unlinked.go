package learned

import (
	"fossick/features"
	"fossick/page"
)

// unlinkedDoubt is how many pages of probability unlinkedPrior a host's own pages
// are counted with: a sitemap of a host nobody knows must not fill the queue.
const (
	unlinkedDoubt = 1
	unlinkedPrior = 0.3
)

// ScoreUnlinked returns the score of a URL that no page links to, such as one
// that only a sitemap names: that of a link from a page as good as
// its host's mean so far, with no words but those of the URL, and without the
// weight of having a parent. It keeps
// nothing: a first link to the URL counts as its first.
func (l *Scorer) ScoreUnlinked(url string) float64 {
	r := l.readers.Get()
	defer l.readers.Put(r)
	words := float32(l.above(l.judge(features.Doc{URL: url})))
	e := evidence{text: true, parents: 1, anchor: extreme{words, words}}
	r.found = r.found[:0]
	e.count = uint8(r.link(e.words[:], "", &page.Link{URL: url}))
	l.mu.Lock()
	defer l.mu.Unlock()
	e.host, e.folder, e.sources[0] = l.place(page.Host(url)), l.place(folder(url)), &source{}
	mean := (float64(e.host.onTopic) + unlinkedPrior*unlinkedDoubt) / (float64(e.host.pages) + unlinkedDoubt)
	e.prob = extreme{float32(mean), float32(mean)}
	x := l.parts(&e)
	x[partOnTopic] = 0
	return l.model.probability(&x)
}
