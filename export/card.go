package export

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
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
	Name     string
	Crawl    Crawl
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
	_, err := io.WriteString(s.readme, s.card.readme())
	return err
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
		c.Crawls = append(c.Crawls, crawlOf(from, s.fetched[from.Name]))
	}
	c.Flaws = c.flaws()
}

// crawlOf describes a store's crawl; when is nil if none of its pages is exported.
func crawlOf(from CardStore, when *cardCrawl) cardCrawl {
	of := from.Crawl
	c := cardCrawl{
		Store: from.Name, Topics: append([]string{}, of.Topics...), Fossick: of.Version, Purpose: string(of.Purpose), Made: of.Made,
		Settings: from.Settings, Harvest: from.Harvest, Recall: from.Recall, URLs: of.URLs, States: map[string]uint64{},
	}
	if when != nil {
		c.Exported, c.First, c.Last = when.Exported, when.First, when.Last
	}
	done := uint64(0)
	for state, n := range of.States {
		c.States[state] = n
		done += n
	}
	c.Denied = partOf(int(of.States["robots_denied"]), int(done)).Share
	rest := int64(of.URLs) - int64(done+of.Skipped+of.Lost)
	for state, n := range map[string]int64{"skipped": int64(of.Skipped), "waiting": rest, "lost": int64(of.Lost)} {
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

const unknown = "not known"

func (c *card) readme() string {
	w := &markdownWriter{}
	c.head(w)
	c.totals(w)
	for i := range c.Crawls {
		c.Crawls[i].tell(w)
	}
	w.parts("Labels", "label", "no label", &c.Labels)
	w.parts("Languages", "language", unknown, &c.Languages)
	w.parts("Sites", "site", unknown, &c.Sites)
	w.parts("Licences", "licence", "none was found", &c.Licences)
	w.line("\n## Known flaws\n")
	for _, f := range c.Flaws {
		w.line("- %s", cell(f))
	}
	return w.String()
}

func (c *card) head(w *markdownWriter) {
	var topics, stores, langs []string
	for _, crawl := range c.Crawls {
		stores = append(stores, crawl.Store)
		for _, t := range crawl.Topics {
			if !slices.Contains(topics, t) {
				topics = append(topics, t)
			}
		}
	}
	for _, l := range c.Languages.Names {
		langs = append(langs, strconv.Quote(l.Name)) // quoted: no is a language, and false in YAML
	}
	title := "Pages of " + strings.Join(stores, ", ")
	if len(topics) > 0 {
		title = "Pages on " + strings.Join(topics, ", ")
	}
	w.line("---\npretty_name: %s\nlanguage: [%s]\n---\n", strconv.Quote(title), strings.Join(langs, ", "))
	w.line("# %s\n", cell(title))
	w.line("%d web pages, collected by focused crawls and exported by fossick %s. The same figures are in `card.json`.\n", c.Pages.Exported, c.Fossick)
}

func (c *card) totals(w *markdownWriter) {
	w.table("", "pages")
	w.row("exported", c.Pages.Exported)
	w.row("left out: their authors ask not to keep them", c.Pages.Withdrawn)
	w.row("left out: their owners refuse this use", c.Pages.Refused)
	w.row("left out: another store has the same record", c.Pages.Repeated)
	w.row("damaged", c.Pages.Damaged)
	w.row("relevant, as judged by the crawls", c.Relevant.text())
	kept := unknown
	if c.Kept != nil {
		kept = fmt.Sprintf("%s of %d that it saw", c.Kept.text(), c.Refined)
	}
	w.row("kept by refine", kept)
	said := unknown + ": none was found"
	if c.Rights != nil {
		said = c.Rights.text()
	}
	w.row("with statements on rights or a licence", said)
	w.row("bytes as fetched", c.Bytes)
	w.row("words of main text", c.Words)
	chosen := "all pages"
	if len(c.Choice) > 0 {
		chosen = "`" + strings.ReplaceAll(strings.Join(c.Choice, " "), "`", "'") + "`"
	}
	w.line("\nChosen: %s. For: %s.", chosen, cmp.Or(c.Purpose, "what each crawl was for"))
}

func (c *cardCrawl) tell(w *markdownWriter) {
	w.line("\n## Crawl %s\n", cell(c.Store))
	w.table("", "")
	w.row("topic", cmp.Or(strings.Join(c.Topics, ", "), unknown))
	w.row("exported pages", c.Exported)
	fetched := unknown
	if c.First != nil {
		fetched = c.First.Format(time.RFC3339) + " to " + c.Last.Format(time.RFC3339)
	}
	w.row("fetched", fetched)
	w.row("fossick", cmp.Or(c.Fossick, unknown))
	w.row("for", cmp.Or(c.Purpose, "no purpose was given"))
	harvest := unknown
	if h := c.Harvest; h.Share != nil {
		harvest = fmt.Sprintf("%s (95 %% interval %s to %s): %d relevant of %d fetched", percent(h.Share), percent(&h.CI[0]), percent(&h.CI[1]), h.Relevant, h.Fetched)
	}
	w.row("harvest, estimated by the crawl's own judgement", harvest)
	recall := unknown
	if r := c.Recall; r != nil {
		recall = fmt.Sprintf("%s (95 %% interval %s to %s), by %s", percent(&r.Value), percent(&r.CI[0]), percent(&r.CI[1]), r.Method)
	}
	w.row("recall, estimated", recall)
	w.row("URLs known", c.URLs)
	w.row("of finished URLs, denied by robots.txt", percent(c.Denied))
	w.line("\n### Settings\n")
	if c.Settings == nil {
		w.line("Not known.")
	} else {
		w.table("setting", "value")
		for _, name := range slices.Sorted(maps.Keys(c.Settings)) {
			w.row(name, c.Settings[name])
		}
	}
	w.line("\n### URLs\n")
	w.table("state", "URLs")
	for _, state := range slices.Sorted(maps.Keys(c.States)) {
		w.row(state, c.States[state])
	}
}

type markdownWriter struct{ strings.Builder }

func (w *markdownWriter) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

func (w *markdownWriter) table(left, right string) { w.line("| %s | %s |\n|---|---|", left, right) }

func (w *markdownWriter) row(name string, value any) {
	w.line("| %s | %s |", cell(name), cell(fmt.Sprint(value)))
}

// parts writes a table of names; without names the row of pages without one.
func (w *markdownWriter) parts(title, name, without string, p *parts) {
	w.line("\n## %s\n", title)
	w.table(name, "pages")
	for _, n := range p.Names {
		w.row(n.Name, n.text())
	}
	if p.Unknown > 0 {
		w.row(without, p.Unknown)
	}
	if p.Others > 0 {
		w.line("\nAnd %d more.", p.Others)
	}
}

func (p part) text() string { return fmt.Sprintf("%d (%s)", p.Pages, percent(p.Share)) }

func percent(x *float64) string {
	if x == nil {
		return unknown
	}
	return fmt.Sprintf("%.2f %%", 100*(*x))
}

// special escapes Markdown's special characters in a table cell.
var special = strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", "&", "&amp;", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`)

func cell(text string) string { return special.Replace(strings.Join(strings.Fields(text), " ")) }
