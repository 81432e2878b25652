package export

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"fossick/internal/cli"
)

// CardFacts are the facts of a dataset card that the pages do not tell.
type CardFacts struct {
	Fossick string   // version of the exporting fossick
	Choice  []string // flags that selected the pages
	Purpose string   // value of --purpose
	Stores  []CardStore
	Left    func() Left
}

// CardStore describes a store of the collection.
type CardStore struct {
	Source   *Source
	Settings map[string]string // effective settings worth showing; nil when unknown
	Harvest  Harvest           // zero for a crawl without a topic
	Recall   *Recall           // nil when it cannot be estimated
}

// Harvest is the harvest ratio of a crawl by its own judgement.
type Harvest struct {
	Relevant int         `json:"relevant"`
	Fetched  int         `json:"fetched"`
	Share    *float64    `json:"share"`
	CI       *[2]float64 `json:"ci"` // 95 %
}

// Recall is an estimate of the share of reachable relevant pages that a crawl found.
type Recall struct {
	Value   float64    `json:"value"`
	CI      [2]float64 `json:"ci"` // 95 %
	Method  string     `json:"method"`
	Caution string     `json:"caution"`
}

type card struct {
	Fossick string      `json:"fossick"`
	Choice  []string    `json:"choice"`
	Purpose string      `json:"purpose,omitempty"`
	Pages   cardPages   `json:"pages"`
	Bytes   int64       `json:"bytes"`
	Words   int64       `json:"words"` // main text of the readable pages
	Crawls  []cardCrawl `json:"crawls"`

	Relevant  part  `json:"relevant"` // of the exported pages
	Kept      *part `json:"kept"`     // of the refined pages; null when none is refined
	Refined   int   `json:"refined"`
	Labels    parts `json:"labels"`
	Languages parts `json:"languages"`
	Sites     parts `json:"sites"`
	Rights    *part `json:"rights"` // pages with a statement of their owners on use; null when none has one
	Licences  parts `json:"licences"`

	Flaws []string `json:"flaws"`
}

type cardPages struct {
	Exported  int `json:"exported"`
	Withdrawn int `json:"withdrawn"`
	Refused   int `json:"refused"`
	Repeated  int `json:"repeated"`
	Damaged   int `json:"damaged"`
}

type cardCrawl struct {
	Store    string            `json:"store"`
	Topics   []string          `json:"topics"`
	Fossick  string            `json:"fossick,omitempty"`
	Purpose  string            `json:"purpose,omitempty"`
	Made     time.Time         `json:"made"`
	Exported int               `json:"exported"`
	First    *time.Time        `json:"first"` // first fetch of an exported page
	Last     *time.Time        `json:"last"`
	Settings map[string]string `json:"settings"` // by flag name; null when unknown
	Harvest  Harvest           `json:"harvest"`
	Recall   *Recall           `json:"recall"` // null without a second crawl of the topic
	URLs     uint64            `json:"urls"`
	States   map[string]uint64 `json:"states"`
	Denied   *float64          `json:"denied"` // share of finished URLs that robots.txt denied
}

type part struct {
	Pages int      `json:"pages"`
	Share *float64 `json:"share"`
}

type parts struct {
	Names   []namedPart `json:"names"`  // most pages first
	Others  int         `json:"others"` // number of names not listed
	Unknown int         `json:"unknown"`
}

type namedPart struct {
	Name string `json:"name"`
	part
}

func partOf(k, n int) part {
	if n == 0 {
		return part{Pages: k}
	}
	share := float64(k) / float64(n)
	return part{k, &share}
}

// partsOf lists up to most names by falling page count, of n pages; "" counts pages without one.
func partsOf(count map[string]int, n, most int) parts {
	p := parts{Names: []namedPart{}, Unknown: count[""]}
	for name, k := range count {
		if name != "" {
			p.Names = append(p.Names, namedPart{name, partOf(k, n)})
		}
	}
	slices.SortFunc(p.Names, func(a, b namedPart) int {
		return cmp.Or(cmp.Compare(b.Pages, a.Pages), cmp.Compare(a.Name, b.Name))
	})
	if len(p.Names) > most {
		p.Others, p.Names = len(p.Names)-most, p.Names[:most]
	}
	return p
}

