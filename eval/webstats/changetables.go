package webstats

import (
	"fmt"
	"io"
	"slices"

	"fossick/internal/cli"
	"fossick/internal/report"
	"fossick/internal/stats"
	"fossick/store/change"
)

// Tables returns the result as tables, for the terminal or for files.
func (r *Changes) Tables() []resultTable {
	const ofSeeds = ", start pages downloaded in each round"
	all := []resultTable{
		r.rounds(),
		r.downloads(),
		groupTable("seed_tld", "Change by top-level domain"+ofSeeds, "domain", r.SeedTLD, paperTLD),
		groupTable("seed_second_level", "Change by second level"+ofSeeds, "domain", r.SeedSecond, paperSecond),
		groupTable("tld", "Change by top-level domain, of all pages", "domain", r.TLD, nil),
		groupTable("second_level", "Change by second level, of all pages", "domain", r.Second, nil),
		groupTable("depth", "Change by depth", "depth", r.Depth, paperDepth),
		groupTable("link_kind", "Change by kind of links on the page", "kind", r.Kind, paperKind),
	}
	all[len(all)-1].Note = "Kinds: a anchors, f frames, h others, as URLs in scripts, 0 none. mean, most: observed time divided by changes, mean and maximum over the pages that changed. middle: time between two changes of the median page, by the estimated rates of all pages, with its 95 % interval. " +
		"d, h, m, s: days, hours, minutes, seconds. Korea: Korea's web in 2002."
	return all
}

// Paper E's share of changed pages and change interval in days (tables 9, 10, 11 and 13).
var (
	paperTLD    = map[string][2]any{"kr": {nil, 6.86}, "com": {nil, 6.32}, "net": {nil, 9.03}, "org": {nil, 6.24}}
	paperSecond = map[string][2]any{"co.kr": {nil, 6.16}, "pe.kr": {nil, 15.83}}
	paperDepth  = map[string][2]any{"0": {nil, 7.66}, "9": {nil, 3.77}}
	paperKind   = map[string][2]any{"000": {.017, nil}, "ha0": {.726, 6.31}}
)

// paperDownloads is paper E's |S(0)| to |S(9)|.
var paperDownloads = change.Downloads{328, 6, 7, 3, 6, 7, 9, 12, 93, 953}

func (r *Changes) rounds() resultTable {
	t := resultTable{Name: "rounds", Title: "Start pages and pages by round", Columns: []tableColumn{
		{Name: "round", Title: "round", Unit: inWhole},
		{Name: "seeds_requested", Title: "start pages", Unit: inWhole}, {Name: "seeds_downloaded", Title: "downloaded", Unit: inWhole},
		{Name: "pages_requested", Title: "pages", Unit: inWhole}, {Name: "pages_downloaded", Title: "downloaded", Unit: inWhole},
	}}
	if len(r.ByRound) == 0 {
		t.Note = noRound
	}
	for i, n := range r.ByRound {
		t.Rows = append(t.Rows, []any{int64(i + 1), n.SeedsRequested, n.SeedsDownloaded, n.PagesRequested, n.PagesDownloaded})
	}
	return t
}

const noRound = "No round has ended yet."

