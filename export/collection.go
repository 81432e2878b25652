package export

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"fossick/internal/cli"
	"fossick/internal/page"
	"fossick/store"
)

// Options configure how a collection reads its stores.
type Options struct {
	// Open opens a snapshot of a store; done releases it.
	Open func(dir string) (s *store.Store, done func() error, err error)
	// Text extracts the text of a page; nil for no text.
	Text mainText
	// Partial skips and counts unreadable records.
	Partial bool
	// Looked is called for each page examined, selected or not; it may be nil.
	Looked func()
}

// Collection is a set of stores, each a snapshot. The caller must Close it.
type Collection struct {
	opt     Options
	sources []*Source
}

// Source is one store of a collection.
type Source struct {
	Name  string // name of the store's folder, or its path when names collide
	Store *store.Store

	info    store.Info
	purpose page.Purpose // purpose of the crawl
	counts  store.Counts
	partial bool
	same    aliases // nil until the method Aliases reads them
	done    func() error
}

// Open opens stores; pages come in the order of dirs.
func Open(ctx context.Context, dirs []string, opt Options) (_ *Collection, err error) {
	if opt.Text == nil {
		opt.Text = func([]byte, *Page, Want) (string, string) { return "", "" }
	}
	if opt.Looked == nil {
		opt.Looked = func() {}
	}
	names, err := Names(dirs)
	if err != nil {
		return nil, err
	}
	opened := &Collection{opt: opt}
	defer func() {
		if err != nil {
			err = errors.Join(err, opened.Close())
		}
	}()
	for i, dir := range dirs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s, done, err := opt.Open(dir)
		if err != nil {
			return nil, err
		}
		from := &Source{Name: names[i], Store: s, info: s.Info(), purpose: purposeOf(s.Info()), partial: opt.Partial, done: done}
		opened.sources = append(opened.sources, from)
		if err := s.Damaged(); err != nil && !opt.Partial {
			return nil, fmt.Errorf("%w; --partial exports what can be read", err)
		}
		if from.counts, err = s.Counts(); err != nil {
			return nil, err
		}
	}
	return opened, nil
}

// Names returns the stores' folder names, or their paths when two names collide.
func Names(dirs []string) ([]string, error) {
	paths, names := make([]string, 0, len(dirs)), make([]string, 0, len(dirs))
	for _, dir := range dirs {
		path, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		if slices.Contains(paths, path) {
			return nil, cli.Usagef("%s is given twice; give each store once", dir)
		}
		paths, names = append(paths, path), append(names, filepath.Base(path))
	}
	for i, name := range names {
		if slices.Index(names, name) != i {
			for i, dir := range dirs {
				names[i] = filepath.ToSlash(filepath.Clean(dir))
			}
			break
		}
	}
	return names, nil
}

// Sources returns the stores in order.
func (c *Collection) Sources() []*Source { return c.sources }

// Len returns the number of pages in the stores, selected or not.
func (c *Collection) Len() int {
	n := uint64(0)
	for _, s := range c.sources {
		n += s.counts.Pages
	}
	return int(n)
}

// Close releases the stores.
func (c *Collection) Close() error {
	var all error
	for _, s := range c.sources {
		if err := s.done(); err != nil && !(c.opt.Partial && errors.Is(err, store.ErrDamaged)) {
			all = errors.Join(all, err)
		}
	}
	c.sources = nil
	return all
}

// Page is one stored page for export, immutable and safe for concurrent use. Unknown values are nil or "".
type Page struct {
	ID     string // "urn:uuid:…", the same in every format and export
	Node   uint32 // node of its URL, from 0 in page order
	Source *Source
	Number uint64 // in crawl order, from 1

	URL, Host, Site, Title string
	Language               string
	ContentType            string
	Fetched                time.Time // in UTC
	Bytes                  int64
	Checksum               string // of the content, in hex

	Label       string
	Probability *float64 // of the topic, by refine or the crawl's model
	Kept        *bool    // by refine; nil before
	Relevant    bool     // by the crawl
	Score       float64  // of the crawl
	Rank        *float64
	Why         string // reason of the label or the score
	FoundBy     string // URL of the page or sitemap that named it first; "" for a start page
	Via         string // seed, link, redirect or sitemap
	Depth       int    // links from the nearest start page

	Rights  []page.Statement // its owner's statements on use, with their sources
	Licence string           // URL
	Usage   string           // what its owner allows and refuses, as a Content-Usage dictionary

	Text     string // extracted by Options.Text, with Want.Text
	Markdown string // likewise, with Want.Markdown
	Body     []byte // decompressed, with Want.Body
	Damaged  bool   // the body is unreadable: no text and no body

	// With Want.Exchanges, when the crawl kept headers.
	Exchange *store.Exchanged  // that returned the body; nil when not kept
	Others   []store.Exchanged // later exchanges of the page, then those of redirects to it and of duplicates
	Made     []store.Resource  // of a rendered page: the page as the server sent it, then the answers to its scripts

	// With Want.Links, the distinct nodes of selected pages that the page links to, in page order, without
	// itself. A link to a redirect or duplicate leads to its target.
	Links []uint32
	Again bool // a record of the same node came earlier

	// With Want.Refs, the store's URL IDs of the page and of its links, in page order, aliases replaced by targets.
	Ref  store.ID
	Refs []store.ID
}

