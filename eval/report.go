package eval

import (
	"cmp"
	_ "embed" // report.html
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"fossick/internal/report"
	"fossick/internal/stats"
	"fossick/store"
)

type reportData struct {
	Result
	Crawls []*judgedCrawl // in the order of Result.Stores
	Made   []report.Fact  // how it was made: version, seed, model card, …
}

//go:embed report.html
var reportHTML string

func writeReport(w io.Writer, r reportData) error {
	v, err := newView(r)
	if err != nil {
		return err
	}
	return report.Write(w, reportHTML, v)
}

type view struct {
	report.Head
	Plots       []report.Figure
	Stores      []Figures // a row each, when there are several
	Kept        *keptCluster
	KeptRows    []keptRow
	Unjudged    string // why KeptRows say nothing; "" where they do
	Targets     *int
	Confusion   *confusion
	States      []countRow
	Codes       []countRow
	Requests    uint64
	Manners     *politenessView
	Drift       []driftRow
	Reach       Reach
	All         int
	AllRelevant int
	AllHarvest  *float64
	Hosts       []hostRow
	MoreHosts   int
	Pages       []pageList
	Refined     bool
}

func newView(r reportData) (*view, error) {
	v := &view{
		Head:   report.Head{Title: titleOf(r.Result), Sentences: append(verdict(r.Result), Sentences(r.Result)...), Tiles: tiles(r.Result), Made: r.Made},
		Stores: r.Stores, Kept: r.Kept,
	}
	if r.Target != "" {
		v.Title += " for " + r.Target
	}
	if len(r.Crawls) == 0 {
		return v, nil
	}
	first := r.Crawls[0]
	v.Subtitle = subtitle(first)
	v.Made = append(v.Made, settings(first.Info, r.Settings)...)
	var err error
	if r.Fetched > 0 {
		if v.Plots, err = plots(r); err != nil {
			return nil, err
		}
	}
	v.Refined = r.Kept != nil
	v.KeptRows, v.Targets = keptRows(r.Figures), r.Targets
	if r.Kept != nil && !first.Source.judges() {
		v.Unjudged = unjudged
	}
	v.Confusion = confuse(first)
	v.States, v.Codes = states(first.Counts)
	v.Requests = first.Counts.Requests
	v.Drift, v.Reach = driftRows(r.Drift), r.Reach
	v.All, v.AllRelevant, v.AllHarvest = r.Fetched, r.Relevant, r.Harvest
	v.Manners = viewPoliteness(first.Politeness)
	v.Hosts, v.MoreHosts = hosts(first)
	v.Pages = append(pageLists(first), rankedLists(first)...)
	return v, nil
}

func subtitle(c *judgedCrawl) string {
	by := map[sourceKind]string{
		byLabels:    "judged by the truth " + c.Source.Name,
		byModel:     "judged by the model " + c.Source.Name,
		byOwnLabels: "judged by " + c.Source.Name,
	}[c.Source.Kind]
	return c.Dir + ", " + by
}

func tiles(r Result) []report.Tile {
	var out []report.Tile
	tile := func(label, value, note string) {
		out = append(out, report.Tile{Label: label, Value: value, Note: note})
	}
	tile("Fetched", report.Number(r.Fetched), "pages stored")
	if r.Harvest != nil {
		by := map[sourceKind]string{byLabels: "by the truth", byModel: "by the judge", byOwnLabels: "by the crawl's own labels"}[r.Relevance]
		tile("Harvest", report.Percent(*r.Harvest), by+"; "+r.HarvestCI.words())
	}
	if r.Kept != nil && r.Kept.Precision == nil && r.Kept.Pages > 0 {
		tile("After refinement", report.Number(r.Kept.Pages), "pages kept; precision, recall and F1 need a truth or another judge")
	}
	if r.Kept != nil && r.Kept.Precision != nil {
		tile("After refinement", report.Percent(*r.Kept.Precision), "on topic, of "+report.Pages(r.Kept.Pages)+" kept; recall among fetched "+report.Share(r.Kept.Recall))
	}
	if r.Kept != nil && r.Kept.F1 != nil {
		tile("F1 of the cluster", fmt.Sprintf("%.2f", *r.Kept.F1), "of precision and recall among fetched")
	}
	if r.Recall != nil {
		note := "of " + report.Pages(*r.Targets) + " the truth names"
		if r.RecallKept != nil {
			note += "; " + report.Percent(*r.RecallKept) + " after refinement"
		}
		tile("Recall", report.Percent(*r.Recall), note)
	}
	if e := r.RecallEstimate; e != nil {
		note := "95 % interval " + report.Span(e.CI)
		if e.Upper() {
			note = "at most; capture–recapture " + report.Span(e.CI)
		}
		tile("Recall, estimated", report.Percent(e.Value), note)
	}
	return out
}