const (
	mostNames = 100 // labels and languages
	mostSites = 20
)

type cardSink struct {
	readme, data io.WriteCloser
	facts        CardFacts

	card                               card
	kept, said                         int // pages that refine kept; pages with an owner's statement
	labels, languages, sites, licences map[string]int
	fetched                            map[string]*cardCrawl // by store: Exported, First and Last
}

func newCard(at target, facts CardFacts) (Sink, error) {
	readme, err := at.Create("README.md")
	if err != nil {
		return nil, err
	}
	data, err := at.Create("card.json")
	if err != nil {
		return nil, errors.Join(err, readme.Close())
	}
	return &cardSink{
		readme: readme, data: data, facts: facts,
		labels: map[string]int{}, languages: map[string]int{}, sites: map[string]int{}, licences: map[string]int{}, fetched: map[string]*cardCrawl{},
	}, nil
}

func (s *cardSink) Write(_ context.Context, p *Page) error {
	c := &s.card
	c.Pages.Exported++
	c.Bytes += p.Bytes
	c.Words += int64(words(p.Text))
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
		when = &cardCrawl{First: &p.Fetched, Last: &p.Fetched}
		s.fetched[p.Source.Name] = when
	}
	when.Exported++
	if p.Fetched.Before(*when.First) {
		when.First = &p.Fetched
	}
	if p.Fetched.After(*when.Last) {
		when.Last = &p.Fetched
	}
	return nil
}

func (s *cardSink) Finish(context.Context) error {
	s.sum()
	to := json.NewEncoder(s.data)
	to.SetEscapeHTML(false)
	to.SetIndent("", "  ")
	if err := to.Encode(&s.card); err != nil {
		return err
	}
	return s.card.readme(s.readme)
}

func (s *cardSink) Close() error { return closeAll(s.readme, s.data) }

func (s *cardSink) sum() {
	c, n := &s.card, s.card.Pages.Exported
	left := s.facts.Left()
	c.Fossick, c.Choice, c.Purpose = s.facts.Fossick, append([]string{}, s.facts.Choice...), s.facts.Purpose
	c.Pages = cardPages{Exported: n, Withdrawn: left.Withdrawn, Refused: left.Refused, Repeated: left.Repeated, Damaged: left.Damaged}
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
	c.Crawls = []cardCrawl{}
	for _, from := range s.facts.Stores {
		c.Crawls = append(c.Crawls, crawlOf(from, s.fetched[from.Source.Name]))
	}
	c.Flaws = c.flaws()
}

// crawlOf describes a store's crawl; when is nil if none of its pages is exported.
func crawlOf(from CardStore, when *cardCrawl) cardCrawl {
	of, counts := from.Source, from.Source.counts
	c := cardCrawl{
		Store: of.Name, Topics: append([]string{}, of.Topics()...), Fossick: of.info.Version, Purpose: string(of.purpose),
		Made: time.Unix(of.info.Created, 0).UTC(), Settings: from.Settings, Harvest: from.Harvest, Recall: from.Recall, URLs: counts.URLs, States: map[string]uint64{},
	}
	if when != nil {
		c.Exported, c.First, c.Last = when.Exported, when.First, when.Last
	}
	done := uint64(0)
	for state, n := range counts.States {
		c.States[state] = n
		done += n
	}
	c.Denied = partOf(int(counts.States["robots_denied"]), int(done)).Share
	rest := int64(counts.URLs) - int64(done+counts.Skipped+counts.Lost)
	for state, n := range map[string]int64{"skipped": int64(counts.Skipped), "waiting": rest, "lost": int64(counts.Lost)} {
		if n > 0 {
			c.States[state] = uint64(n)
		}
	}
	return c
}

