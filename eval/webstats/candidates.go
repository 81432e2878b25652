package webstats

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"io"
	"slices"
	"strings"

	"fossick/internal/fileio"
)

// outside collects, as candidates for seeds, URLs that lead out of a party and that none has reached (paper E,
// E1). They are sorted on disk; memory holds four bytes a known URL.
type outside struct {
	links  []uint32 // by URL number: stored pages that link to it
	sorted *fileio.Sorter[listedSeed]

	from uint64 // URL whose name is cached: the links of a page are consecutive
	name string
}

const inMemory = 1 << 16

// newSorter sorts candidates by falling in-link count, then by URL.
func newSorter() *fileio.Sorter[listedSeed] {
	return fileio.NewSorter(fileio.SortOptions[listedSeed]{
		Limit:   inMemory,
		Compare: func(a, b listedSeed) int { return cmp.Or(cmp.Compare(b.Links, a.Links), cmp.Compare(a.URL, b.URL)) },
		Append: func(dst []byte, _, s listedSeed) []byte {
			dst = binary.AppendUvarint(binary.AppendUvarint(dst, s.ID), uint64(s.Links))
			for _, text := range []string{s.URL, s.FoundBy} {
				dst = append(binary.AppendUvarint(dst, uint64(len(text))), text...)
			}
			return dst
		},
		Read: func(r *bufio.Reader, _ listedSeed) (listedSeed, error) {
			id, err := binary.ReadUvarint(r)
			links := uint64(0)
			if err == nil {
				links, err = binary.ReadUvarint(r)
			}
			s := listedSeed{ID: id, Candidate: true, Links: int(links)}
			for _, text := range []*string{&s.URL, &s.FoundBy} {
				var n uint64
				if err == nil {
					n, err = binary.ReadUvarint(r)
				}
				if err == nil {
					room := make([]byte, n)
					_, err = io.ReadFull(r, room)
					*text = string(room)
				}
			}
			return s, err
		},
	})
}

func (o *outside) page(p *SurveyPage) {
	slices.Sort(p.Links)
	for _, id := range slices.Compact(p.Links) {
		for uint64(len(o.links)) <= id {
			o.links = append(o.links, 0)
		}
		o.links[id]++
	}
}

func (o *outside) url(src surveySource, u *SurveyURL) (err error) {
	s := listedSeed{ID: u.ID, URL: u.URL, Candidate: true, Links: 1}
	if u.ID < uint64(len(o.links)) {
		s.Links = max(1, int(o.links[u.ID]))
	}
	if u.From != 0 && u.From != o.from {
		if o.name, err = src.Name(u.From); err != nil {
			return err
		}
		o.from = u.From
	}
	if u.From != 0 {
		s.FoundBy = o.name
	}
	return o.sorted.Add(s)
}

// outsideHosts serves SurveyOptions.Hosts: a host that no party has reached becomes a seed by its start
// page. If that seed failed, the first other URL found on the host becomes one. So the list grows by
// at most two seeds a host and stops growing on a closed web.

type outsideHosts struct {
	byName map[string]*outsideHost
	of     []uint32       // by URL number: position in list, from 1; 0 for URLs of a party
	list   []*outsideHost // hosts with outside URLs
	pages  int            // pages counted so far
}

type outsideHost struct {
	name    string
	reached bool // by a party or as a seed
	gave    bool // has a stored page
	deeper  bool // has a seed other than its start page
	barren  bool // its start page was fetched as a seed and is no page

	// The other fields describe the host's outside URLs.
	place   uint32    // position in list, from 1; 0 for none
	secure  bool      // has an https URL
	starts  [2]uint64 // IDs of the start page by http and https; 0 for unknown
	first   found
	below   found // first URL that is not the start page
	links   int   // pages that link to the host
	counted int   // last page counted
}

type found struct {
	id   uint64
	url  string
	from uint64
}

func (hs *outsideHosts) get(name string) *outsideHost {
	h := hs.byName[name]
	if h == nil {
		h = &outsideHost{name: strings.Clone(name)} // do not retain the whole URL
		hs.byName[h.name] = h
	}
	return h
}

func (hs *outsideHosts) seed(name string, u *SurveyURL) {
	h := hs.get(name)
	h.reached = true
	h.gave = h.gave || u.Got
	h.deeper = h.deeper || !isStart(u.URL, name)
	h.barren = h.barren || slices.Contains([]string{"code", "wrong_type", "no_text", "challenge", "payment_required"}, u.State)
}

func (hs *outsideHosts) inside(name string, u *SurveyURL) {
	if !u.asked() {
		return
	}
	h := hs.get(name)
	h.reached, h.gave = true, h.gave || u.Got
}

func (hs *outsideHosts) outside(name string, u *SurveyURL) {
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
		h.starts[one(secure)] = u.ID
	}
	for uint64(len(hs.of)) <= u.ID {
		hs.of = append(hs.of, 0)
	}
	hs.of[u.ID] = h.place
}

func (hs *outsideHosts) page(p *SurveyPage) {
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

func (hs *outsideHosts) candidates(src surveySource, wants func(url string) bool, tell func(listedSeed) error) (err error) {
	for _, h := range hs.list {
		c := h.candidate(wants)
		if c.url == "" {
			continue
		}
		s := listedSeed{ID: c.id, URL: c.url, Candidate: true, Links: max(1, h.links)}
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

// candidate returns the URL by which the host becomes a seed; the zero value for none.
func (h *outsideHost) candidate(wants func(url string) bool) (none found) {
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
	for _, c := range []found{{h.starts[one(h.secure)], scheme + h.name + "/", h.first.from}, h.first, h.below} {
		if c.url != "" && wants(c.url) {
			return c
		}
	}
	return none
}

func isStart(url, name string) bool {
	_, rest, _ := strings.Cut(url, "://")
	return rest == name+"/"
}