// mainText extracts a page's text from its decompressed body. Safe for concurrent use.
type mainText func(body []byte, p *Page, want Want) (text, markdown string)

func (p *Page) path() string { return p.Source.Name + "#" + strconv.FormatUint(p.Number, 10) }

func idOf(url string, millis int64) string { return uuidOf(url + "\n" + strconv.FormatInt(millis, 10)) }

// uuidOf returns a UUID of version 8 (RFC 9562) derived from text.
func uuidOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	u := sum[:16]
	u[6] = u[6]&0x0f | 0x80
	u[8] = u[8]&0x3f | 0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

// Choice selects pages; a page must satisfy every field that is set.
type Choice struct {
	Labels   []string        // any of these
	MinScore *float64        // least score of the crawl
	Kept     bool            // kept by refine
	Langs    []string        // any of these codes of page.LangCode; excludes unknown languages
	Hosts    []string        // any of these names or name:port
	Include  *regexp.Regexp  // pattern that the URL must match
	Since    time.Time       // earliest fetch time
	Limit    int             // most pages; 0 for no limit
	After    uint64          // only pages with a higher number, in each store
	Numbers  map[uint64]bool // any of these numbers, in each store; nil for all

	// Purpose is the intended use, "" for the crawl's; pages whose owners refuse it are left out.
	Purpose page.Purpose
}

type known struct {
	page  *store.Page
	label *store.Label // nil when not refined
	topic string
}

// wants reports whether a page is selected; checks that read the store come last.
func (c *Choice) wants(k *known) bool {
	p := k.page
	switch {
	case c.MinScore != nil && p.Score < *c.MinScore,
		c.Numbers != nil && !c.Numbers[p.Number],
		!c.Since.IsZero() && p.At < c.Since.UnixMilli(),
		len(c.Langs) > 0 && !slices.Contains(c.Langs, p.Lang),
		!c.wantsURL(p.URL),
		c.Kept && (k.label == nil || !k.label.Kept),
		len(c.Labels) > 0 && !slices.Contains(c.Labels, k.named()):
		return false
	}
	return true
}

func (c *Choice) wantsURL(url string) bool {
	return (len(c.Hosts) == 0 || c.onHost(page.Host(url))) && (c.Include == nil || c.Include.MatchString(url))
}

func (c *Choice) onHost(host string) bool {
	name := host[:max(0, strings.LastIndexByte(host, ':'))]
	return slices.Contains(c.Hosts, host) || slices.Contains(c.Hosts, name)
}

// named returns a page's label: refine's, else the crawl model's, else the topic of a relevant page; or "".
func (k *known) named() string {
	switch {
	case k.label != nil:
		return k.label.Label
	case k.page.Label != "":
		return k.page.Label
	case k.page.Relevant:
		return k.topic
	}
	return ""
}

// Want selects the parts of a page to read besides its record.
type Want struct {
	Text     bool
	Markdown bool
	Body     bool
	Links    bool

	Exchanges bool
	Refs      bool
}

// With returns the union of both.
func (w Want) With(other Want) Want {
	return Want{w.Text || other.Text, w.Markdown || other.Markdown, w.Body || other.Body, w.Links || other.Links, w.Exchanges || other.Exchanges, w.Refs || other.Refs}
}

// selection is the selected pages of a collection, for one pass.
type selection struct {
	c      *Collection
	choice Choice
	want   Want
	linked []linked // by source, with Want.Links or Want.Refs
	led    []led    // by source, with Want.Exchanges
	left   Left
}

