package webstats

import (
	"context"
	"errors"
	"math/rand/v2"

	"golang.org/x/sync/errgroup"
)

// Options of Count. The zero value works.
type Options struct {
	Dir      string         // for what memory has no room for [the system's]
	Top      int            // rows of a table of names; 0: all
	Rand     *rand.Rand     // for the bootstrap of power laws; nil is a fixed one
	Progress func(done int) // records more that were read; called by two goroutines
}

// Result is what a collection is made of.
type Result struct {
	Tables     []Table
	States     map[string]int64 // URLs that ended, by state
	SeedStates map[string]int64 // start pages likewise

	curves curves
	facts  facts
}

// facts are the headline figures.
type facts struct {
	known, requested, downloaded, pages, hosts, seeds int64
	copies                                            int64 // answers whose content was stored already, nearly too
	shells                                            int64 // URLs of pages that scripts make
	unseen, sized                                     int64 // bytes of stored pages that nobody sees, of so many
}

// Count walks the streams of each source, one after the other. URLs and pages are walked
// at once, for they are independent.
func Count(ctx context.Context, opt Options, sources ...Source) (r *Result, err error) {
	if opt.Rand == nil {
		opt.Rand = rand.New(rand.NewPCG(1, 1))
	}
	if opt.Progress == nil {
		opt.Progress = func(int) {}
	}
	c := &counts{urls: newURLCounts(opt.Dir), pages: newPageCounts(opt.Dir), hosts: hostCounts{labels: map[int]int64{}}}
	defer func() { err = errors.Join(err, c.urls.close(), c.pages.close()) }()
	for _, from := range sources {
		if err := c.walk(ctx, from, opt.Progress); err != nil {
			return nil, err
		}
	}
	return c.result(ctx, opt)
}

// counts is all that is counted.
type counts struct {
	urls  *urlCounts
	pages *pageCounts
	hosts hostCounts
}

func (c *counts) walk(ctx context.Context, from Source, done func(int)) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return errors.Join(c.urls.count(ctx, from, done), c.hosts.walk(from)) })
	g.Go(func() error { return c.pages.count(ctx, from, done) })
	return g.Wait()
}

// result makes the tables.
func (c *counts) result(ctx context.Context, opt Options) (*Result, error) {
	for _, pair := range [][2]*groups{{c.urls.tops, c.pages.tops}, {c.urls.seconds, c.pages.seconds}, {c.urls.sites, c.pages.sites}} {
		if err := pair[1].each(ctx, func(name string, t tally) { pair[0].add(name, &t) }); err != nil {
			return nil, err
		}
	}
	laws := c.powerLaws(opt.Rand)
	r := &Result{States: c.urls.states, SeedStates: c.urls.seeds, facts: c.facts()}
	r.Tables = append(c.urls.outcomeTables(), c.urls.codeTable())
	r.Tables = append(r.Tables, c.means())
	r.Tables = append(r.Tables, c.lengthTables()...)
	r.Tables = append(r.Tables, c.labelTable(), c.urls.depthTable(), c.urls.timeTable())
	r.Tables = append(r.Tables, c.pages.sizeTables()...)
	r.Tables = append(r.Tables, c.pages.packingTable(), c.urls.copyTable())
	r.Tables = append(r.Tables, c.urls.schemeTable(), c.urls.protocolTable())
	r.Tables = append(r.Tables, c.pages.kindTables()...)
	r.Tables = append(r.Tables, c.pages.degrees.table(), lawTable(laws))
	named, err := c.named(ctx, opt.Top)
	r.Tables = append(r.Tables, named...)
	scored := c.urls.forecast.score()
	r.Tables = append(r.Tables, scoreTable(&scored), forecastTable(&scored))
	r.curves = c.curves(laws)
	r.curves.forecast, r.curves.foretold = reliability(&scored)
	return r, err
}

// powerLaws fits the degrees, in the order of lawNames.
func (c *counts) powerLaws(rng *rand.Rand) (laws []*powerLaw) {
	d := c.pages.degrees
	for _, of := range []map[int]int64{d.in, d.known, d.out} {
		laws = append(laws, fitPowerLaw(rising(of), rng))
	}
	return laws
}

func (c *counts) facts() facts {
	f := facts{pages: c.pages.size.n, hosts: c.hosts.hosts, seeds: c.urls.seedLength.n, copies: c.urls.copies.same + c.urls.copies.near,
		unseen: int64(c.pages.unseen.sum), sized: c.pages.sized}
	for _, d := range c.urls.depths {
		f.known, f.requested, f.downloaded = f.known+d.known, f.requested+d.requested, f.downloaded+d.downloaded
	}
	if o := c.urls.outcomes[stateShell]; o != nil {
		f.shells = o.urls
	}
	return f
}
