package survey

import (
	"context"

	"fossick/page"
)

// Options are what a survey was asked.
type Options struct {
	Seeds []string              // in normal form, in the order of the list
	Wants func(url string) bool // whether a URL may be a seed; nil: any
}

// Result is what a survey found.
type Result struct {
	Seeds      []Seed // as given, then those of earlier sessions
	Candidates []Seed // to be seeds of the next survey, those that most pages link to first
}

// Seed is a start page with its party, or a candidate for one.
type Seed struct {
	ID        uint64 // of the URL in the crawl; 0 where the crawl has not met it
	URL       string
	Content   string // hash of what the page says, in hex; "" where that is not known
	Candidate bool

	State string // of the start page; "" while it waits
	Pages int    // of the party: pages that were got, also those that were not kept
	Depth int    // of the deepest of these, links from the start page
	Began int64  // of the party's first exchange, Unix milliseconds; 0 without one
	Ended int64  // of its last one

	FoundBy string // of a candidate: the first page or redirect that led to its host
	Links   int    // pages that link to its host, at least 1
}

// Parties counts the seeds that gave a page, of their own or of their party.
func (r *Result) Parties() (n int) {
	for i := range r.Seeds {
		if r.Seeds[i].Pages > 0 {
			n++
		}
	}
	return n
}

// All are the seeds of the next survey, those of this one first.
func (r *Result) All() []Seed {
	return append(r.Seeds[:len(r.Seeds):len(r.Seeds)], r.Candidates...)
}

// Find walks what is on record of a survey, which may have ended or not. An error is the
// source's, or ctx's.
func Find(ctx context.Context, src Source, opt Options) (*Result, error) {
	f := &finder{opt: opt, at: map[string]uint32{}, parties: parties{byHost: map[string]uint32{}}, hosts: newHosts()}
	for _, seed := range opt.Seeds {
		f.seed(seed)
	}
	for u, err := range src.URLs() {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return nil, err
		}
		f.url(u)
	}
	f.parties.settle(f.add)
	for p, err := range src.Pages() {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return nil, err
		}
		f.hosts.page(p)
	}
	candidates, err := f.hosts.candidates(src, f.wants)
	return &Result{Seeds: f.seeds, Candidates: candidates}, err
}

// finder is what is known after so many URLs.
type finder struct {
	opt     Options
	seeds   []Seed
	at      map[string]uint32 // of seeds, by URL, from 1
	parties parties
	hosts   *hosts
}

// seed enters a start page, and returns its place, from 1.
func (f *finder) seed(url string) uint32 {
	if f.at[url] == 0 {
		f.seeds = append(f.seeds, Seed{URL: url})
		f.at[url] = uint32(len(f.seeds))
	}
	return f.at[url]
}

// wants says whether a URL is to be a candidate: it is no seed, and in the scope.
func (f *finder) wants(url string) bool {
	return f.at[url] == 0 && (f.opt.Wants == nil || f.opt.Wants(url))
}

// url takes in the next URL.
func (f *finder) url(u *URL) {
	m := member{id: u.ID, from: u.From, gave: u.Got, depth: u.Depth, began: u.Began, ended: u.Ended}
	name := page.HostName(u.URL)
	switch {
	case u.Seed || f.at[u.URL] != 0:
		seed := f.seed(u.URL)
		s := &f.seeds[seed-1]
		s.ID, s.State, s.Content = u.ID, u.State, u.Content
		f.parties.enter(u.ID, seed, name)
		f.add(seed, m)
		f.hosts.seed(name, u)
	case u.Outside:
		f.hosts.outside(name, u)
	default:
		if seed := f.parties.place(m, name); seed != 0 {
			f.add(seed, m)
		}
		f.hosts.inside(name, u)
	}
}

// add counts a URL for its party.
func (f *finder) add(seed uint32, m member) {
	s := &f.seeds[seed-1]
	if m.gave {
		s.Pages++
		s.Depth = max(s.Depth, m.depth)
	}
	if m.began != 0 && (s.Began == 0 || m.began < s.Began) {
		s.Began = m.began
	}
	s.Ended = max(s.Ended, m.ended)
}
