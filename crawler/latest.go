package crawler

import "fossick/internal/page"

const (
	// rememberPages is how many pages may be stored between a worker's look-up and the
	// owner's decision, for each worker.
	rememberPages = 4
	// nearMargin is what the owner asks of a near-duplicate beyond what a reading does: it
	// compares signatures alone, which are estimates.
	nearMargin = 0.03
)

// latest remembers the pages stored last, for those that workers read at the same time. It
// belongs to the crawl's owner.
type latest struct {
	room  int
	pages []readingRecent
	next  int
}

type readingRecent struct {
	number     uint64
	url, title string
	signature  page.Signature
}

// nearBySignature returns the resemblance of pages of two hosts whose signatures alone are known,
// and whether they are near-duplicates. Pages of one host never are: it takes their texts.
func nearBySignature(url1 string, signature1 []byte, url2 string, signature2 []byte) (alike float64, near bool) {
	if len(signature1) != page.SignatureSize || len(signature2) != page.SignatureSize {
		return 0, false
	}
	a, b := page.Signature(signature1), page.Signature(signature2)
	alike = page.Estimate(&a, &b)
	return alike, alike >= page.NearShare(url1, "one title", url2, "another")+nearMargin
}

// newLatest remembers enough pages for so many workers.
func newLatest(workers int) *latest { return &latest{room: rememberPages * workers} }

// add takes note of a page that is stored.
func (l *latest) add(number uint64, p *page.Page) {
	if p.Signature.IsZero() {
		return
	}
	r := readingRecent{number, p.URL, p.Title, p.Signature}
	if len(l.pages) < l.room {
		l.pages = append(l.pages, r)
		return
	}
	l.pages[l.next] = r
	l.next = (l.next + 1) % len(l.pages)
}

// near returns the page that p is a near-duplicate of, as its reading found it or among the
// pages stored since; its number is 0 when there is none.
func (l *latest) near(p *readingPage) readingNear {
	if p.Near.Page != 0 || p.NoIndex || p.Signature.IsZero() {
		return p.Near
	}
	best := p.Near
	for i := range l.pages {
		r := &l.pages[i]
		if r.number <= p.Near.Stored {
			continue
		}
		share := page.Estimate(&p.Signature, &r.signature)
		if share > best.Resemblance && share >= page.NearShare(p.URL, p.Title, r.url, r.title)+nearMargin {
			best.Page, best.Resemblance = r.number, share
		}
	}
	return best
}
