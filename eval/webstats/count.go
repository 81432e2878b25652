package webstats

import (
	"context"
	"errors"
	"math/bits"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"fossick/internal/document"
)

// Options configure Count; the zero value works.
type Options struct {
	Dir      string         // temporary files [the system's folder]
	Top      int            // rows of a table by name; 0 for all
	Progress func(done int) // called with the records read since; by two goroutines at once
}

// Result holds the statistics of a collection.
type Result struct {
	Tables     []resultTable
	States     map[string]int64 // ended URLs by state
	SeedStates map[string]int64 // ended start pages by state

	curves curves
	facts  facts
}

type facts struct {
	known, requested, downloaded, pages, hosts, seeds int64
	copies                                            int64 // duplicate and near-duplicate answers
	shells                                            int64 // URLs of pages whose text is made by scripts
	unseen, sized                                     int64 // invisible bytes of stored pages; bytes of the pages where that is known
}

// Count reads the streams of each source in turn, URLs and pages of one in parallel.
func Count(ctx context.Context, opt Options, sources ...Source) (r *Result, err error) {
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

func (c *counts) result(ctx context.Context, opt Options) (*Result, error) {
	for _, pair := range [][2]*groups{{c.urls.tops, c.pages.tops}, {c.urls.seconds, c.pages.seconds}, {c.urls.sites, c.pages.sites}} {
		if err := pair[1].each(ctx, func(name string, t tally) { pair[0].add(name, &t) }); err != nil {
			return nil, err
		}
	}
	r := &Result{States: c.urls.states, SeedStates: c.urls.seeds, facts: c.facts()}
	named, err := c.named(ctx, opt.Top)
	scored := c.urls.forecast.score()
	r.Tables = slices.Concat(
		c.urls.outcomeTables(), []resultTable{c.urls.codeTable(), c.means()}, c.lengthTables(), []resultTable{c.labelTable(), c.urls.depthTable(), c.urls.timeTable()},
		c.pages.sizeTables(), []resultTable{c.pages.packingTable(), c.pages.typeTable(), c.urls.copyTable(), c.urls.schemeTable(), c.urls.protocolTable()}, c.pages.kindTables(),
		[]resultTable{c.pages.degrees.table()}, named, []resultTable{scoreTable(&scored), forecastTable(&scored)},
	)
	if t := c.pages.rendered.with(c.urls.rendered).table(); len(t.Rows) > 0 {
		r.Tables = append(r.Tables, t)
	}
	r.curves = c.curves()
	r.curves.forecast, r.curves.foretold = reliability(&scored)
	return r, err
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

// deepest is the last depth with a row of its own; greater depths share it.
const deepest = 50

type outcome struct {
	urls, seeds int64 // with an outcome
	exchanges   int64
}

type depthCount struct {
	known, requested, downloaded, stored int64
	found                                int64 // URLs first linked from its pages
}

// copyCount counts URLs answered with a page: new content, a duplicate, a near-duplicate.
type copyCount struct{ own, same, near int64 }

type urlCounts struct {
	rendered                      renderCounts // of pages that are not stored
	places                        places
	states                        map[string]int64 // ended URLs
	seeds                         map[string]int64
	outcomes                      map[string]*outcome
	unasked                       map[string]int64
	codes                         map[int]int64
	protocols                     map[string]int64
	schemes                       map[string]*depthCount
	depths                        [deepest + 1]depthCount
	copies                        copyCount
	seedLength, pathLength, time  spread
	gotPath                       spread        // path lengths of downloaded URLs
	seedLabels                    map[int]int64 // start pages by number of host-name labels; 0 for IP addresses
	parties                       parties
	servers, tops, seconds, sites *groups
	forecast                      forecast
}

func newURLCounts(dir string) *urlCounts {
	return &urlCounts{
		places: places{}, states: map[string]int64{}, seeds: map[string]int64{}, outcomes: map[string]*outcome{},
		unasked: map[string]int64{}, codes: map[int]int64{}, protocols: map[string]int64{}, schemes: map[string]*depthCount{},
		seedLabels: map[int]int64{}, servers: newGroups(dir), tops: newGroups(dir), seconds: newGroups(dir), sites: newGroups(dir),
	}
}

func (c *urlCounts) close() error {
	return errors.Join(c.servers.close(), c.tops.close(), c.seconds.close(), c.sites.close())
}

func (c *urlCounts) add(u *URL) {
	scheme, host, path := divide(u.URL)
	requested, downloaded, stored := u.requested(), u.downloaded(), u.State == stateOK
	c.state(u, requested)
	c.forecast.add(u)
	c.rendered.add(u.Rendering)
	if u.Seed {
		c.seedLength.add(int64(len(host) + len(path) + min(1, len(path))))
		c.seedLabels[c.places.of(u.URL).labels]++
	}
	if requested {
		c.pathLength.add(int64(len(path)))
	}
	if downloaded {
		c.gotPath.add(int64(len(path)))
	}
	c.parties.add(u, downloaded)
	d := &c.depths[min(max(u.Depth, 0), deepest)]
	s := c.schemes[scheme]
	if s == nil {
		s = &depthCount{}
		c.schemes[strings.Clone(scheme)] = s
	}
	for _, n := range []*depthCount{d, s} {
		n.add(requested, downloaded, stored)
	}
	if u.Linked {
		c.depths[min(max(u.Depth-1, 0), deepest)].found++
	}
	t := c.exchanges(u)
	t[nKnown], t[nRequested], t[nDownloaded] = 1, one(requested), one(downloaded)
	at := c.places.of(u.URL)
	c.tops.add(at.top, &t)
	c.seconds.add(at.second, &t)
	c.sites.add(at.site, &t)
}

func (c *urlCounts) state(u *URL, requested bool) {
	if u.State != "" && u.State != stateNone {
		c.states[u.State]++
		if u.Seed {
			c.seeds[u.State]++
		}
	}
	switch {
	case u.State == stateDuplicate && u.Near:
		c.copies.near++
	case u.State == stateDuplicate:
		c.copies.same++
	case u.State == stateOK:
		c.copies.own++
	}
	if !requested {
		c.unasked[unaskedAs(u.State)]++
	}
	if !u.tried() {
		return
	}
	state := u.State
	if state == "" || state == stateNone { // it waits for a retry
		state = u.Exchanges[len(u.Exchanges)-1].State
	}
	o := c.outcome(state)
	o.urls++
	o.seeds += one(u.Seed)
}

func (c *urlCounts) outcome(state string) *outcome {
	o := c.outcomes[state]
	if o == nil {
		o = &outcome{}
		c.outcomes[state] = o
	}
	return o
}

func (c *urlCounts) exchanges(u *URL) (t tally) {
	for _, x := range u.Exchanges {
		c.outcome(x.State).exchanges++
		if x.Code == 0 {
			continue
		}
		c.codes[x.Code]++
		c.time.add(x.Millis)
		t[nAnswers]++
		t[nMillis] += x.Millis
	}
	for _, h := range u.Headers {
		c.protocols[h.Protocol]++
		c.servers.count(serverOf(h.Response), nAnswers)
	}
	return t
}

func (d *depthCount) add(requested, downloaded, stored bool) {
	d.known++
	d.requested += one(requested)
	d.downloaded += one(downloaded)
	d.stored += one(stored)
}

func (c *urlCounts) count(ctx context.Context, from Source, done func(int)) error {
	n := 0
	for u, err := range from.URLs() {
		if n++; n%progressStep == 0 && err == nil {
			err = ctx.Err()
			done(progressStep)
		}
		if err != nil {
			return err
		}
		c.add(u)
	}
	done(n % progressStep)
	c.parties.settle()
	return nil
}

const progressStep = 256

func one(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// stepBytes is paper E's step of page sizes.
const stepBytes = 256 << 10

// mostSteps is the number of rows; larger pages share the last.
const mostSteps = 64

const notKnown = ""

type packing struct{ pages, bytes, packed int64 }

type pageCounts struct {
	places                                               places
	size                                                 spread
	links                                                spread
	unseen                                               spread // invisible bytes per page: neither text nor title
	sized                                                int64  // bytes of the pages where that is known
	steps                                                [mostSteps]int64
	packing                                              [packingClasses]packing
	types                                                map[string]volume // by document.TypeOf
	kinds                                                map[string]int64  // pages by LinkKind; "" for unknown
	byKind                                               [3]int64          // links: frames, anchors, others
	degrees                                              *degrees
	rendered                                             renderCounts // of stored pages
	media, charsets, langs, labels, tops, seconds, sites *groups
}

func newPageCounts(dir string) *pageCounts {
	return &pageCounts{
		places: places{}, types: map[string]volume{}, kinds: map[string]int64{}, degrees: newDegrees(dir),
		media: newGroups(dir), charsets: newGroups(dir), langs: newGroups(dir), labels: newGroups(dir),
		tops: newGroups(dir), seconds: newGroups(dir), sites: newGroups(dir),
	}
}

func (c *pageCounts) close() error {
	err := c.degrees.close()
	for _, g := range []*groups{c.media, c.charsets, c.langs, c.labels, c.tops, c.seconds, c.sites} {
		err = errors.Join(err, g.close())
	}
	return err
}

func (c *pageCounts) add(p *Page) error {
	c.size.add(p.Bytes)
	c.steps[min(max(0, p.Bytes/stepBytes), mostSteps-1)]++
	c.links.add(int64(len(p.Links)))
	if p.Unseen >= 0 {
		c.unseen.add(min(p.Unseen, p.Bytes))
		c.sized += p.Bytes
	}
	if p.Packed > 0 {
		k := &c.packing[packingClass(p.Bytes)]
		k.pages, k.bytes, k.packed = k.pages+1, k.bytes+p.Bytes, k.packed+p.Packed
	}
	v := c.types[document.TypeOf(p.ContentType)]
	c.types[document.TypeOf(p.ContentType)] = volume{v.pages + 1, v.bytes + p.Bytes}
	c.rendered.add(p.Rendering)
	c.kinds[LinkKind(p.Charset, p.Kinds)]++
	for i, n := range p.Kinds[:min(len(p.Kinds), len(c.byKind))] {
		c.byKind[i] += int64(n)
	}
	var t tally
	t[nPages], t[nBytes], t[nLinks] = 1, p.Bytes, int64(len(p.Links))
	at := c.places.of(p.URL)
	c.media.add(mediaType(p.ContentType), &t)
	c.charsets.add(p.Charset, &t)
	c.langs.add(p.Lang, &t)
	c.labels.add(p.Label, &t)
	c.tops.add(at.top, &t)
	c.seconds.add(at.second, &t)
	c.sites.add(at.site, &t)
	return c.degrees.add(p)
}

// LinkKind returns paper E's link kind, such as ha0: h, a and f for a page with other links, anchors and frames,
// else 0; "" without links and charset. links counts frames, anchors, others.
func LinkKind(charset string, links []int) string {
	if charset == "" && links == nil {
		return notKnown
	}
	kind := []byte("000")
	for i, n := range links[:min(len(links), 3)] {
		if n > 0 {
			kind[2-i] = "fah"[i]
		}
	}
	return string(kind)
}

func mediaType(contentType string) string {
	media, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(media))
}

// packingClasses is the number of size classes: below 4 KiB, then each four times larger.
const packingClasses = 5

func packingClass(bytes int64) int {
	return min(packingClasses-1, max(0, (bits.Len64(uint64(max(0, bytes)))-11)/2))
}

func (c *pageCounts) count(ctx context.Context, from Source, done func(int)) error {
	c.degrees.begin()
	n := 0
	for p, err := range from.Pages() {
		if n++; n%progressStep == 0 && err == nil {
			err = ctx.Err()
			done(progressStep)
		}
		if err == nil {
			err = c.add(p)
		}
		if err != nil {
			return err
		}
	}
	done(n % progressStep)
	err := c.degrees.settle(ctx)
	return errors.Join(err, c.degrees.close())
}

type hostCounts struct {
	labels map[int]int64 // host names by number of labels; 0 for IP addresses
	count  spread        // labels per name
	hosts  int64         // with port
	names  int64
	last   string
}

// add counts a host; hosts of one name arrive consecutively.
func (c *hostCounts) add(host string) {
	c.hosts++
	name := withoutPort(host)
	if name == c.last {
		return
	}
	c.last = name
	c.names++
	p := placeOf(name)
	c.labels[p.labels]++
	if p.labels > 0 {
		c.count.add(int64(p.labels))
	}
}

func (c *hostCounts) walk(from Source) error {
	c.last = ""
	for host, err := range from.Hosts() {
		if err != nil {
			return err
		}
		c.add(host)
	}
	return nil
}

// parties counts the downloaded URLs that links and redirects reach from each start page (paper E, E1). It takes
// five bytes a URL of one source.
type parties struct {
	led   []uint32         // by URL ID: ID of the referring URL; a start page's own ID; 0 for none
	got   []bool           // by URL ID: downloaded
	seeds map[uint32]int64 // page count by ID of the start page
	sizes spread           // pages per party
}

func (p *parties) add(u *URL, downloaded bool) {
	for uint64(len(p.led)) <= u.ID {
		p.led, p.got = append(p.led, 0), append(p.got, false)
	}
	p.led[u.ID], p.got[u.ID] = uint32(u.From), downloaded
	if u.Seed {
		if p.seeds == nil {
			p.seeds = map[uint32]int64{}
		}
		p.led[u.ID], p.seeds[uint32(u.ID)] = uint32(u.ID), 0
	}
}

// settle counts the pages at the end of a source, since a URL may precede its referrer.
func (p *parties) settle() {
	for id, got := range p.got {
		if !got {
			continue
		}
		if seed := p.seedOf(uint32(id)); seed != 0 {
			p.seeds[seed]++
		}
	}
	for _, pages := range p.seeds {
		p.sizes.add(pages)
	}
	p.led, p.got, p.seeds = nil, nil, nil
}

// seedOf returns a URL's start page, 0 for none. It halves the path for later calls.
func (p *parties) seedOf(id uint32) uint32 {
	for uint64(id) < uint64(len(p.led)) && p.led[id] != id {
		from := p.led[id]
		if uint64(from) >= uint64(len(p.led)) {
			return 0
		}
		p.led[id] = p.led[from]
		id = p.led[id]
	}
	if _, seed := p.seeds[id]; !seed {
		return 0
	}
	return id
}
