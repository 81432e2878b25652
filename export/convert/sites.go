package convert

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// site is a host of pages (the paper's word), as far as its pages tell.
type site struct {
	host      string
	domain    uint32
	pages     uint32
	index     uint32 // id of its index page
	depth     uint32 // of that, as depthOf has it
	votes     []vote
	community uint32 // once settled; none where no page has a label
}

// vote is how many pages of a site have a label.
type vote struct{ label, pages uint32 }

// group is a domain or a community.
type group struct {
	name         string
	sites, pages uint32
}

// sites are all sites, their domains and, once settled, communities. Ids are places in these.
type sites struct {
	all         []site
	domains     []group
	communities []group

	byHost, byDomain, byLabel map[string]uint32
	labels                    []string
}

func newSites() *sites {
	return &sites{byHost: map[string]uint32{}, byDomain: map[string]uint32{}, byLabel: map[string]uint32{}}
}

// placeOf is the place of a name, and whether it is a new one.
func placeOf(m map[string]uint32, name string) (at uint32, isNew bool) {
	at, ok := m[name]
	if !ok {
		at = uint32(len(m))
		m[strings.Clone(name)] = at
	}
	return at, !ok
}

// add enters a page, and returns its site. Pages come in the order of their ids.
func (s *sites) add(id uint32, r *record) (siteID uint32) {
	siteID, isNew := placeOf(s.byHost, r.Host)
	depth := depthOf(r.URL)
	if isNew {
		domain, isNew := placeOf(s.byDomain, r.Domain)
		if isNew {
			s.domains = append(s.domains, group{name: strings.Clone(r.Domain)})
		}
		s.domains[domain].sites++
		s.all = append(s.all, site{host: strings.Clone(r.Host), domain: domain, index: id, depth: depth, community: none})
	}
	one := &s.all[siteID]
	one.pages++
	s.domains[one.domain].pages++
	if depth < one.depth {
		one.index, one.depth = id, depth
	}
	if r.Label != "" {
		one.vote(s.label(r.Label))
	}
	return siteID
}

func (s *sites) label(name string) uint32 {
	at, isNew := placeOf(s.byLabel, name)
	if isNew {
		s.labels = append(s.labels, strings.Clone(name))
	}
	return at
}

func (s *site) vote(label uint32) {
	for i := range s.votes {
		if s.votes[i].label == label {
			s.votes[i].pages++
			return
		}
	}
	s.votes = append(s.votes, vote{label, 1})
}

// depthOf says how far a URL is from its host's root: 0 is the root itself, then it goes by
// segments of the path, and with as many, no query comes first.
func depthOf(url string) uint32 {
	_, rest, _ := strings.Cut(url, "://")
	rest, _, query := strings.Cut(rest, "?")
	_, path, _ := strings.Cut(rest, "/")
	segments := 0
	for part := range strings.SplitSeq(path, "/") {
		if part != "" {
			segments++
		}
	}
	depth := uint32(2 * segments)
	if query {
		depth++
	}
	return depth
}

// settle gives each site the community of the label that most of its pages have; of equal
// ones, the first in order of bytes.
func (s *sites) settle() {
	chosen := make([]string, len(s.all)) // label of each site, "" of none
	found := map[string]uint32{}
	for i := range s.all {
		if len(s.all[i].votes) == 0 {
			continue
		}
		best := slices.MinFunc(s.all[i].votes, func(a, b vote) int {
			return cmp.Or(cmp.Compare(b.pages, a.pages), strings.Compare(s.labels[a.label], s.labels[b.label]))
		})
		chosen[i] = s.labels[best.label]
		found[chosen[i]] = 0
	}
	for _, label := range slices.Sorted(maps.Keys(found)) {
		found[label] = uint32(len(s.communities))
		s.communities = append(s.communities, group{name: label})
	}
	for i, label := range chosen {
		if label == "" {
			continue
		}
		one := &s.all[i]
		one.community = found[label]
		s.communities[one.community].sites++
		s.communities[one.community].pages += one.pages
	}
}
