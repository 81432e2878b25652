package eval

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"fossick/internal/report"
	"fossick/store"
)

// How much of a table the report shows.
const (
	maxClasses = 12
	maxHosts   = 20
	maxListed  = 10
	maxTitle   = 90 // runes
	maxURL     = 110
	maxRule    = 200
	maxSetting = 300
)

// keptRow compares the pages before and after refinement.
type keptRow struct {
	Name            string
	Pages, Relevant int
	Share           *float64
	Recall          *float64 // of the fetched pages on topic
	Truth           *float64 // of the pages on topic that the truth names
}

func keptRows(f Figures) []keptRow {
	if f.Kept == nil {
		return nil
	}
	k := f.Kept
	row := func(name string, pages, relevant int) keptRow {
		r := keptRow{Name: name, Pages: pages, Relevant: relevant, Share: share(relevant, pages), Recall: share(relevant, f.Relevant)}
		if f.Targets != nil {
			r.Truth = share(relevant, *f.Targets)
		}
		return r
	}
	return []keptRow{row("fetched", f.Fetched, f.Relevant), row("kept", k.Pages, k.Relevant), row("dropped", f.Fetched-k.Pages, f.Relevant-k.Relevant)}
}

// confusion counts pages by what the source says (rows) and what the model
// says (columns).
type confusion struct {
	RowTitle, ColumnTitle string
	Matrix                *report.Matrix
}

// otherClasses gathers what a table has no room for.
const otherClasses = "(other classes)"

// confuse compares refine's labels, or before refine the crawl's, with the
// source's; nil when there is nothing to compare.
func confuse(c *Crawl) *confusion {
	t := &confusion{RowTitle: map[Kind]string{ByTruth: "truth", ByJudge: "judge", ByCrawl: "crawl"}[c.Source.Kind], ColumnTitle: "refinement"}
	predicted := func(p *Page) string {
		if p.Refined != nil {
			return p.Refined.Label
		}
		return ""
	}
	if c.Kept() == nil {
		t.ColumnTitle = "crawl"
		predicted = func(p *Page) string { return p.Label }
	}
	rows, columns := map[string]int{}, map[string]int{}
	for i := range c.Pages {
		rows[classOf(&c.Pages[i])]++
		columns[predicted(&c.Pages[i])]++
	}
	if len(columns) == 0 || len(columns) == 1 && columns[""] > 0 || t.RowTitle == t.ColumnTitle {
		return nil
	}
	both := maps.Clone(rows) // one order for rows and columns, so that what agrees is on the diagonal
	for name, n := range columns {
		both[name] += n
	}
	names, at := topClasses(both)
	counts := make([][]int, len(names))
	for i := range counts {
		counts[i] = make([]int, len(names))
	}
	for i := range c.Pages {
		p := &c.Pages[i]
		counts[at[classOf(p)]][at[predicted(p)]]++
	}
	t.Matrix = withoutEmpty(names, counts)
	return t
}

// withoutEmpty is a matrix of the rows and of the columns that have pages.
func withoutEmpty(names []string, counts [][]int) *report.Matrix {
	var rows, columns []string
	var filled []int
	for j, name := range names {
		if slices.ContainsFunc(counts, func(row []int) bool { return row[j] > 0 }) {
			columns, filled = append(columns, name), append(filled, j)
		}
	}
	var cells [][]int
	for i, name := range names {
		if !slices.ContainsFunc(counts[i], func(n int) bool { return n > 0 }) {
			continue
		}
		row := make([]int, len(filled))
		for k, j := range filled {
			row[k] = counts[i][j]
		}
		rows, cells = append(rows, name), append(cells, row)
	}
	return report.NewMatrix(rows, columns, cells, nil)
}

// classOf names the row of a page: the source's class, or whether it is on topic.
func classOf(p *Page) string {
	switch {
	case !p.Known:
		return "(unknown)"
	case p.Class != "":
		return p.Class
	case p.Relevant:
		return "(on topic)"
	}
	return "(off topic)"
}

