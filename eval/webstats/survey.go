package webstats

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"fossick/internal/fileio"
	"fossick/internal/page"
)

// surveySource is a crawl's records; URL IDs count from 1 in order of discovery.
type surveySource interface {
	// URLs yields all URLs by ID, each valid until the next.
	URLs() iter.Seq2[*SurveyURL, error]
	// Pages yields the stored pages, each valid until the next.
	Pages() iter.Seq2[*SurveyPage, error]
	// Name returns a URL by ID; "" when it is lost.
	Name(id uint64) (string, error)
}

// SurveyURL is a URL in a survey's records.
type SurveyURL struct {
	ID      uint64
	URL     string // normalised
	From    uint64 // ID of the page or redirect that led here; 0 for none
	Seed    bool   // a start page
	Depth   int    // links from a start page
	Content string // hash of a start page's content, in hex; "" when unknown
	State   string // final state, as named by focus; "" while it waits
	Got     bool   // an exchange returned its page, kept or not
	Outside bool   // skipped because it lies outside the party that linked to it
	Began   int64  // start of the first exchange, Unix milliseconds; 0 for none
	Ended   int64  // end of the last exchange
}

// asked reports whether a party got as far as requesting the URL or queueing it.
func (u *SurveyURL) asked() bool { return !u.Outside && u.State != "none" && u.State != "trap" }

type SurveyPage struct {
	Links []uint64 // numbers of the URLs that it links to
}

// SurveyOptions configure FindSeeds.
type SurveyOptions struct {
	Seeds []string              // normalised, in list order
	Wants func(url string) bool // whether a URL may be a seed; nil accepts all
	// Hosts makes a candidate of each host that no party has reached, else of each such URL.
	Hosts bool
}

// SurveyResult holds the seeds of the next survey; the caller must Close it.
type SurveyResult struct {
	Seeds      []listedSeed // as given, then those of earlier sessions
	Candidates int          // for the next survey

	sorted *fileio.Sorter[listedSeed]
}

type listedSeed struct {
	ID        uint64 // URL ID in the crawl; 0 when the crawl has not seen it
	URL       string
	Content   string // hash of the page's content, in hex; "" when unknown
	Candidate bool

	State string // of the start page; "" while it waits
	Pages int    // downloaded pages of the party, kept or not
	Depth int    // of the deepest of these
	Began int64  // start of the party's first exchange, Unix milliseconds; 0 for none
	Ended int64  // end of its last exchange

	FoundBy string // first page or redirect that led to the candidate or its host
	Links   int    // pages that link to the candidate or its host, at least 1
}

// Parties counts the seeds whose party has a page.
func (r *SurveyResult) Parties() (n int) {
	for i := range r.Seeds {
		if r.Seeds[i].Pages > 0 {
			n++
		}
	}
	return n
}

// each calls do with this survey's seeds, then with the candidates by falling in-link count.
func (r *SurveyResult) each(ctx context.Context, do func(s *listedSeed) error) error {
	for i := range r.Seeds {
		if err := do(&r.Seeds[i]); err != nil {
			return err
		}
	}
	return r.sorted.Each(ctx, func(s listedSeed) error { return do(&s) })
}

// Close removes the candidates' temporary files.
func (r *SurveyResult) Close() error { return r.sorted.Close() }

// FindSeeds evaluates the records of a survey, complete or not.
func FindSeeds(ctx context.Context, src surveySource, opt SurveyOptions) (*SurveyResult, error) {
	f := &finder{opt: opt, at: map[string]uint32{}, parties: seedParties{byHost: map[string]uint32{}}, hosts: &outsideHosts{byName: map[string]*outsideHost{}}}
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

// walk reads both streams: pages first, since a candidate URL needs its in-links counted; with
// SurveyOptions.Hosts last, since in-links count for known hosts only.
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
	at      map[string]uint32 // seed by URL, from 1
	parties seedParties
	hosts   *outsideHosts
	outside outside // without SurveyOptions.Hosts

	candidates int
}

// seed adds a start page and returns its position, from 1.
func (f *finder) seed(url string) uint32 {
	if f.at[url] == 0 {
		f.seeds = append(f.seeds, listedSeed{URL: url})
		f.at[url] = uint32(len(f.seeds))
	}
	return f.at[url]
}

// wants reports whether a URL may be a candidate: no seed, and in scope.
func (f *finder) wants(url string) bool {
	return f.at[url] == 0 && (f.opt.Wants == nil || f.opt.Wants(url))
}

func (f *finder) url(src surveySource, u *SurveyURL) error {
	name := page.HostName(u.URL)
	m := member{id: u.ID, from: u.From, host: name, gave: u.Got, depth: u.Depth, began: u.Began, ended: u.Ended}
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
		if seed := f.parties.place(m); seed != 0 {
			f.add(seed, m)
		} else {
			m.host = strings.Clone(name) // do not retain the whole URL
			f.parties.late = append(f.parties.late, m)
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

// seedParties assigns each URL to the party of the seed from which links and redirects led to it, and
// URLs of sitemaps to the party of their host.
type seedParties struct {
	of     []uint32          // by URL ID: seed, from 1; 0 for unknown
	byHost map[string]uint32 // party of the host's first URL, for URLs from sitemaps
	late   []member          // waiting for the party of their referrer or host
}

type member struct {
	id, from     uint64
	host         string
	gave         bool // a page
	depth        int
	began, ended int64 // of its exchanges, Unix milliseconds; 0 for none
}

// place assigns a URL that is no seed to a party and returns it; 0 while its party is unknown.
func (p *seedParties) place(m member) (seed uint32) {
	switch {
	case m.from == 0:
		seed = p.byHost[m.host]
	case m.from < uint64(len(p.of)):
		seed = p.of[m.from]
	}
	if seed != 0 {
		p.enter(m.id, seed, m.host)
	}
	return seed
}

func (p *seedParties) enter(id uint64, seed uint32, host string) {
	for uint64(len(p.of)) <= id {
		p.of = append(p.of, 0)
	}
	p.of[id] = seed
	if p.byHost[host] == 0 {
		p.byHost[host] = seed
	}
}

// settle assigns the waiting URLs: a URL may be discovered before its referrer has a party, and a
// sitemap's URL before its host has one.
func (p *seedParties) settle(add func(seed uint32, m member)) {
	for left := -1; len(p.late) != left; {
		left = len(p.late)
		p.late = slices.DeleteFunc(p.late, func(m member) bool {
			seed := p.place(m)
			if seed != 0 {
				add(seed, m)
			}
			return seed != 0
		})
	}
}