// Left counts pages left out, or exported without their text.
type Left struct {
	Withdrawn int // by request of their authors
	Refused   int // owners refuse the purpose
	Repeated  int // the same fetch is in an earlier store
	Damaged   int // unreadable records or bodies
}

type linked struct {
	node map[store.ID]uint32 // of the selected pages
	same aliases
}

// Select selects pages; with Want.Links it makes a first pass over all of them.
func (c *Collection) Select(ctx context.Context, choice Choice, want Want) (*selection, error) {
	s := &selection{c: c, choice: choice, want: want}
	if err := c.refined(choice); err != nil {
		return nil, err
	}
	if want.Exchanges {
		for _, from := range c.sources {
			l, err := ledIn(ctx, from.Store)
			if err != nil && !s.passes(err) {
				return nil, err
			}
			s.led = append(s.led, l)
		}
	}
	if !want.Links && !want.Refs {
		return s, nil
	}
	for _, from := range c.sources {
		same, err := from.Aliases(ctx)
		if err != nil {
			return nil, err
		}
		s.linked = append(s.linked, linked{node: map[store.ID]uint32{}, same: same})
	}
	if !want.Links {
		return s, nil
	}
	for p, err := range s.chosen(ctx, func() {}) {
		if err != nil {
			return nil, err
		}
		if err := s.link(p); err != nil {
			return nil, err
		}
	}
	s.left = Left{}
	return s, nil
}

func (c *Collection) refined(choice Choice) error {
	if !choice.Kept {
		return nil
	}
	for _, from := range c.sources {
		for _, err := range from.Store.Labels() {
			if err != nil {
				return err
			}
			return nil
		}
	}
	return cli.Usagef("--kept needs refined pages; run fossick refine first, or choose pages by --label")
}

func (s *selection) link(p picked) error {
	s.linked[p.at].node[p.page.ID] = p.node
	for i, from := range s.c.sources {
		if i == p.at {
			continue
		}
		seen, err := from.Store.Lookup([]store.Hash{store.HashURL(p.page.URL)})
		if err != nil {
			return err
		}
		if id := seen[0].ID; id != 0 {
			s.linked[i].node[id] = p.node
		}
	}
	return nil
}

// Left returns the counts after the pass.
func (s *selection) Left() Left { return s.left }

type picked struct {
	known
	at      int // index of its source
	node    uint32
	id      string
	earlier []ref // earlier records of the same node
}

type ref struct {
	at     int
	number uint64
}

// chosen yields the selected pages with their nodes, in order.
func (s *selection) chosen(ctx context.Context, looked func()) iter.Seq2[picked, error] {
	return func(yield func(picked, error) bool) {
		n := numbering{several: len(s.c.sources) > 1}
		records := 0
		for i, from := range s.c.sources {
			for p, err := range s.records(from) {
				if err == nil {
					err = ctx.Err()
				}
				if err != nil {
					yield(picked{}, err)
					return
				}
				looked()
				k := known{page: p, topic: from.info.Topic}
				if s.choice.Kept || len(s.choice.Labels) > 0 {
					if k.label, err = from.Store.Label(p.Number); err != nil {
						yield(picked{}, err)
						return
					}
				}
				if !s.choice.wants(&k) {
					continue
				}
				if s.choice.refused(p, from.purpose) {
					s.left.Refused++
					continue
				}
				if p.Number <= s.choice.After {
					continue
				}
				one := picked{known: k, at: i, id: idOf(p.URL, p.At)}
				if n.repeats(one.id) {
					s.left.Repeated++
					continue
				}
				one.node, one.earlier = n.node(p.URL, ref{i, p.Number})
				if !yield(one, nil) {
					return
				}
				if records++; records == s.choice.Limit {
					return
				}
			}
		}
	}
}

func (s *selection) records(from *Source) iter.Seq2[*store.Page, error] {
	return func(yield func(*store.Page, error) bool) {
		last := uint64(0)
		var damage error
		for p, err := range from.Store.Pages() {
			if damage = err; err != nil {
				break
			}
			if last = p.Number; p.Withdrawn {
				s.left.Withdrawn++
			} else if !yield(p, nil) {
				return
			}
		}
		if damage == nil {
			return
		}
		if !s.c.opt.Partial {
			yield(nil, damage)
			return
		}
		for last++; last <= from.counts.LastPage(); last++ { // one by one, since iteration stops at damage
			p, err := from.Store.Page(last)
			if err != nil {
				s.left.Damaged++
			} else if p.SameAs != "" {
				continue // as during iteration
			} else if p.Withdrawn {
				s.left.Withdrawn++
			} else if !yield(p, nil) {
				return
			}
		}
	}
}