func (c *card) flaws() []string {
	flaws := []string{
		"Relevance is the crawl's own judgement, and harvest is an estimate from it. The interval of the harvest does not cover errors of judgement.",
		"The pages are not a random sample: a crawl follows links from start pages and takes the most promising links first.",
		"JavaScript was not run; content that only scripts show is missing.",
		"Languages are estimates from the text. Words are those of the main text, whose separation from menus and footers makes errors.",
	}
	if c.Refined < c.Pages.Exported {
		flaws = append(flaws, cli.Sprintf("%d pages were not refined.", c.Pages.Exported-c.Refined))
	}
	if c.Languages.Unknown > 0 {
		flaws = append(flaws, cli.Sprintf("The language of %d pages is not known.", c.Languages.Unknown))
	}
	silent := c.Pages.Exported
	if c.Rights != nil {
		silent -= c.Rights.Pages
	}
	if silent > 0 {
		flaws = append(flaws, cli.Sprintf("The wishes of the owners of %d pages are not known: the crawl found no statement, or looked for none. Ask the owners before you use these pages.", silent))
	}
	if c.Pages.Damaged > 0 {
		flaws = append(flaws, cli.Sprintf("%d pages are damaged: they are left out, or lack their text.", c.Pages.Damaged))
	}
	for _, crawl := range c.Crawls {
		if crawl.Settings == nil {
			flaws = append(flaws, "The settings of the crawl "+crawl.Store+" are not known.")
		}
		if crawl.Recall == nil {
			flaws = append(flaws, "Recall, the share of the relevant pages of the web that the crawl "+crawl.Store+" found, is not known. To estimate it, make a second crawl of the topic from other start pages and export both together.")
		} else {
			flaws = append(flaws, "Recall of the crawl "+crawl.Store+" is an estimate: "+crawl.Recall.Caution+".")
		}
		if n := crawl.States["waiting"]; n > 0 {
			flaws = append(flaws, cli.Sprintf("The crawl %s never fetched %d URLs that it knew.", crawl.Store, n))
		}
	}
	return flaws
}

//go:embed card.md
var cardText string

var cardTemplate = template.Must(template.New("card").Funcs(template.FuncMap{
	"cell": cell, "join": strings.Join, "quote": strconv.Quote,
	"time": func(t *time.Time) string { return t.Format(time.RFC3339) },
	"percent": func(x any) string {
		if share, ok := x.(*float64); ok {
			if share == nil {
				return "not known"
			}
			x = *share
		}
		return fmt.Sprintf("%.2f %%", 100*x.(float64))
	},
}).Parse(cardText))

// cardTable is a table of names; Without names the row of pages without one.
type cardTable struct {
	Title, Name, Without string
	parts
}

func (c *card) readme(w io.Writer) error {
	var topics, stores, codes []string
	for _, crawl := range c.Crawls {
		stores = append(stores, crawl.Store)
		for _, t := range crawl.Topics {
			if !slices.Contains(topics, t) {
				topics = append(topics, t)
			}
		}
	}
	for _, l := range c.Languages.Names {
		codes = append(codes, strconv.Quote(l.Name)) // quoted: no is a language, and false in YAML
	}
	title, chosen := "Pages of "+strings.Join(stores, ", "), "all pages"
	if len(topics) > 0 {
		title = "Pages on " + strings.Join(topics, ", ")
	}
	if len(c.Choice) > 0 {
		chosen = "`" + strings.ReplaceAll(strings.Join(c.Choice, " "), "`", "'") + "`"
	}
	return cardTemplate.Execute(w, struct {
		*card
		Title, Codes, Chosen string
		Tables               []cardTable
	}{c, title, strings.Join(codes, ", "), chosen, []cardTable{
		{"Labels", "label", "no label", c.Labels}, {"Languages", "language", "not known", c.Languages},
		{"Sites", "site", "not known", c.Sites}, {"Licences", "licence", "none was found", c.Licences},
	}})
}

// special escapes Markdown's special characters in a table cell.
var special = strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", "&", "&amp;", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`)

func cell(text string) string { return special.Replace(strings.Join(strings.Fields(text), " ")) }