// topClasses returns the most frequent classes and each class's place among
// them; the rest share the last place.
func topClasses(n map[string]int) (names []string, at map[string]int) {
	names = slices.Sorted(maps.Keys(n))
	slices.SortStableFunc(names, func(a, b string) int { return n[b] - n[a] })
	at = map[string]int{}
	for i, name := range names {
		at[name] = min(i, maxClasses-1)
	}
	if len(names) > maxClasses {
		names = append(names[:maxClasses-1:maxClasses-1], otherClasses)
	}
	return names, at
}

type countRow struct {
	Name  string
	Note  string
	Count uint64
	Share *float64
}

// stateScriptOnly is the state of a page that scripts make, as cli.md names it.
const stateScriptOnly = "script_only"

// stateNotes explains the states of cli.md in a few words.
var stateNotes = map[string]string{
	"ok": "fetched and stored", "not_modified": "unchanged since the last visit", "redirect": "led to another URL",
	"duplicate": "same content as a stored page", stateScriptOnly: "made by script, which fossick does not run", "code": "answered with an error code", "no_ip": "the name has no address",
	"connect_error": "no connection", "connect_timeout": "no connection in time", "tls_error": "no secure connection",
	"header_error": "the answer's header was broken", "header_timeout": "no answer in time", "body_error": "the body broke off",
	"body_timeout": "the body came too slowly", "too_large": "over the size limit", "wrong_type": "not a page, or in another language",
	"robots_denied": "robots.txt forbids it", "guard_denied": "a forbidden address, or outside the allowed networks", "trap": "looked like a trap", "none": "never requested",
	"elsewhere": "another agent of the crawl has it", "lost": "lost with another agent; --refetch-lost fetches it again",
}

func states(c store.Counts) (rows, codes []countRow) {
	var total uint64
	for _, n := range c.States {
		total += n
	}
	for _, name := range slices.Sorted(maps.Keys(c.States)) {
		n := c.States[name]
		note := stateNotes[name]
		if name == "duplicate" && c.NearDuplicates > 0 {
			note += fmt.Sprintf("; for %d only nearly the same", c.NearDuplicates)
		}
		rows = append(rows, countRow{name, note, n, share(int(n), int(total))})
	}
	for _, code := range slices.Sorted(maps.Keys(c.Codes)) {
		codes = append(codes, countRow{Name: strconv.Itoa(code), Count: c.Codes[code]})
	}
	byCount := func(a, b countRow) int { return cmp.Compare(b.Count, a.Count) }
	slices.SortStableFunc(rows, byCount)
	slices.SortStableFunc(codes, byCount)
	return rows, codes
}

type hostRow struct {
	Host                  string
	Pages, Relevant, Kept int
	Share                 *float64
}

// hosts returns the hosts with the most pages, and how many more there are.
func hosts(c *Crawl) (rows []hostRow, more int) {
	by := map[string]*hostRow{}
	for i := range c.Pages {
		p := &c.Pages[i]
		name := host(p.URL)
		if by[name] == nil {
			by[name] = &hostRow{Host: name}
		}
		h := by[name]
		h.Pages++
		if p.Relevant {
			h.Relevant++
		}
		if p.Refined != nil && p.Refined.Kept {
			h.Kept++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		h := by[name]
		h.Share = share(h.Relevant, h.Pages)
		h.Host = report.Cut(h.Host, maxURL)
		rows = append(rows, *h)
	}
	slices.SortStableFunc(rows, func(a, b hostRow) int { return b.Pages - a.Pages })
	if len(rows) > maxHosts {
		return rows[:maxHosts], len(rows) - maxHosts
	}
	return rows, 0
}

// settings shows what held in the crawl, by name.
func settings(info store.Info, held map[string]string) []report.Fact {
	facts := []report.Fact{{Name: "crawled by", Value: "fossick " + info.Version}}
	if info.Created != 0 {
		facts = append(facts, report.Fact{Name: "crawled on", Value: time.Unix(info.Created, 0).UTC().Format(time.RFC1123)})
	}
	for _, name := range slices.Sorted(maps.Keys(held)) {
		facts = append(facts, report.Fact{Name: name, Value: report.Cut(held[name], maxSetting)})
	}
	return facts
}