// inFlight is how many pages a processor may have read ahead.
const inFlight = 4

// Pages yields the selected pages in order, store by store; an error ends it. Stopping early waits for readers.
func (s *selection) Pages(ctx context.Context) iter.Seq2[*Page, error] {
	return func(yield func(*Page, error) bool) {
		readers := runtime.GOMAXPROCS(0)
		callers := ctx
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(1 + readers)
		inOrder := make(chan chan *Page, inFlight*readers) // the capacity bounds the pages in memory
		g.Go(func() error {                                // the only sender
			defer close(inOrder)
			for one, err := range s.chosen(ctx, s.c.opt.Looked) {
				if err != nil {
					return err
				}
				done := make(chan *Page, 1) // a reader never waits
				select {
				case inOrder <- done:
				case <-ctx.Done():
					return ctx.Err()
				}
				g.Go(func() error {
					p, err := s.read(one)
					if err == nil {
						done <- p
					}
					return err
				})
			}
			return nil
		})
		stopped, bodies := false, 0 // bodies: unreadable ones; the sender counts records
		for done := range inOrder {
			var p *Page
			select {
			case p = <-done:
			case <-ctx.Done():
			}
			if p == nil {
				break
			}
			if p.Damaged {
				bodies++
			}
			if stopped = !yield(p, nil); stopped {
				break
			}
		}
		stop()
		for range inOrder {
		}
		// The context may end between choosing the last page and reading it; then no reader fails.
		err := cmp.Or(g.Wait(), context.Cause(callers))
		s.left.Damaged += bodies
		if err != nil && !stopped {
			yield(nil, err)
		}
	}
}

func (s *selection) read(one picked) (*Page, error) {
	from, r := s.c.sources[one.at], one.page
	p := &Page{
		ID: one.id, Node: one.node, Source: from, Number: r.Number,
		URL: r.URL, Host: page.Host(r.URL), Site: page.Site(r.URL), Title: r.Title,
		Language: r.Lang, ContentType: r.ContentType, Fetched: time.UnixMilli(r.At).UTC(),
		Bytes: r.Bytes, Checksum: hex.EncodeToString(r.Checksum),
		Rights: said(r), Relevant: r.Relevant, Score: r.Score, Depth: r.Depth,
	}
	p.Licence, p.Usage = page.Terms(p.Rights)
	for _, part := range []func(*Page, *picked) error{s.readLabel, s.readStory, s.readText, s.readExchanges} {
		if err := part(p, &one); err != nil {
			return nil, fmt.Errorf("%s: page %d, %s: %w", from.Store.Dir(), r.Number, r.URL, err)
		}
	}
	p.Again = len(one.earlier) > 0
	if s.want.Refs {
		p.Ref, p.Refs = r.ID, s.linked[one.at].same.of(nil, r.Links)
	}
	if s.want.Links {
		return p, s.readLinks(p, &one)
	}
	return p, nil
}

// readLinks finds the nodes that a page links to, without those of its node's earlier records.
func (s *selection) readLinks(p *Page, one *picked) error {
	had := map[uint32]bool{one.node: true}
	for _, r := range one.earlier {
		before, err := s.c.sources[r.at].Store.Page(r.number)
		if err != nil {
			return err
		}
		s.linked[r.at].of(before, had)
	}
	p.Links = s.linked[one.at].of(one.page, had)
	return nil
}

func (s *selection) readLabel(p *Page, one *picked) (err error) {
	if one.label == nil {
		if one.label, err = p.Source.Store.Label(p.Number); err != nil {
			return err
		}
	}
	r := one.page
	p.Label = one.named()
	switch {
	case one.label != nil:
		p.Kept, p.Probability, p.Why = &one.label.Kept, &one.label.Score, one.label.Rule
	case r.Label != "":
		if r.Label == one.topic {
			p.Probability = &r.Probability
		}
		p.Why = r.Rule
	default:
		p.Why = told(r.Terms)
	}
	return nil
}

