package crawler

import (
	"cmp"
	"slices"

	"fossick/internal/page"
	"fossick/store"
)

// Near-duplicates are stored once. A worker looks up stored pages with a similar signature
// and compares the content of the likeliest. Against pages stored meanwhile, the owner
// compares signatures alone; see latest. The links of a near-duplicate are followed all the
// same, because those of a printer version or a mirror may be new.

const (
	// nearCompared bounds the stored pages whose content is compared.
	nearCompared = 3
	// nearSlack is the allowance for the error of an estimate: three standard errors at a
	// resemblance of 0.9.
	nearSlack = 0.08
)

// nearMatch names the stored page that a page is a near-duplicate of.
type nearMatch struct {
	Page        uint64 // 0 if there is none
	Resemblance float64
	Stored      uint64 // number of pages at the look-up, which saw no later ones
}

// findNear looks for a stored page that p is a near-duplicate of.
func (r *reader) findNear(p *parsedPage, order order, spent func() error) error {
	if r.opt.KeepNear || p.NoIndex || p.Signature.IsZero() || order.Old != nil {
		return nil
	}
	p.Near.Stored = r.stored.Load() // before the look-up, so that no page is missed
	candidates, err := r.journal.Candidates(p.Signature[:])
	if err != nil {
		return err
	}
	for _, candidate := range promising(p.Page, candidates) {
		if err := spent(); err != nil {
			return err
		}
		q, err := r.journal.Read(&candidate, spent)
		if err != nil {
			return err
		}
		if q == nil { // its body is damaged
			continue
		}
		if resemblance, near := page.Near(p.Page, q); near {
			p.Near.Page, p.Near.Resemblance = candidate.Number, resemblance
			return nil
		}
	}
	return nil
}

// promising returns the candidates whose content is worth comparing, the likeliest first. It
// returns none for an exact duplicate, which the owner finds by its checksum.
func promising(p *page.Page, candidates []store.Candidate) []store.Candidate {
	type estimated struct {
		store.Candidate
		share float64
	}
	var best []estimated
	for _, candidate := range candidates {
		if string(candidate.Checksum) == string(p.Checksum[:]) {
			return nil
		}
		if share := estimate(p, &candidate); share >= page.NearShare(p.URL, p.Title, candidate.URL, candidate.Title)-nearSlack {
			best = append(best, estimated{candidate, share})
		}
	}
	slices.SortStableFunc(best, func(a, b estimated) int { return cmp.Compare(b.share, a.share) })
	var likeliest []store.Candidate
	for _, e := range best[:min(len(best), nearCompared)] {
		likeliest = append(likeliest, e.Candidate)
	}
	return likeliest
}

func estimate(p *page.Page, candidate *store.Candidate) float64 {
	if len(candidate.Signature) != page.SignatureSize {
		return 0
	}
	signature := page.Signature(candidate.Signature)
	return page.Estimate(&p.Signature, &signature)
}

const (
	// rememberPages is how many pages may be stored between a worker's look-up and the
	// owner's decision, per worker.
	rememberPages = 4
	// nearMargin is the additional resemblance that is asked where signatures alone are
	// compared, because they are estimates.
	nearMargin = 0.03
)

// latest remembers the pages stored last, for pages that workers read at the same time.
type latest struct {
	room  int
	pages []recentPage
	next  int
}

type recentPage struct {
	number     uint64
	url, title string
	signature  page.Signature
}

// nearBySignature estimates the resemblance of pages of two hosts by their signatures, and
// whether they are near-duplicates. Pages of one host never are, because that takes their
// texts.
func nearBySignature(url1 string, signature1 []byte, url2 string, signature2 []byte) (alike float64, near bool) {
	if len(signature1) != page.SignatureSize || len(signature2) != page.SignatureSize {
		return 0, false
	}
	a, b := page.Signature(signature1), page.Signature(signature2)
	alike = page.Estimate(&a, &b)
	return alike, alike >= page.NearShare(url1, "one title", url2, "another")+nearMargin
}

func (l *latest) add(number uint64, p *page.Page) {
	if p.Signature.IsZero() {
		return
	}
	r := recentPage{number, p.URL, p.Title, p.Signature}
	if len(l.pages) < l.room {
		l.pages = append(l.pages, r)
		return
	}
	l.pages[l.next] = r
	l.next = (l.next + 1) % len(l.pages)
}

// near returns the page that p is a near-duplicate of, from the worker's look-up or among the
// pages stored since; its number is 0 if there is none.
func (l *latest) near(p *parsedPage) nearMatch {
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
