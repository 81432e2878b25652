package tables

import (
	"fmt"
	"slices"

	"fossick/eval/webstats"
	"fossick/internal/printable"
	"fossick/store/change"
)

// Tables are the result for a person to read, or as files.
func (r *Result) Tables() []webstats.Table {
	const ofSeeds = ", start pages downloaded in each round"
	all := []webstats.Table{
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

// Paper E's share of pages that changed and change interval in days (tables 9, 10, 11 and 13).
var (
	paperTLD    = map[string][2]any{"kr": {nil, 6.86}, "com": {nil, 6.32}, "net": {nil, 9.03}, "org": {nil, 6.24}}
	paperSecond = map[string][2]any{"co.kr": {nil, 6.16}, "pe.kr": {nil, 15.83}}
	paperDepth  = map[string][2]any{"0": {nil, 7.66}, "9": {nil, 3.77}}
	paperKind   = map[string][2]any{"000": {.017, nil}, "ha0": {.726, 6.31}}
)

// paperSeeds is |S(0)| to |S(9)| of paper E.
var paperSeeds = change.Downloads{328, 6, 7, 3, 6, 7, 9, 12, 93, 953}

// rounds is what each round asked for, and got.
func (r *Result) rounds() webstats.Table {
	t := webstats.Table{Name: "rounds", Title: "Start pages and pages by round", Columns: []webstats.Column{
		{Name: "round", Title: "round", Unit: webstats.Whole},
		{Name: "seeds_requested", Title: "start pages", Unit: webstats.Whole}, {Name: "seeds_downloaded", Title: "downloaded", Unit: webstats.Whole},
		{Name: "pages_requested", Title: "pages", Unit: webstats.Whole}, {Name: "pages_downloaded", Title: "downloaded", Unit: webstats.Whole},
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

// downloads is S(n), with what equations 1 and 2 make of it.
func (r *Result) downloads() webstats.Table {
	t := webstats.Table{Name: "downloads", Title: "Pages downloaded in exactly n rounds, S(n)", Columns: []webstats.Column{
		{Name: "n", Title: "n", Unit: webstats.Whole}, {Name: "pages", Title: "pages", Unit: webstats.Whole}, {Name: "seeds", Title: "start pages", Unit: webstats.Whole},
	}}
	if r.Rounds == 0 {
		t.Note = noRound
		return t
	}
	asPaper := len(r.SeedDownloads) == len(paperSeeds)
	if asPaper {
		t.Columns = append(t.Columns, webstats.Column{Name: "paper_e", Title: "Korea", Unit: webstats.Whole})
		t.Note = "Korea: start pages of Korea's web in 2002, also in nine rounds."
	}
	for n := r.Rounds; n >= 0; n-- {
		row := []any{int64(n), int64(r.Downloads[n]), int64(r.SeedDownloads[n])}
		if asPaper {
			row = append(row, int64(paperSeeds[n]))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// groupTable is of groups, with the paper's figures by name.
func groupTable(name, title, what string, groups []Group, paper map[string][2]any) webstats.Table {
	t := webstats.Table{Name: name, Title: title, Columns: []webstats.Column{
		{Name: what, Title: what, Unit: webstats.Words}, {Name: "pages", Title: "pages", Unit: webstats.Whole}, {Name: "looks", Title: "looks", Unit: webstats.Whole},
		{Name: "changes", Title: "changes", Unit: webstats.Whole}, {Name: "changed", Title: "changed", Unit: webstats.Share},
		{Name: "paper_e_changed", Title: "Korea", Unit: webstats.Share},
		{Name: "change_interval_days", Title: "mean", Unit: webstats.Days}, {Name: "change_interval_most_days", Title: "most", Unit: webstats.Days}, {Name: "paper_e_days", Title: "Korea", Unit: webstats.Days},
		{Name: "interval_days", Title: "middle", Unit: webstats.Days}, {Name: "interval_from", Title: "from", Unit: webstats.Days}, {Name: "interval_to", Title: "to", Unit: webstats.Days},
		{Name: "naive_interval_days", Title: "time by changes", Unit: webstats.Days}, {Name: "content_interval_days", Title: "of any content", Unit: webstats.Days},
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
		for _, k := range []int{8, 5} { // its columns
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

// Sentences say in a few lines what there is to know. The first one compares with Korea's web,
// where a page has changed.
func (r *Result) Sentences() []string {
	lines := []string{printable.Sprintf("%d pages are watched, with %d visits after the one that stored them, in %d rounds.", r.Pages, r.Visits, r.Rounds)}
	if a := r.All; a.Looks > 0 {
		line := printable.Sprintf("%d pages were visited again %d times: the content had changed %d times, and the main text in %d of these.", a.Pages, a.Looks, a.ContentChanges, a.Changes)
		if a.Interval != nil {
			line += fmt.Sprintf(" The median page changes every %s (95 %% interval %s to %s).", period(*a.Interval), period(a.CI[0]), period(a.CI[1]))
		}
		lines = append(lines, line)
		if a.ChangeInterval != nil {
			lines = slices.Insert(lines, 0, fmt.Sprintf("Pages that changed did so every %s on average, the slowest every %s (Korea's web of 2002: 9 and 19 days). All observed time divided by all changes is %s.",
				period(*a.ChangeInterval), period(*a.ChangeIntervalMost), period(*a.Naive)))
		}
	}
	if f := r.Freshness; f.Now != nil {
		line := fmt.Sprintf("An estimated %.1f %% of the stored copies are current; on average a copy is %s behind.", 100**f.Now, period(*f.Age))
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