func told(terms []store.Term) string {
	parts := make([]string, 0, len(terms))
	for _, t := range terms {
		parts = append(parts, fmt.Sprintf("%s %.4g", t.Name, t.Value))
	}
	return strings.Join(parts, ", ")
}

func (s *selection) readStory(p *Page, one *picked) error {
	urls := p.Source.Store.URLs()
	b, err := urls.Discovery(one.page.ID)
	if err != nil && !s.passes(err) {
		return err
	}
	p.Via = string(b.Via)
	switch {
	case b.Exchange != 0:
		x, err := p.Source.Store.Exchange(b.AtHost, b.Exchange)
		if err != nil && !errors.Is(err, store.ErrUnknown) && !s.passes(err) { // repair may have removed it
			return err
		}
		p.FoundBy = x.URL
	case b.From != 0:
		finder, err := urls.Discovery(b.From)
		if err != nil && !errors.Is(err, store.ErrUnknown) && !s.passes(err) {
			return err
		}
		p.FoundBy = finder.URL
	}
	rank, _, err := p.Source.Store.Ranks().Of(p.Number)
	if rank != nil {
		p.Rank = &rank.Score
	}
	return err
}

// passes reports whether the export continues without the unreadable part.
func (s *selection) passes(err error) bool {
	return s.c.opt.Partial && (errors.Is(err, store.ErrDamaged) || errors.Is(err, store.ErrUnknown))
}

func (s *selection) readText(p *Page, _ *picked) error {
	if !s.want.Body && !s.want.Text && !s.want.Markdown {
		return nil
	}
	body, err := p.Source.Store.Body(p.Number)
	if err != nil {
		if p.Damaged = s.passes(err); p.Damaged {
			return nil
		}
		return fmt.Errorf("%w; --partial exports the rest", err)
	}
	if s.want.Body {
		p.Body = body
	}
	if s.want.Text || s.want.Markdown {
		p.Text, p.Markdown = s.c.opt.Text(body, p, s.want)
	}
	return nil
}

func (l *linked) of(p *store.Page, had map[uint32]bool) []uint32 {
	nodes := make([]uint32, 0, len(p.Links))
	for _, id := range l.same.of(nil, p.Links) {
		if to, ok := l.node[id]; ok && !had[to] {
			had[to] = true
			nodes = append(nodes, to)
		}
	}
	return nodes
}

// led lists the redirects and duplicates of each page's URL.
type led map[store.ID][]store.ID

func ledIn(ctx context.Context, s *store.Store) (led, error) {
	to := map[store.ID]store.Elsewhere{}
	var order []store.ID
	for e, err := range s.URLs().Elsewhere() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		if e.To != 0 {
			to[e.ID] = e
			order = append(order, e.ID)
		}
	}
	l := led{}
	for _, id := range order {
		if end := endOf(to, id); end != id {
			l[end] = append(l[end], id)
		}
	}
	return l, nil
}

const mostHops = 20

func endOf(to map[store.ID]store.Elsewhere, id store.ID) store.ID {
	at := to[id].To
	for range mostHops {
		next, more := to[at]
		if !more || next.Paged {
			break
		}
		at = next.To
	}
	return at
}

func (s *selection) readExchanges(p *Page, one *picked) error {
	if !s.want.Exchanges {
		return nil
	}
	own, err := p.Source.Store.URLs().Exchanged(one.page.ID)
	if err != nil && !s.passes(err) {
		return err
	}
	for _, x := range own {
		switch {
		case x.Kind == store.WirePage && x.Start == one.page.At:
			p.Exchange = &x
		case x.Kind != store.WirePage && x.Kind != store.WireRedirect && x.Start > one.page.At:
			p.Others = append(p.Others, x)
		}
	}
	if one.page.Rendering.Done() {
		if p.Made, err = p.Source.Store.Resources(p.Number); err != nil && !s.passes(err) {
			return err
		}
	}
	for _, id := range s.led[one.at][one.page.ID] {
		others, err := p.Source.Store.URLs().Exchanged(id)
		if err != nil && !errors.Is(err, store.ErrUnknown) && !s.passes(err) {
			return err
		}
		for _, x := range others {
			if (x.Kind == store.WireRepeat || x.Kind == store.WireRedirect) && s.choice.wantsURL(x.URL) {
				p.Others = append(p.Others, x)
			}
		}
	}
	return nil
}

