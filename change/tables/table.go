package tables

import (
	"fmt"

	"fossick/webstats"
)

// Tables are the result for a person to read, or as files.
func (r *Result) Tables() []webstats.Table {
	return []webstats.Table{
		r.downloads(),
		groupTable("tld", "Change by top-level domain", "domain", r.TLD),
		groupTable("second_level", "Change by second level", "domain", r.Second),
		groupTable("depth", "Change by depth", "depth", r.Depth),
		groupTable("link_kind", "Change by kind of links on the page", "kind", r.Kind),
	}
}

// downloads is S(n), with what equations 1 and 2 make of it.
func (r *Result) downloads() webstats.Table {
	t := webstats.Table{Name: "downloads", Title: "Pages downloaded in exactly n rounds, S(n)", Columns: []webstats.Column{
		{Name: "n", Title: "n", Unit: webstats.Whole}, {Name: "pages", Title: "pages", Unit: webstats.Whole}, {Name: "seeds", Title: "start pages", Unit: webstats.Whole},
	}}
	if r.Rounds == 0 {
		t.Note = "No round has ended yet."
		return t
	}
	for n := r.Rounds; n >= 0; n-- {
		t.Rows = append(t.Rows, []any{int64(n), int64(r.Downloads[n]), int64(r.SeedDownloads[n])})
	}
	return t
}

func groupTable(name, title, what string, groups []Group) webstats.Table {
	t := webstats.Table{Name: name, Title: title, Columns: []webstats.Column{
		{Name: what, Title: what, Unit: webstats.Words}, {Name: "pages", Title: "pages", Unit: webstats.Whole}, {Name: "looks", Title: "looks", Unit: webstats.Whole},
		{Name: "changes", Title: "changes", Unit: webstats.Whole}, {Name: "changed", Title: "changed", Unit: webstats.Share},
		{Name: "interval_days", Title: "days", Unit: webstats.Number}, {Name: "interval_from", Title: "from", Unit: webstats.Number}, {Name: "interval_to", Title: "to", Unit: webstats.Number},
		{Name: "naive_interval_days", Title: "T/X", Unit: webstats.Number}, {Name: "content_interval_days", Title: "any, T/X", Unit: webstats.Number},
	}}
	for _, g := range groups {
		var from, to any
		if g.CI != nil {
			from, to = g.CI[0], g.CI[1]
		}
		t.Rows = append(t.Rows, []any{g.Name, g.Pages, g.Looks, g.Changes, value(g.Changed), value(g.Interval), from, to, value(g.Naive), value(g.ContentInterval)})
	}
	return t
}

func value(x *float64) any {
	if x == nil {
		return nil
	}
	return *x
}

// Sentences say in a few lines what there is to know.
func (r *Result) Sentences() []string {
	lines := []string{fmt.Sprintf("%d pages are watched, with %d visits after the one that stored them, in %d rounds.", r.Pages, r.Visits, r.Rounds)}
	if a := r.All; a.Looks > 0 {
		line := fmt.Sprintf("Of %d looks at %d pages %d found other content, %d of them another main text.", a.Looks, a.Pages, a.ContentChanges, a.Changes)
		if a.Interval != nil {
			line += fmt.Sprintf(" The page in the middle changes every %s (%s to %s).", period(*a.Interval), period(a.CI[0]), period(a.CI[1]))
		}
		if a.Naive != nil {
			line += fmt.Sprintf(" Time by changes is %s (paper E: 3.77 to 7.66 days by depth).", period(*a.Naive))
		}
		lines = append(lines, line)
	}
	if f := r.Freshness; f.Now != nil {
		line := fmt.Sprintf("Now %.1f %% of the copies are as the pages are, as estimated; copies are behind by %s in the mean.", 100**f.Now, period(*f.Age))
		if f.WhenAsked != nil {
			line += fmt.Sprintf(" Of the looks %.1f %% found the text as it was.", 100**f.WhenAsked)
		}
		lines = append(lines, line)
	}
	lines = append(lines, fmt.Sprintf("Gone now: %d. Elsewhere now: %d. Were gone or elsewhere, and came back: %d.", r.Gone, r.Moved, r.Back))
	if r.SS != nil || r.FF != nil {
		lines = append(lines, fmt.Sprintf("A success follows a success with SS = %s, a failure a failure with FF = %s (paper E: 0.9638, 0.7426); counted from visit to visit, %s and %s.",
			told(r.SS), told(r.FF), told(r.NextSS), told(r.NextFF)))
	}
	return lines
}

func told(x *float64) string {
	if x == nil {
		return "unknown"
	}
	return fmt.Sprintf("%.4f", *x)
}
