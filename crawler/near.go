package crawler

import (
	"cmp"
	"slices"

	"fossick/page"
	"fossick/store"
)

// Near-duplicates are stored once. The worker that read a page asks the store
// for pages whose signatures say that they may be near it. It reads the best of
// them again and compares, so all that takes time happens there. What was
// stored after the worker asked is compared by the owner, by signatures alone.
//
// The links of a near-duplicate are followed. Those that the page it repeats
// has are known already and cost a look-up, which the worker has made. Others,
// as a printer version's or a mirror's, may lead to what is new.

const (
	// nearCompared bounds the stored pages that one is compared with by content.
	nearCompared = 3
	// nearSlack is how far the estimate of a near-duplicate may fall short: three
	// standard errors at a resemblance of 0.9.
	nearSlack = 0.08
	// nearMargin is what the owner asks beyond, as it has nothing but estimates.
	nearMargin = 0.03
)

// nearPage says which stored page a page is a near-duplicate of.
type nearPage struct {
	page        uint64 // 0 when there is none
	resemblance float64
	stored      uint64 // pages when it was asked: later ones were not looked at
}

// findNear looks for a stored page that o's is a near-duplicate of.
func (r *reader) findNear(o *outcome, spent func() error) error {
	p := o.page
	if r.opt.KeepNear || p.NoIndex || p.Signature.IsZero() || o.old != nil {
		return nil
	}
	o.near.stored = r.storedPages.Load() // before the look-up: what is stored meanwhile is the owner's
	candidates, err := r.journal.Candidates(p.Signature[:])
	if err != nil {
		return err
	}
	for _, candidate := range promising(p, candidates) {
		if err := spent(); err != nil {
			return err
		}
		q, err := r.journal.Read(&candidate, spent)
		if err != nil {
			return err
		}
		if q == nil { // it cannot be read any more: like no other
			continue
		}
		if resemblance, near := page.Near(p, q); near {
			o.near.page, o.near.resemblance = candidate.Number, resemblance
			return nil
		}
	}
	return nil
}

// promising returns the candidates that are worth a comparison by content, the
// likeliest first. Where the content is equal there is none: the owner will see.
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

// settleNear returns the page that o's is a near-duplicate of, as the worker found
// it or among the pages stored since then; its page is 0 when there is none.
func (a *arrivals) settleNear(o *outcome) nearPage {
	p := o.page
	if o.near.page != 0 || a.opt.KeepNear || p.NoIndex || p.Signature.IsZero() {
		return o.near
	}
	best := o.near
	for i := range a.latest.pages {
		r := &a.latest.pages[i]
		if r.number <= o.near.stored {
			continue
		}
		share := page.Estimate(&p.Signature, &r.signature)
		if share > best.resemblance && share >= page.NearShare(p.URL, p.Title, r.url, r.title)+nearMargin {
			best.page, best.resemblance = r.number, share
		}
	}
	return best
}
