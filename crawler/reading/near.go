package reading

import (
	"cmp"
	"slices"

	"fossick/page"
	"fossick/store"
)

// Near-duplicates are stored once. A reading asks the journal for pages whose signatures
// say that they may be near it, reads the best of them again and compares. What was stored
// after it asked is compared by the crawl's owner, by signatures alone.
//
// The links of a near-duplicate are followed: those that the page it repeats has
// are known already and cost a look-up, which the reading has made; others, as a
// printer version's or a mirror's, may lead to what is new.

const (
	// nearCompared bounds the stored pages that one is compared with by content.
	nearCompared = 3
	// nearSlack is how far the estimate of a near-duplicate may fall short: three
	// standard errors at a resemblance of 0.9.
	nearSlack = 0.08
)

// Near says which stored page a page is a near-duplicate of.
type Near struct {
	Page        uint64 // 0 when there is none
	Resemblance float64
	Stored      uint64 // pages when it was asked: later ones were not looked at
}

// findNear looks for a stored page that p is a near-duplicate of.
func (r *Reader) findNear(p *Page, order Order, spent func() error) error {
	if r.opt.KeepNear || p.NoIndex || p.Signature.IsZero() || order.Again {
		return nil
	}
	p.Near.Stored = r.stored.Load() // before the look-up: what is stored meanwhile is the owner's
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
		if q == nil { // it cannot be read any more: like no other
			continue
		}
		if resemblance, near := page.Near(p.Page, q); near {
			p.Near.Page, p.Near.Resemblance = candidate.Number, resemblance
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
