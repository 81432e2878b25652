package eval

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"fossick/report"
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
}

func keptRows(f Figures) []keptRow {
	if f.Kept == nil {
		return nil
	}
	k := f.Kept
	dropped := keptRow{"dropped", f.Fetched - k.Pages, f.Relevant - k.Relevant, nil}
	dropped.Share = share(dropped.Relevant, dropped.Pages)
	return []keptRow{{"fetched", f.Fetched, f.Relevant, f.Harvest}, {"kept", k.Pages, k.Relevant, k.Precision}, dropped}
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
	rowNames, rowAt := topClasses(rows)
	columnNames, columnAt := topClasses(columns)
	counts := make([][]int, len(rowNames))
	for i := range counts {
		counts[i] = make([]int, len(columnNames))
	}
	for i := range c.Pages {
		p := &c.Pages[i]
		counts[rowAt[classOf(p)]][columnAt[predicted(p)]]++
	}
	t.Matrix = report.NewMatrix(rowNames, columnNames, counts, nil)
	return t
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

// stateNotes explains the states of cli.md in a few words.
var stateNotes = map[string]string{
	"ok": "fetched and stored", "not_modified": "unchanged since the last visit", "redirect": "led to another URL",
	"duplicate": "same content as a stored page", "code": "answered with an error code", "no_ip": "the name has no address",
	"connect_error": "no connection", "connect_timeout": "no connection in time", "tls_error": "no secure connection",
	"header_error": "the answer's head was broken", "header_timeout": "no answer in time", "body_error": "the body broke off",
	"body_timeout": "the body came too slowly", "too_large": "over the size limit", "wrong_type": "not a page, or in another language",
	"robots_denied": "robots.txt forbids it", "guard_denied": "a forbidden address, or outside the nets", "trap": "looked like a trap", "none": "never requested",
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
			note += fmt.Sprintf("; of %d nearly the same", c.NearDuplicates)
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

// settings shows the crawl's own settings, by name.
func settings(info store.Info) []report.Fact {
	facts := []report.Fact{{Name: "crawled by", Value: "fossick " + info.Version}}
	if info.Created != 0 {
		facts = append(facts, report.Fact{Name: "crawled on", Value: time.Unix(info.Created, 0).UTC().Format(time.RFC1123)})
	}
	var values map[string]any
	if json.Unmarshal(info.Settings, &values) != nil { // no settings, or not of this shape: nothing to show
		return facts
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if text := settingText(values[name]); text != "" {
			facts = append(facts, report.Fact{Name: name, Value: report.Cut(text, maxSetting)})
		}
	}
	return facts
}

// settingText prints a setting; "" for what is not set.
func settingText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = fmt.Sprint(v[i])
		}
		return strings.Join(parts, ", ")
	case map[string]any:
		b, err := json.Marshal(v)
		if err != nil {
			return ""
		}
		return string(b)
	}
	return fmt.Sprint(v)
}
