package survey

import (
	"context"
	"errors"
	"iter"

	"fossick/internal/extsort"
	"fossick/internal/page"
)

// Options are what a survey was asked.
type Options struct {
	Seeds []string              // in normal form, in the order of the list
	Wants func(url string) bool // whether a URL may be a seed; nil: any
	// Hosts makes candidates of hosts that no party has reached, by their start pages; else
	// each URL outside of the parties is one.
	Hosts bool
}

// Result is what a survey found. Close it in the end.
type Result struct {
	Seeds      []Seed // as given, then those of earlier sessions
	Candidates int    // to be seeds of the next survey

	sorted *extsort.Sorter[Seed]
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

	FoundBy string // of a candidate: the first page or redirect that led to it, or to its host
	Links   int    // pages that link to it, or to its host, at least 1
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

// Each calls do with the seeds of the next survey: those of this one, then the candidates,
// those that most pages link to first. It ends with do's error, or ctx's.
func (r *Result) Each(ctx context.Context, do func(s *Seed) error) error {
	for i := range r.Seeds {
		if err := do(&r.Seeds[i]); err != nil {
			return err
		}
	}
	return r.sorted.Each(ctx, func(s Seed) error { return do(&s) })
}

// Close removes what is on disk of the candidates.
func (r *Result) Close() error { return r.sorted.Close() }

// Find walks what is on record of a survey, which may have ended or not. An error is the
// source's, ctx's, or of the disk where candidates are sorted.
func Find(ctx context.Context, src Source, opt Options) (*Result, error) {
	f := &finder{opt: opt, at: map[string]uint32{}, parties: parties{byHost: map[string]uint32{}}, hosts: newHosts()}
	f.outside.sorted = newSorter()
	r := &Result{sorted: f.outside.sorted}
	for _, seed := range opt.Seeds {
		f.seed(seed)
	}
	if err := f.walk(ctx, src); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	r.Seeds, r.Candidates = f.seeds, f.candidates
	return r, nil
}

// walk goes through both streams. Hosts are known before their links are counted; links of
// URLs are counted before these are candidates.
func (f *finder) walk(ctx context.Context, src Source) error {
	if !f.opt.Hosts {
		if err := each(ctx, src.Pages(), func(p *Page) error { f.outside.page(p); return nil }); err != nil {
			return err
		}
	}
	if err := each(ctx, src.URLs(), func(u *URL) error { return f.url(src, u) }); err != nil {
		return err
	}
	f.parties.settle(f.add)
	if !f.opt.Hosts {
		return nil
	}
	if err := each(ctx, src.Pages(), func(p *Page) error { f.hosts.page(p); return nil }); err != nil {
		return err
	}
	return f.hosts.candidates(src, f.wants, func(s Seed) error {
		f.candidates++
		return f.outside.sorted.Add(s)
	})
}

// each walks a stream.
func each[T any](ctx context.Context, all iter.Seq2[*T, error], do func(*T) error) error {
	for x, err := range all {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err == nil {
			err = do(x)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// finder is what is known after so many URLs.
type finder struct {
	opt     Options
	seeds   []Seed
	at      map[string]uint32 // of seeds, by URL, from 1
	parties parties
	hosts   *hosts  // with Options.Hosts
	outside outside // else

	candidates int
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
func (f *finder) url(src Source, u *URL) error {
	m := member{id: u.ID, from: u.From, gave: u.Got, depth: u.Depth, began: u.Began, ended: u.Ended}
	name := page.HostName(u.URL)
	switch {
	case u.Seed || f.at[u.URL] != 0:
		seed := f.seed(u.URL)
		s := &f.seeds[seed-1]
		s.ID, s.State, s.Content = u.ID, u.State, u.Content
		f.parties.enter(u.ID, seed, name)
		f.add(seed, m)
		if f.opt.Hosts {
			f.hosts.seed(name, u)
		}
	case u.Outside && f.opt.Hosts:
		f.hosts.outside(name, u)
	case u.Outside:
		if f.wants(u.URL) {
			f.candidates++
			return f.outside.url(src, u)
		}
	default:
		if seed := f.parties.place(m, name); seed != 0 {
			f.add(seed, m)
		}
		if f.opt.Hosts {
			f.hosts.inside(name, u)
		}
	}
	return nil
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
