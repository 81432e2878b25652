package card

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// unknown stands for what nobody has measured.
const unknown = "not known"

// readme is the card in Markdown, with the front matter that indexes of data sets read.
func (c *Card) readme() string {
	w := &writer{}
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
		w.line("- " + cell(f))
	}
	return w.String()
}

// head is front matter and title.
func (c *Card) head(w *writer) {
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
		langs = append(langs, strconv.Quote(l.Name)) // no is a language, and false in YAML
	}
	title := "Pages of " + list(stores)
	if len(topics) > 0 {
		title = "Pages on " + list(topics)
	}
	w.line("---\npretty_name: %s\nlanguage: [%s]\n---\n", strconv.Quote(title), strings.Join(langs, ", "))
	w.line("# %s\n", cell(title))
	w.line("%d web pages, collected by focused crawls and exported by fossick %s. The same figures are in `card.json`.\n", c.Pages.Exported, c.Fossick)
}

func (c *Card) totals(w *writer) {
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
	w.line("\nChosen: %s. For: %s.", chosen, or(c.Purpose, "what each crawl was for"))
}

// tell describes a crawl.
func (c *Crawl) tell(w *writer) {
	w.line("\n## Crawl %s\n", cell(c.Store))
	w.table("", "")
	w.row("topic", or(list(c.Topics), unknown))
	w.row("exported pages", c.Exported)
	fetched := unknown
	if c.First != nil {
		fetched = c.First.Format(time.RFC3339) + " to " + c.Last.Format(time.RFC3339)
	}
	w.row("fetched", fetched)
	w.row("fossick", or(c.Fossick, unknown))
	w.row("for", or(c.Purpose, "no purpose was given"))
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

// writer writes Markdown.
type writer struct{ strings.Builder }

func (w *writer) line(format string, args ...any) {
	if len(args) == 0 {
		w.WriteString(format + "\n")
		return
	}
	fmt.Fprintf(w, format+"\n", args...)
}

func (w *writer) table(left, right string) { w.line("| %s | %s |\n|---|---|", left, right) }

func (w *writer) row(name string, value any) {
	w.line("| %s | %s |", cell(name), cell(fmt.Sprint(value)))
}

// parts is a table of names; without is what pages without one are called.
func (w *writer) parts(title, name, without string, p *Parts) {
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

func (p Part) text() string { return fmt.Sprintf("%d (%s)", p.Pages, percent(p.Share)) }

func percent(x *float64) string {
	if x == nil {
		return unknown
	}
	return fmt.Sprintf("%.2f %%", 100*(*x))
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func list(names []string) string { return strings.Join(names, ", ") }

// special are the characters that Markdown reads as more than themselves in a cell.
var special = strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", "&", "&amp;", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`)

// cell is a text of the web, or of a flag, on one line.
func cell(text string) string { return special.Replace(strings.Join(strings.Fields(text), " ")) }
