package card

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"fossick/export"
	"fossick/export/collection"
	"fossick/export/table"
)

// Facts are what pages do not tell.
type Facts struct {
	Fossick string   // version that exports
	Choice  []string // flags that chose the pages
	Purpose string   // of --purpose
	Stores  []Store  // in order
	Left    func() collection.Left
}

// Store is a store of the collection.
type Store struct {
	Name     string
	Crawl    collection.Crawl
	Settings map[string]string // that matter; nil when they are not known
	Harvest  Harvest           // zero when the crawl had no topic
	Recall   *Recall           // nil when it cannot be estimated
}

// How many names are listed at most.
const (
	mostNames = 100 // labels and languages
	mostSites = 20
)

// Sink counts pages and writes their card in the end.
type Sink struct {
	readme, data io.WriteCloser
	facts        Facts

	card                               Card
	kept, said                         int // pages that refine kept, and whose owners say something
	labels, languages, sites, licences map[string]int
	fetched                            map[string]*span // by store
}

// span is when the pages of a store were fetched.
type span struct {
	pages       int
	first, last time.Time
}

// New begins README.md and card.json at the top of an export.
func New(at export.Place, facts Facts) (*Sink, error) {
	readme, err := at.Create("README.md")
	if err != nil {
		return nil, err
	}
	data, err := at.Create("card.json")
	if err != nil {
		return nil, errors.Join(err, readme.Close())
	}
	return &Sink{
		readme: readme, data: data, facts: facts,
		labels: map[string]int{}, languages: map[string]int{}, sites: map[string]int{}, licences: map[string]int{}, fetched: map[string]*span{},
	}, nil
}

// Write implements export.Sink.
func (s *Sink) Write(_ context.Context, p *collection.Page) error {
	c := &s.card
	c.Pages.Exported++
	c.Bytes += p.Bytes
	c.Words += int64(table.Words(p.Text))
	if p.Relevant {
		c.Relevant.Pages++
	}
	if p.Kept != nil {
		c.Refined++
		if *p.Kept {
			s.kept++
		}
	}
	if len(p.Rights) > 0 {
		s.said++
	}
	s.labels[p.Label]++
	s.languages[p.Language]++
	s.sites[p.Site]++
	s.licences[p.Licence]++
	when := s.fetched[p.Source.Name]
	if when == nil {
		when = &span{first: p.Fetched, last: p.Fetched}
		s.fetched[p.Source.Name] = when
	}
	when.pages++
	if p.Fetched.Before(when.first) {
		when.first = p.Fetched
	}
	if p.Fetched.After(when.last) {
		when.last = p.Fetched
	}
	return nil
}

// Finish implements export.Sink.
func (s *Sink) Finish(context.Context) error {
	s.sum()
	to := json.NewEncoder(s.data)
	to.SetEscapeHTML(false)
	to.SetIndent("", "  ")
	if err := to.Encode(&s.card); err != nil {
		return err
	}
	_, err := io.WriteString(s.readme, s.card.readme())
	return err
}

// Close implements export.Sink.
func (s *Sink) Close() error { return errors.Join(s.readme.Close(), s.data.Close()) }

// sum makes the card of what was counted.
func (s *Sink) sum() {
	c, n := &s.card, s.card.Pages.Exported
	left := s.facts.Left()
	c.Fossick, c.Choice, c.Purpose = s.facts.Fossick, append([]string{}, s.facts.Choice...), s.facts.Purpose
	c.Pages = Pages{Exported: n, Withdrawn: left.Withdrawn, Refused: left.Refused, Repeated: left.Repeated, Damaged: left.Damaged}
	c.Relevant = partOf(c.Relevant.Pages, n)
	if s.said > 0 {
		said := partOf(s.said, n)
		c.Rights = &said
	}
	if c.Refined > 0 {
		kept := partOf(s.kept, c.Refined)
		c.Kept = &kept
	}
	c.Labels, c.Languages = partsOf(s.labels, n, mostNames), partsOf(s.languages, n, mostNames)
	c.Sites, c.Licences = partsOf(s.sites, n, mostSites), partsOf(s.licences, n, mostSites)
	c.Crawls = []Crawl{}
	for _, from := range s.facts.Stores {
		c.Crawls = append(c.Crawls, crawlOf(from, s.fetched[from.Name]))
	}
	c.Flaws = c.flaws()
}

// crawlOf tells of a store, of which when is nil when no page of it is exported.
func crawlOf(from Store, when *span) Crawl {
	of := from.Crawl
	c := Crawl{
		Store: from.Name, Topics: append([]string{}, of.Topics...), Fossick: of.Version, Purpose: string(of.Purpose), Made: of.Made,
		Settings: from.Settings, Harvest: from.Harvest, Recall: from.Recall, URLs: of.URLs, States: map[string]uint64{},
	}
	if when != nil {
		c.Exported, c.First, c.Last = when.pages, &when.first, &when.last
	}
	done := uint64(0)
	for state, n := range of.States {
		c.States[state] = n
		done += n
	}
	c.Denied = share(int(of.States["robots_denied"]), int(done))
	if of.Skipped > 0 {
		c.States["skipped"] = of.Skipped
	}
	if rest := int64(of.URLs) - int64(done+of.Skipped+of.Lost); rest > 0 {
		c.States["waiting"] = uint64(rest)
	}
	if of.Lost > 0 {
		c.States["lost"] = of.Lost
	}
	return c
}
