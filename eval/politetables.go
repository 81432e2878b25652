package eval

import "fossick/internal/report"

// mannersTable is a list of hosts in the report.
type mannersTable struct {
	Title string
	Rows  []mannersRow
}

// mannersRow is a host as the report shows it.
type mannersRow struct {
	Host                       string
	Requests, Robots, Sitemaps int
	Gap, Median, Longest       string
}

// politenessView is the report's section on manners.
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
		hosts []HostManners
	}{{"Most asked", p.MostAsked}, {"Slowest", p.Slowest}, {"Never answered", p.SilentTop}} {
		if len(t.hosts) > 0 {
			v.Tables = append(v.Tables, mannersTable{t.title, mannersRows(t.hosts)})
		}
	}
	return v
}

func mannersRows(hosts []HostManners) []mannersRow {
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