func plots(r reportData) ([]report.Figure, error) {
	all := r.Stores
	if len(all) == 0 {
		all = []Figures{r.Figures}
	}
	names := crawlNames(r.Crawls)
	harvest := chart("on topic, of those fetched")
	for i, f := range all {
		l := line(names[i], f.Curve)
		if i == 0 {
			l.Band = band(f.Curve, r.Crawls[0].relevant())
		}
		harvest.Lines = append(harvest.Lines, l)
	}
	harvest.Level, harvest.LevelName = r.Base, "pages at random"
	f, err := report.NewFigure("Harvest",
		"The share of the pages fetched so far that are on topic. The band is the 95 % interval of the first crawl.", harvest)
	if err != nil {
		return nil, err
	}
	out := []report.Figure{f}
	if src := r.Crawls[0].Source; src.Targets > 0 {
		c := chart("share found")
		c.Lines = recallLines(all, names, src.Targets)
		if f, err = report.NewFigure("Recall", "The share of the relevant pages named by the truth that were found so far.", c); err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	if len(r.Overlap) > 0 {
		c := chart("in common")
		c.Lines, c.Fit = []report.Line{line("overlap", r.Overlap)}, report.FitNone
		if len(r.OverlapKept) > 0 {
			c.Lines = append(c.Lines, line("of what refinement kept", r.OverlapKept))
		}
		if f, err = report.NewFigure("Overlap", "The share of the first n pages that two crawls have in common; with more than two, the mean of all pairs.", c); err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

func chart(ylabel string) report.Chart {
	return report.Chart{XLabel: "pages fetched", YLabel: ylabel, Fit: report.FitTop}
}

func line(name string, curve []Point) report.Line {
	l := report.Line{Name: name}
	for _, p := range curve {
		l.Points = append(l.Points, report.Point{X: float64(p.Pages), Y: p.Share})
	}
	return l
}

func recallLines(all []Figures, names []string, targets int) []report.Line {
	var lines []report.Line
	for i, f := range all {
		l := line(names[i], f.Curve)
		for k := range l.Points {
			l.Points[k].Y *= l.Points[k].X / float64(targets)
		}
		lines = append(lines, l)
	}
	return lines
}

func band(curve []Point, relevant []bool) [][2]float64 {
	b := make([][2]float64, len(curve))
	for i, p := range curve {
		b[i] = [2]float64{0, 1} // unknown for so few pages
		if ci := harvestCI(p.Pages, func(k int) bool { return relevant[k] }); ci != nil {
			b[i] = *ci
		}
	}
	return b
}

func crawlNames(crawls []*judgedCrawl) []string {
	names := make([]string, len(crawls))
	times := map[string]int{}
	for i, c := range crawls {
		names[i] = filepath.Base(filepath.Clean(c.Dir))
		times[names[i]]++
	}
	for i, c := range crawls {
		if times[names[i]] > 1 {
			names[i] = c.Dir
		}
	}
	return names
}

func titleOf(r Result) string {
	if r.Versus != nil {
		return "Crawls compared"
	}
	return "A crawl"
}

const (
	maxClasses = 12
	maxHosts   = 20
	maxListed  = 10
	maxTitle   = 90 // runes
	maxURL     = 110
	maxRule    = 200
	maxSetting = 300
)

type keptRow struct {
	Name            string
	Pages, Relevant int
	Share           *float64
	Recall          *float64 // share of the fetched pages on topic
	Truth           *float64 // share of the truth's pages on topic
}

func keptRows(f Figures) []keptRow {
	if f.Kept == nil {
		return nil
	}
	k := f.Kept
	row := func(name string, pages, relevant int) keptRow {
		r := keptRow{Name: name, Pages: pages, Relevant: relevant, Share: stats.Share(relevant, pages), Recall: stats.Share(relevant, f.Relevant)}
		if f.Targets != nil {
			r.Truth = stats.Share(relevant, *f.Targets)
		}
		return r
	}
	return []keptRow{row("fetched", f.Fetched, f.Relevant), row("kept", k.Pages, k.Relevant), row("dropped", f.Fetched-k.Pages, f.Relevant-k.Relevant)}
}

// confusion counts pages by the source's class (rows) and the model's class (columns).
type confusion struct {
	RowTitle, ColumnTitle string
	Matrix                *report.Matrix
}

const otherClasses = "(other classes)"

// confuse compares the source's labels with refine's, or else the crawl's; nil without both.
func confuse(c *judgedCrawl) *confusion {
	t := &confusion{RowTitle: map[sourceKind]string{byLabels: "truth", byModel: "judge", byOwnLabels: "crawl"}[c.Source.Kind], ColumnTitle: "refinement"}
	predicted := func(p *judgedPage) string {
		if p.Refined != nil {
			return p.Refined.Label
		}
		return ""
	}
	if c.kept() == nil {
		t.ColumnTitle = "crawl"
		predicted = func(p *judgedPage) string { return p.Label }
	}
	rows, columns := map[string]int{}, map[string]int{}
	for i := range c.Pages {
		rows[classOf(&c.Pages[i])]++
		columns[predicted(&c.Pages[i])]++
	}
	if len(columns) == 0 || len(columns) == 1 && columns[""] > 0 || t.RowTitle == t.ColumnTitle {
		return nil
	}
	both := maps.Clone(rows) // one order for rows and columns, so that agreement is on the diagonal
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

// classOf returns the source's class of a page, or without one whether it is on topic.
func classOf(p *judgedPage) string {
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

// topClasses returns the most frequent classes and every class's row; the rest share the last row.
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

const stateScriptOnly = "script_only"

var stateNotes = map[string]string{
	"ok": "fetched and stored", "not_modified": "unchanged since the last visit", "redirect": "led to another URL",
	"duplicate": "same content as a stored page", stateScriptOnly: "made by script, which fossick does not run", "code": "answered with an error code", "challenge": "a challenge or block page, which fossick does not solve", "payment_required": "for payment, and fossick pays for no page", "no_ip": "the name has no address",
	"connect_error": "no connection", "connect_timeout": "no connection in time", "tls_error": "no secure connection",
	"header_error": "the answer's header was broken", "header_timeout": "no answer in time", "body_error": "the body broke off",
	"body_timeout": "the body came too slowly", "too_large": "over the size limit", "wrong_type": "not a wanted type, not readable, or in another language", "no_text": "a document without text, such as scanned pages",
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
		rows = append(rows, countRow{name, note, n, stats.Share(int(n), int(total))})
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

func hosts(c *judgedCrawl) (rows []hostRow, more int) {
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
		h.Share = stats.Share(h.Relevant, h.Pages)
		h.Host = report.Cut(h.Host, maxURL)
		rows = append(rows, *h)
	}
	slices.SortStableFunc(rows, func(a, b hostRow) int { return b.Pages - a.Pages })
	if len(rows) > maxHosts {
		return rows[:maxHosts], len(rows) - maxHosts
	}
	return rows, 0
}

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

type pageList struct {
	Title, Note string
	Rows        []pageRow
}

type pageRow struct {
	URL      string // full, for the link
	Short    string
	Title    string
	Score    float64
	Relevant bool
	Label    string
	Rule     string
}

func pageLists(c *judgedCrawl) []pageList {
	best := pick(c, func(*judgedPage) bool { return true }, func(p *judgedPage) float64 { return p.Score }, true)
	lists := []pageList{{"Top pages", "The pages that the crawl scored highest, the best first.", best}}
	if c.kept() == nil {
		return lists
	}
	topic := func(p *judgedPage) float64 { return p.Refined.Score }
	kept := pick(c, func(p *judgedPage) bool { return p.Refined.Kept && !p.Relevant }, topic, true)
	dropped := pick(c, func(p *judgedPage) bool { return !p.Refined.Kept && p.Relevant }, topic, false)
	return append(lists,
		pageList{"Kept, but off topic", "The most certain first: examples to teach the model next, or errors in the labels.", kept},
		pageList{"Dropped, but on topic", "The most certain first.", dropped})
}

// pick returns the first matching pages by falling or rising score; ties keep crawl order.
func pick(c *judgedCrawl, match func(*judgedPage) bool, score func(*judgedPage) float64, falling bool) []pageRow {
	var found []*judgedPage
	for i := range c.Pages {
		if match(&c.Pages[i]) {
			found = append(found, &c.Pages[i])
		}
	}
	slices.SortStableFunc(found, func(a, b *judgedPage) int {
		if falling {
			a, b = b, a
		}
		if d := cmp.Compare(score(a), score(b)); d != 0 {
			return d
		}
		if falling {
			a, b = b, a
		}
		return cmp.Compare(a.Number, b.Number)
	})
	var rows []pageRow
	for _, p := range found[:min(maxListed, len(found))] {
		r := pageRow{URL: p.URL, Short: report.Cut(p.URL, maxURL), Title: report.Cut(p.Title, maxTitle), Score: score(p), Relevant: p.Relevant, Label: p.Label}
		if p.Refined != nil {
			r.Label, r.Rule = p.Refined.Label, report.Cut(p.Refined.Rule, maxRule)
		}
		rows = append(rows, r)
	}
	return rows
}

type mannersTable struct {
	Title string
	Rows  []mannersRow
}

type mannersRow struct {
	Host                       string
	Requests, Robots, Sitemaps int
	Gap, Median, Longest       string
}

type politenessView struct {
	Sentences []string
	Worst     []worstRow
	Tables    []mannersTable
}

type worstRow struct{ Host, Gap, Rest string }

func viewPoliteness(p *Politeness) *politenessView {
	if p == nil {
		return nil
	}
	v := &politenessView{Sentences: p.Sentences()}
	for _, g := range p.Worst {
		v.Worst = append(v.Worst, worstRow{report.Cut(g.Host, maxURL), seconds(g.Seconds), seconds(g.Rest)})
	}
	for _, t := range []struct {
		title string
		hosts []hostManners
	}{{"Most asked", p.MostAsked}, {"Slowest", p.Slowest}, {"Never answered", p.SilentTop}} {
		if len(t.hosts) > 0 {
			v.Tables = append(v.Tables, mannersTable{t.title, mannersRows(t.hosts)})
		}
	}
	return v
}

func mannersRows(hosts []hostManners) []mannersRow {
	rows := make([]mannersRow, len(hosts))
	for i, h := range hosts {
		r := mannersRow{
			Host: report.Cut(h.Host, maxURL), Requests: h.Requests, Robots: h.Robots, Sitemaps: h.Sitemaps,
			Gap: "–", Median: "–", Longest: "–",
		}
		if h.Gap != nil {
			r.Gap = seconds(*h.Gap)
		}
		if h.Requests > 0 {
			r.Median, r.Longest = seconds(h.Median), seconds(h.Longest)
		}
		rows[i] = r
	}
	return rows
}
