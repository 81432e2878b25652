package known

import (
	"fossick/internal/page"
)

// hostLinks is what a policy remembers that goes by the links to a page and by its host:
// targets that were not fetched, what was fetched, and what each host gave. The policy
// that has it guards it.
type hostLinks struct {
	targets page.Recent[*hostLink]
	fetched page.Recent[struct{}]
	hosts   page.Recent[*hostYield]
}

// hostLink is what is known of a target: its first link and the best page with one.
type hostLink struct {
	words []token
	page  float64
	host  *hostYield
}

// hostYield is what a host gave.
type hostYield struct{ pages, relevant float64 }

// success is Laplace's estimate of the share of relevant pages.
func (h *hostYield) success() float64 { return (h.relevant + 1) / (h.pages + 2) }

func newHostLinks() hostLinks {
	return hostLinks{targets: page.NewRecent[*hostLink](maxEvidence), fetched: page.NewRecent[struct{}](maxFetched), hosts: page.NewRecent[*hostYield](maxHosts)}
}

// arrive notes that url was fetched and forgets it as a target. It returns its host and
// the link that led there, nil for none; first is false for a page that was there before,
// of which nothing is noted.
func (m *hostLinks) arrive(url string, relevant bool) (h *hostYield, t *hostLink, first bool) {
	key := page.Key(url)
	if _, again := m.fetched.Get(key); again {
		return nil, nil, false
	}
	m.fetched.Put(key, struct{}{})
	h = m.host(url)
	if h.pages++; relevant {
		h.relevant++
	}
	t, _ = m.targets.Get(key)
	m.targets.Remove(key)
	return h, t, true
}

// score appends the priority of each link of p, 0 for those that were fetched.
func (m *hostLinks) score(dst []float64, p *page.Page, similarity float64, priority func(*hostLink) float64) []float64 {
	for i := range p.Links {
		link := &p.Links[i]
		key := page.Key(link.URL)
		if _, done := m.fetched.Get(key); done {
			dst = append(dst, 0)
			continue
		}
		t, ok := m.targets.Get(key)
		if !ok {
			t = &hostLink{words: linkTokens(nil, link), host: m.host(link.URL)}
			m.targets.Put(key, t)
		}
		t.page = max(t.page, similarity)
		dst = append(dst, priority(t))
	}
	return dst
}

func (m *hostLinks) host(url string) *hostYield {
	key := page.Key(page.Host(url))
	h, ok := m.hosts.Get(key)
	if !ok {
		h = &hostYield{}
		m.hosts.Put(key, h)
	}
	return h
}

// rescore returns the present priority of a target.
func (m *hostLinks) rescore(key uint64, priority func(*hostLink) float64) (float64, bool) {
	t, ok := m.targets.Peek(key)
	if !ok {
		return 0, false
	}
	return priority(t), true
}
