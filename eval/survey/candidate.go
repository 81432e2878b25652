package survey

import "strings"

// With Options.Hosts a host that no party has reached becomes a seed by its start page. Where that one was
// a seed and has no page, its host gets another: the first URL that was found of it. So a
// list grows by two seeds a host at most, and ends on a web that is closed.

// hosts are those that a survey has heard of, by name.
type hosts struct {
	byName map[string]*host
	of     []uint32 // by a URL's number: its host in list, from 1; 0 of what is inside
	list   []*host  // that have URLs outside
	pages  int      // so far
}

type host struct {
	name    string
	reached bool // by a party, or as a seed
	gave    bool // a page
	deeper  bool // a seed of it is not its start page
	barren  bool // its start page was asked for as a seed, and is no page

	// What follows is of URLs outside.
	place   uint32    // in list, from 1; 0 where there is none
	secure  bool      // one is https
	starts  [2]uint64 // IDs of its start page by http and by https; 0 where that is not known
	first   found
	below   found // the first that is not the start page
	links   int   // pages that link to one
	counted int   // the page that was counted last
}

// found is a URL outside and what led to it.
type found struct {
	id   uint64
	url  string
	from uint64
}

func newHosts() *hosts { return &hosts{byName: map[string]*host{}} }

func (hs *hosts) get(name string) *host {
	h := hs.byName[name]
	if h == nil {
		h = &host{name: strings.Clone(name)} // not the whole URL
		hs.byName[h.name] = h
	}
	return h
}

// seed takes note of a start page.
func (hs *hosts) seed(name string, u *URL) {
	h := hs.get(name)
	h.reached = true
	h.gave = h.gave || u.Got
	h.deeper = h.deeper || !isStart(u.URL, name)
	h.barren = h.barren || u.State == "code" || u.State == "wrong_type"
}

// inside takes note of a URL of a party.
func (hs *hosts) inside(name string, u *URL) {
	if !u.asked() {
		return
	}
	h := hs.get(name)
	h.reached, h.gave = true, h.gave || u.Got
}

// outside takes note of a URL that is in no party.
func (hs *hosts) outside(name string, u *URL) {
	h := hs.get(name)
	if h.place == 0 {
		hs.list = append(hs.list, h)
		h.place, h.first = uint32(len(hs.list)), found{u.ID, u.URL, u.From}
	}
	if h.below.url == "" && !isStart(u.URL, name) {
		h.below = found{u.ID, u.URL, u.From}
	}
	secure := strings.HasPrefix(u.URL, "https:")
	h.secure = h.secure || secure
	if isStart(u.URL, name) {
		h.starts[btoi(secure)] = u.ID
	}
	for uint64(len(hs.of)) <= u.ID {
		hs.of = append(hs.of, 0)
	}
	hs.of[u.ID] = h.place
}

// page counts a page for each host outside that it links to.
func (hs *hosts) page(p *Page) {
	hs.pages++
	for _, id := range p.Links {
		if id >= uint64(len(hs.of)) || hs.of[id] == 0 {
			continue
		}
		if h := hs.list[hs.of[id]-1]; h.counted != hs.pages {
			h.counted = hs.pages
			h.links++
		}
	}
}

// candidates tells of each host that becomes a seed.
func (hs *hosts) candidates(src Source, wants func(url string) bool, tell func(Seed) error) (err error) {
	for _, h := range hs.list {
		c := h.candidate(wants)
		if c.url == "" {
			continue
		}
		s := Seed{ID: c.id, URL: c.url, Candidate: true, Links: max(1, h.links)}
		if c.from != 0 {
			if s.FoundBy, err = src.Name(c.from); err != nil {
				return err
			}
		}
		if err := tell(s); err != nil {
			return err
		}
	}
	return nil
}

// candidate is the URL by which a host becomes a seed, the zero value where it does not.
func (h *host) candidate(wants func(url string) bool) (none found) {
	switch {
	case h.reached && (h.gave || h.deeper || !h.barren):
		return none
	case h.reached:
		if h.below.url != "" && wants(h.below.url) {
			return h.below
		}
		return none
	}
	scheme := "http://"
	if h.secure {
		scheme = "https://"
	}
	for _, c := range []found{{h.starts[btoi(h.secure)], scheme + h.name + "/", h.first.from}, h.first, h.below} {
		if c.url != "" && wants(c.url) {
			return c
		}
	}
	return none
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// isStart says whether a URL is the start page of its host.
func isStart(url, name string) bool {
	_, rest, _ := strings.Cut(url, "://")
	return rest == name+"/"
}
