package crawler

import (
	"fossick/crawler/reading"
	"fossick/page"
)

// nearMargin is what the owner asks of a near-duplicate beyond what a reading does, as it
// has nothing but estimates: what was stored after a worker asked is compared by signatures
// alone.
const nearMargin = 0.03

// signatureOf returns what the store keeps of a page's signature, nothing of none.
func signatureOf(p *page.Page) []byte {
	if p.Signature.IsZero() {
		return nil
	}
	return p.Signature[:]
}

// latest remembers the pages stored last, for those that workers read at the
// same time.
type latest struct {
	pages []recent
	next  int
}

type recent struct {
	number     uint64
	url, title string
	signature  page.Signature
}

// rememberPages is how many pages may be stored between a worker's look-up and
// the owner's decision, for each worker.
const rememberPages = 4

func (l *latest) add(number uint64, p *page.Page, workers int) {
	if p.Signature.IsZero() {
		return
	}
	r := recent{number, p.URL, p.Title, p.Signature}
	if len(l.pages) < rememberPages*workers {
		l.pages = append(l.pages, r)
		return
	}
	l.pages[l.next] = r
	l.next = (l.next + 1) % len(l.pages)
}

// settleNear returns the page that p is a near-duplicate of, as the worker found
// it or among the pages stored since then; its page is 0 when there is none.
func (a *arrivals) settleNear(p *reading.Page) reading.Near {
	if p.Near.Page != 0 || a.opt.KeepNear || p.NoIndex || p.Signature.IsZero() {
		return p.Near
	}
	best := p.Near
	for i := range a.latest.pages {
		r := &a.latest.pages[i]
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