// Fingerprint returns a hash of the store's pages, links, labels and crawl. It reads all page records, no bodies.
func (s *Source) Fingerprint(ctx context.Context, looked func()) (string, error) {
	h := sha256.New()
	counts, err := json.Marshal(s.counts)
	if err != nil {
		return "", err
	}
	var b []byte
	put := func(numbers []uint64, texts ...string) {
		b = b[:0]
		for _, n := range numbers {
			b = binary.AppendUvarint(b, n)
		}
		for _, t := range texts {
			b = append(binary.AppendUvarint(b, uint64(len(t))), t...)
		}
		h.Write(b)
	}
	put([]uint64{uint64(s.info.Created)}, s.info.Topic, string(s.info.Settings), string(counts))
	n := 0
	for p, err := range s.Store.Pages() {
		if s.partial && errors.Is(err, store.ErrDamaged) {
			break // later records do not count
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return "", err
		}
		put(numbersOf(p), p.URL, p.Label, p.Title, p.Lang, string(p.Checksum))
		put([]uint64{uint64(len(p.Rights))}, p.Rights...)
		n++
		looked()
	}
	put([]uint64{uint64(n)})
	for l, err := range s.Store.Labels() {
		if s.partial && errors.Is(err, store.ErrDamaged) {
			break
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return "", err
		}
		put([]uint64{l.Page, math.Float64bits(l.Score)}, l.Label.Label, l.Model)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func numbersOf(p *store.Page) []uint64 {
	flags := uint64(0)
	if p.Withdrawn {
		flags |= 1
	}
	if p.Relevant {
		flags |= 2
	}
	all := []uint64{p.Number, uint64(p.ID), uint64(p.At), uint64(p.Bytes), math.Float64bits(p.Score), flags, uint64(len(p.Links))}
	for _, id := range p.Links {
		all = append(all, uint64(id))
	}
	return all
}

// Topics returns the topics of the crawl.
func (s *Source) Topics() []string {
	if len(s.info.Topics) == 0 && s.info.Topic != "" {
		return []string{s.info.Topic}
	}
	return s.info.Topics
}

// Aliases returns the URLs that the store's redirects and duplicates stand for, read once.
func (s *Source) Aliases(ctx context.Context) (_ aliases, err error) {
	if s.same == nil {
		s.same, err = aliasesOf(ctx, s.Store)
	}
	return s.same, err
}

func said(p *store.Page) []page.Statement {
	all := make([]page.Statement, len(p.Rights))
	for i, s := range p.Rights {
		all[i] = page.Statement(s)
	}
	return all
}

// refused reports whether the owner of a page refuses the purpose.
func (c *Choice) refused(p *store.Page, crawl page.Purpose) bool {
	purpose := c.Purpose
	if purpose == "" {
		purpose = crawl
	}
	return page.Refusal(said(p), purpose) != ""
}

func purposeOf(info store.Info) page.Purpose {
	var kept struct{ Purpose string }
	if json.Unmarshal(info.Settings, &kept) != nil {
		return ""
	}
	purpose, _ := page.ParsePurpose(kept.Purpose) // "" for an unknown purpose
	return purpose
}

// numbering assigns nodes to URLs, from 0. For several stores it remembers URLs and records by 64-bit hashes;
// two URLs collide once in about 10^19 pairs.
type numbering struct {
	several bool
	next    uint32
	nodes   map[uint64]first
	again   map[uint32][]ref // all records of nodes with several
	seen    map[uint64]bool  // by hash of the record ID
}

// first is a node with its first record.
type first struct {
	node uint32
	ref
}

func (n *numbering) node(url string, at ref) (node uint32, earlier []ref) {
	if !n.several {
		n.next++
		return n.next - 1, nil
	}
	key := page.Key(url)
	known, ok := n.nodes[key]
	if !ok {
		if n.nodes == nil {
			n.nodes, n.again = map[uint64]first{}, map[uint32][]ref{}
		}
		n.nodes[key] = first{n.next, at}
		n.next++
		return n.next - 1, nil
	}
	earlier = n.again[known.node]
	if earlier == nil {
		earlier = []ref{known.ref}
	}
	n.again[known.node] = append(earlier[:len(earlier):len(earlier)], at) // full slice expression: the caller keeps earlier
	return known.node, earlier
}

func (n *numbering) repeats(id string) bool {
	if !n.several {
		return false
	}
	if n.seen == nil {
		n.seen = map[uint64]bool{}
	}
	key := page.Key(id)
	was := n.seen[key]
	n.seen[key] = true
	return was
}
