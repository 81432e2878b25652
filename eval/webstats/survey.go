package webstats

import (
	"context"
	"errors"
	"iter"

	"fossick/internal/extsort"
	"fossick/internal/page"
)

// A Source is what a crawl has on record. URLs have numbers from 1, in the order of
// discovery.
type surveySource interface {
	// URLs yields all URLs in the order of their numbers, each valid until the next.
	URLs() iter.Seq2[*SurveyURL, error]
	// Pages yields the stored pages, each valid until the next.
	Pages() iter.Seq2[*SurveyPage, error]
	// Name returns the URL of a number, "" where it is lost.
	Name(id uint64) (string, error)
}

// SurveyURL is what is known of one.
type SurveyURL struct {
	ID      uint64
	URL     string // in normal form
	From    uint64 // number of the page or redirect that led to it; 0 where none did
	Seed    bool   // a start page
	Depth   int    // links from a start page
	Content string // of a start page: the hash of what it says, in hex; "" where that is not known
	State   string // in which it ended, as focus names them; "" while it waits
	Got     bool   // an exchange brought its page, kept or not
	Outside bool   // it was left aside for being outside of the party that led to it
	Began   int64  // of its first exchange, Unix milliseconds; 0 without one
	Ended   int64  // of its last one
}

// asked says that a party came so far: the URL waits, or ended by more than being known.
func (u *SurveyURL) asked() bool { return !u.Outside && u.State != "none" && u.State != "trap" }

// SurveyPage is a stored page.
type SurveyPage struct {
	Links []uint64 // numbers of the URLs that it links to
}

// SurveyOptions are what a survey was asked.
type SurveyOptions struct {
	Seeds []string              // in normal form, in the order of the list
	Wants func(url string) bool // whether a URL may be a seed; nil: any
	// Hosts makes candidates of hosts that no party has reached, by their start pages; else
	// each URL outside of the parties is one.
	Hosts bool
}

// SurveyResult is what a survey found. Close it in the end.
type SurveyResult struct {
	Seeds      []listedSeed // as given, then those of earlier sessions
	Candidates int          // to be seeds of the next survey

	sorted *extsort.Sorter[listedSeed]
}

type listedSeed struct {
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
func (r *SurveyResult) Parties() (n int) {
	for i := range r.Seeds {
		if r.Seeds[i].Pages > 0 {
			n++
		}
	}
	return n
}

// Each calls do with the seeds of the next survey: those of this one, then the candidates,
// those that most pages link to first. It ends with do's error, or ctx's.
func (r *SurveyResult) Each(ctx context.Context, do func(s *listedSeed) error) error {
	for i := range r.Seeds {
		if err := do(&r.Seeds[i]); err != nil {
			return err
		}
	}
	return r.sorted.Each(ctx, func(s listedSeed) error { return do(&s) })
}

// Close removes what is on disk of the candidates.
func (r *SurveyResult) Close() error { return r.sorted.Close() }

// FindSeeds walks what is on record of a survey, which may have ended or not. An error is the
// source's, ctx's, or of the disk where candidates are sorted.
func FindSeeds(ctx context.Context, src surveySource, opt SurveyOptions) (*SurveyResult, error) {
	f := &finder{opt: opt, at: map[string]uint32{}, parties: seedParties{byHost: map[string]uint32{}}, hosts: newOutsideHosts()}
	f.outside.sorted = newSorter()
	r := &SurveyResult{sorted: f.outside.sorted}
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
func (f *finder) walk(ctx context.Context, src surveySource) error {
	if !f.opt.Hosts {
		if err := each(ctx, src.Pages(), func(p *SurveyPage) error { f.outside.page(p); return nil }); err != nil {
			return err
		}
	}
	if err := each(ctx, src.URLs(), func(u *SurveyURL) error { return f.url(src, u) }); err != nil {
		return err
	}
	f.parties.settle(f.add)
	if !f.opt.Hosts {
		return nil
	}
	if err := each(ctx, src.Pages(), func(p *SurveyPage) error { f.hosts.page(p); return nil }); err != nil {
		return err
	}
	return f.hosts.candidates(src, f.wants, func(s listedSeed) error {
		f.candidates++
		return f.outside.sorted.Add(s)
	})
}

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

type finder struct {
	opt     SurveyOptions
	seeds   []listedSeed
	at      map[string]uint32 // of seeds, by URL, from 1
	parties seedParties
	hosts   *outsideHosts // with Options.Hosts
	outside outside       // else

	candidates int
}

// seed enters a start page, and returns its place, from 1.
func (f *finder) seed(url string) uint32 {
	if f.at[url] == 0 {
		f.seeds = append(f.seeds, listedSeed{URL: url})
		f.at[url] = uint32(len(f.seeds))
	}
	return f.at[url]
}

// wants says whether a URL is to be a candidate: it is no seed, and in the scope.
func (f *finder) wants(url string) bool {
	return f.at[url] == 0 && (f.opt.Wants == nil || f.opt.Wants(url))
}

func (f *finder) url(src surveySource, u *SurveyURL) error {
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

// seedParties says in whose party each URL is: that of the seed from which links and redirects
// led to it.
type seedParties struct {
	of     []uint32          // by a URL's number: its seed, from 1; 0 where none is known
	byHost map[string]uint32 // of the first URL of a host, for what a sitemap named
	late   []member          // that wait for the party of who led to them
}

type member struct {
	id, from     uint64
	gave         bool // a page
	depth        int
	began, ended int64 // its exchanges, Unix milliseconds; 0 without one
}

func (p *seedParties) put(id uint64, seed uint32) {
	for uint64(len(p.of)) <= id {
		p.of = append(p.of, 0)
	}
	p.of[id] = seed
}

// get returns the party of a URL, 0 where none is known.
func (p *seedParties) get(id uint64) uint32 {
	if id >= uint64(len(p.of)) {
		return 0
	}
	return p.of[id]
}

// place finds the party of a URL of a host that is no seed; 0 where that is not known yet.
func (p *seedParties) place(m member, host string) uint32 {
	seed := p.get(m.from)
	if m.from == 0 {
		seed = p.byHost[host]
	}
	if seed == 0 {
		p.late = append(p.late, m)
		return 0
	}
	p.enter(m.id, seed, host)
	return seed
}

func (p *seedParties) enter(id uint64, seed uint32, host string) {
	p.put(id, seed)
	if p.byHost[host] == 0 {
		p.byHost[host] = seed
	}
}

// settle finds the parties of those that waited: who led to them was discovered later.
func (p *seedParties) settle(tell func(seed uint32, m member)) {
	for left := -1; len(p.late) != left; {
		left = len(p.late)
		waiting := p.late[:0]
		for _, m := range p.late {
			seed := p.get(m.from)
			if seed == 0 {
				waiting = append(waiting, m)
				continue
			}
			p.put(m.id, seed)
			tell(seed, m)
		}
		p.late = waiting
	}
}
