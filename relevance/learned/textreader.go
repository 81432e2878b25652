package learned

import (
	"fossick/internal/page"
	"fossick/models/features"
	"fossick/relevance"
)

// textReader finds out what the texts of links say, by the judge and by their words.
// Safe for concurrent use.
type textReader struct {
	judge   relevance.Judge
	reader  Reader  // nil where nobody cuts for both
	silence float64 // log-odds of a text without words, by the judge
	readers *features.Spare[wordReader]
}

func newTextReader(judge relevance.Judge, reader Reader) *textReader {
	return &textReader{
		judge: judge, reader: reader, silence: logit(inside(judge(features.Doc{}))),
		readers: features.NewSpare(newWordReader),
	}
}

// above is by how much a text changes the judge's mind: the log-odds of what it
// says of the text, above those of a text without words. The judge of a small
// topic says no to four words that it does not know, and surely. That tells
// nothing of them, and where a bound cut it off, it hid the words that it
// knows. The bound keeps one sure word from drowning all else.
func (t *textReader) above(probability float64) float64 {
	const most = 4
	return max(-most, min(most, logit(inside(probability))-t.silence))
}

// readLinks fills w with what the links of p say, where it is wanted, and where they stand.
func (t *textReader) readLinks(w *linkWork, p *page.Page, around []surroundings) {
	r := t.readers.Get()
	defer t.readers.Put(r)
	for i := range w.links {
		v := &w.links[i]
		place, of := p.Place(i)
		v.early = uint8(255 * (of - place) / of)
		v.at, v.nav = placeOf(place), p.Links[i].Nav
		if around[i].wanted {
			v.linkText, v.context, v.over = t.read(r, &p.Links[i], p.Lang), t.above(around[i].judged), around[i].over
		}
	}
}

// read finds out what a link says.
func (t *textReader) read(r *wordReader, link *page.Link, lang string) linkText {
	s := linkText{anchor: t.above(t.readAnchor(r, link, lang))}
	s.count = uint8(r.link(s.words[:], lang, link))
	s.ended = uint8(len(endings(s.endings[:0], link.Anchor)))
	return s
}

// readAnchor judges a link's text as a title, with the target's URL, and has r find
// its words.
func (t *textReader) readAnchor(r *wordReader, link *page.Link, lang string) (probability float64) {
	d := features.Doc{Title: link.Anchor, URL: link.URL, Lang: lang}
	if t.reader == nil || len(link.Anchor) > maxAnchor {
		r.anchor(link.Anchor, lang)
		return t.judge(d)
	}
	probability, r.found = t.reader(d, r.found[:0])
	return probability
}

// around reads the words around the links of p that are wanted.
func (t *textReader) around(p *page.Page, wanted []bool) Around {
	r := t.readers.Get()
	defer t.readers.Put(r)
	read := Around{Wanted: wanted, Judged: make([]float64, len(p.Links)), Ends: make([]int, len(p.Links))}
	for i, wanted := range wanted {
		if wanted {
			context := p.Links[i].Context
			read.Judged[i] = t.judge(features.Doc{Text: context, Lang: p.Lang})
			read.Words = r.tokens.Append(read.Words, context, p.Lang)
		}
		read.Ends[i] = len(read.Words)
	}
	return read
}

// unlinked is evidence of a URL's own words, as if one page had named it by these.
func (t *textReader) unlinked(url string) evidence {
	r := t.readers.Get()
	defer t.readers.Put(r)
	words := float32(t.above(t.judge(features.Doc{URL: url})))
	e := evidence{text: true, parents: 1, anchor: extreme{words, words}}
	r.found = r.found[:0]
	e.count = uint8(r.link(e.words[:], "", &page.Link{URL: url}))
	return e
}