// downloads returns the table of S(n), beside paper E's when the number of rounds is the same.
func (r *Changes) downloads() resultTable {
	t := resultTable{Name: "downloads", Title: "Pages downloaded in exactly n rounds, S(n)", Columns: []tableColumn{
		{Name: "n", Title: "n", Unit: inWhole}, {Name: "pages", Title: "pages", Unit: inWhole}, {Name: "seeds", Title: "start pages", Unit: inWhole},
	}}
	if r.Rounds == 0 {
		t.Note = noRound
		return t
	}
	asPaper := len(r.SeedDownloads) == len(paperDownloads)
	if asPaper {
		t.Columns = append(t.Columns, tableColumn{Name: "paper_e", Title: "Korea", Unit: inWhole})
		t.Note = "Korea: start pages of Korea's web in 2002, also in nine rounds."
	}
	for n := r.Rounds; n >= 0; n-- {
		row := []any{int64(n), int64(r.Downloads[n]), int64(r.SeedDownloads[n])}
		if asPaper {
			row = append(row, int64(paperDownloads[n]))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func groupTable(name, title, what string, groups []ChangeGroup, paper map[string][2]any) resultTable {
	t := resultTable{Name: name, Title: title, Columns: []tableColumn{
		{Name: what, Title: what, Unit: inLetters}, {Name: "pages", Title: "pages", Unit: inWhole}, {Name: "looks", Title: "looks", Unit: inWhole},
		{Name: "changes", Title: "changes", Unit: inWhole}, {Name: "changed", Title: "changed", Unit: inShares},
		{Name: "paper_e_changed", Title: "Korea", Unit: inShares},
		{Name: "change_interval_days", Title: "mean", Unit: inDays}, {Name: "change_interval_most_days", Title: "most", Unit: inDays}, {Name: "paper_e_days", Title: "Korea", Unit: inDays},
		{Name: "interval_days", Title: "middle", Unit: inDays}, {Name: "interval_from", Title: "from", Unit: inDays}, {Name: "interval_to", Title: "to", Unit: inDays},
		{Name: "naive_interval_days", Title: "time by changes", Unit: inDays}, {Name: "content_interval_days", Title: "of any content", Unit: inDays},
	}, Wide: []string{"looks", "changes", "naive_interval_days", "content_interval_days"}}
	for _, g := range groups {
		var from, to any
		if g.CI != nil {
			from, to = g.CI[0], g.CI[1]
		}
		t.Rows = append(t.Rows, []any{g.Name, g.Pages, g.Looks, g.Changes, value(g.Changed), paper[g.Name][0],
			value(g.ChangeInterval), value(g.ChangeIntervalMost), paper[g.Name][1], value(g.Interval), from, to, value(g.Naive), value(g.ContentInterval)})
	}
	if paper == nil {
		for _, k := range []int{8, 5} { // paper E's columns
			t.Columns = slices.Delete(t.Columns, k, k+1)
			for i := range t.Rows {
				t.Rows[i] = slices.Delete(t.Rows[i], k, k+1)
			}
		}
	}
	return t
}

func value(x *float64) any {
	if x == nil {
		return nil
	}
	return *x
}

// Sentences summarise the result, first compared with Korea's web once a page has changed.
func (r *Changes) Sentences() []string {
	lines := []string{cli.Sprintf("%d pages are watched, with %d visits after the one that stored them, in %d rounds.", r.Pages, r.Visits, r.Rounds)}
	if a := r.All; a.Looks > 0 {
		lines = append(lines, cli.Sprintf("%d pages were visited again %d times: the content had changed %d times, and the main text in %d of these.", a.Pages, a.Looks, a.ContentChanges, a.Changes))
		if a.Interval != nil {
			lines = append(lines, fmt.Sprintf("The median page changes every %s (95 %% interval %s to %s).", inWords(*a.Interval), inWords(a.CI[0]), inWords(a.CI[1])))
		}
		if a.ChangeInterval != nil {
			lines = slices.Insert(lines, 0, fmt.Sprintf("Pages that changed did so every %s on average, the slowest every %s (Korea's web of 2002: 9 and 19 days).", inWords(*a.ChangeInterval), inWords(*a.ChangeIntervalMost)))
			lines = append(lines, fmt.Sprintf("All observed time divided by all changes is %s.", inWords(*a.Naive)))
		}
	}
	if f := r.Freshness; f.Now != nil {
		line := fmt.Sprintf("An estimated %.1f %% of the stored copies are current; on average a copy is %s behind.", 100**f.Now, inWords(*f.Age))
		if f.WhenAsked != nil {
			line += fmt.Sprintf(" %.1f %% of the visits found the main text unchanged.", 100**f.WhenAsked)
		}
		lines = append(lines, line)
	}
	lines = append(lines, fmt.Sprintf("Pages gone: %d. Pages moved: %d. Pages that were gone or moved and came back: %d.", r.Gone, r.Moved, r.Back))
	if r.SS != nil || r.FF != nil {
		lines = append(lines, fmt.Sprintf("After a successful visit the next one succeeds with probability SS = %s; after a failed one the next fails with probability FF = %s. Start pages: %s and %s (Korea's web of 2002: 0.9638 and 0.7426). Counted from visit to visit: %s and %s.",
			told(r.SS), told(r.FF), told(r.SeedSS), told(r.SeedFF), told(r.NextSS), told(r.NextFF)))
	}
	return lines
}

func told(x *float64) string {
	if x == nil {
		return "unknown"
	}
	return fmt.Sprintf("%.4f", *x)
}

// mostRanges is how many groups a plot shows; the tables have all.
const mostRanges = 12

// WriteReport writes an HTML page with plots and all tables; of names the crawl.
func (r *Changes) WriteReport(w io.Writer, of string, made ...report.Fact) error {
	head := report.Head{Title: "How pages change", Subtitle: of, Sentences: r.Sentences(), Tiles: r.tiles(), Made: made}
	plots, err := r.figures()
	if err != nil {
		return err
	}
	return writePage(w, head, plots, r.Tables())
}

func (r *Changes) tiles() []report.Tile {
	n := func(x int64) string { return report.Number(int(x)) }
	mean, most, middle, ci := "–", "no page has changed yet", "–", "not known yet"
	if a := r.All; a.ChangeInterval != nil {
		mean, most = inWords(*a.ChangeInterval), fmt.Sprintf("mean of the pages that changed, %s at most; Korea's 9 days, 19 at most", inWords(*a.ChangeIntervalMost))
	}
	if a := r.All; a.Interval != nil {
		middle, ci = inWords(*a.Interval), fmt.Sprintf("%s to %s; between two changes, as estimated", inWords(a.CI[0]), inWords(a.CI[1]))
	}
	age := "of the copies, as estimated"
	if f := r.Freshness; f.Age != nil {
		age = fmt.Sprintf("of the copies; on average they are %s behind", inWords(*f.Age))
	}
	return []report.Tile{
		{Label: "Pages", Value: n(r.Pages), Note: n(r.Visits) + " visits after the first of each page"},
		{Label: "Change interval", Value: mean, Note: most},
		{Label: "Median page", Value: middle, Note: ci},
		{Label: "Current now", Value: report.Share(r.Freshness.Now), Note: age},
		{Label: "Gone or elsewhere", Value: n(r.Gone + r.Moved), Note: n(r.Back) + " were gone or elsewhere and came back"},
	}
}

func (r *Changes) figures() (all []report.Figure, err error) {
	add := func(f report.Figure, failed error) {
		if err == nil && failed == nil {
			all = append(all, f)
		} else if err == nil {
			err = failed
		}
	}
	if r.Rounds > 0 {
		add(report.NewFigure("Pages downloaded in n rounds", "Share of the pages, and of the start pages, that were downloaded in exactly n of the rounds.",
			report.Chart{XLabel: "rounds", YLabel: "pages", Lines: r.downloadLines()}))
	}
	if line := r.roundLine(); len(line.Points) > 0 {
		add(report.NewFigure("Freshness by round", "Share of a round's visits that found the main text unchanged, with 95 % intervals.",
			report.Chart{XLabel: "round", YLabel: "unchanged", Lines: []report.Line{line}}))
	}
	if lines, u := r.visitLines(); len(lines) > 0 {
		add(report.NewFigure("Visits", "Visits to pages, and those that found another main text, in equal parts of the time.",
			report.Chart{XLabel: u.name + " since the first", YLabel: "visits", XNumbers: true, YCounts: true, Lines: lines}))
	}
	for _, k := range []struct {
		of     string
		groups []ChangeGroup
	}{{"top-level domain", r.TLD}, {"second level", r.Second}, {"depth", r.Depth}, {"kind of links on the page", r.Kind}} {
		if rows, u := ranges(k.groups); len(rows) > 0 {
			add(report.NewRanges("The median page by "+k.of, "Estimated time between two changes of the median page of each group, with 95 % intervals.", u.name, rows))
		}
	}
	return all, err
}

func (r *Changes) downloadLines() (lines []report.Line) {
	for _, of := range []struct {
		name   string
		counts []int
	}{{"pages", r.Downloads}, {"start pages", r.SeedDownloads}} {
		sum := 0
		for _, n := range of.counts {
			sum += n
		}
		if sum == 0 {
			continue
		}
		line := report.Line{Name: of.name, Stems: true}
		for n, pages := range of.counts {
			line.Points = append(line.Points, report.Point{X: float64(n), Y: float64(pages) / float64(sum)})
		}
		lines = append(lines, line)
	}
	return lines
}

func (r *Changes) roundLine() (line report.Line) {
	line.Dots = true
	for i, f := range r.Freshness.Rounds {
		if f.Looks == 0 {
			continue
		}
		line.Points = append(line.Points, report.Point{X: float64(i + 1), Y: float64(f.AsItIs) / float64(f.Looks)})
		line.Band = append(line.Band, stats.Wilson(int(f.AsItIs), int(f.Looks)))
	}
	return line
}

func (r *Changes) visitLines() ([]report.Line, unit) {
	all, changed := report.Line{Name: "visits"}, report.Line{Name: "another main text"}
	parts := r.pulse.parts()
	if len(parts) == 0 {
		return nil, unit{}
	}
	u := unitOf(float64(parts[len(parts)-1].at) / msPerDay / 2)
	for _, p := range parts {
		at := report.Point{X: float64(p.at) / msPerDay / u.days, Y: float64(p.visits)}
		all.Points = append(all.Points, at)
		if p.changed > 0 { // the axis is logarithmic
			changed.Points = append(changed.Points, report.Point{X: at.X, Y: float64(p.changed)})
		}
	}
	all.Dots, changed.Dots = len(all.Points) <= mostParts/2, true
	if len(changed.Points) == 0 {
		return []report.Line{all}, u
	}
	return []report.Line{all, changed}, u
}

func ranges(groups []ChangeGroup) (rows []report.Range, u unit) {
	u = units[0]
	for _, g := range groups[:min(len(groups), mostRanges)] {
		if g.Interval != nil && *g.Interval < u.days {
			u = unitOf(*g.Interval)
		}
	}
	for _, g := range groups {
		if g.Interval != nil && len(rows) < mostRanges {
			rows = append(rows, report.Range{Name: g.Name, Value: *g.Interval / u.days, Lo: g.CI[0] / u.days, Hi: g.CI[1] / u.days})
		}
	}
	return rows, u
}

type unit struct {
	name string
	days float64 // length of one in days
}

var units = []unit{{"days", 1}, {"hours", 1. / 24}, {"minutes", 1. / (24 * 60)}, {"seconds", 1. / (24 * 3600)}}

func unitOf(days float64) unit {
	for _, u := range units {
		if days >= u.days {
			return u
		}
	}
	return units[len(units)-1]
}

func inWords(days float64) string {
	u := unitOf(days)
	return fmt.Sprintf("%.3g %s", days/u.days, u.name)
}
