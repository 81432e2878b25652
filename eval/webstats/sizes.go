package webstats

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"fossick/internal/document"
	"fossick/internal/page"
	"fossick/internal/report"
	"fossick/internal/stats"
	"fossick/store/change"
)

const (
	meanSeed    = "seed length"
	meanPath    = "path length"
	meanGotPath = "path, got"
	meanLabels  = "host labels"
	meanParty   = "pages a seed"
	meanSize    = "page bytes"
	meanUnseen  = "of it unseen"
	meanLinks   = "page links"
	meanTime    = "answer ms"
)

func (c *counts) means() resultTable {
	t := resultTable{Name: "means", Title: "Lengths, labels, sizes, links, times: means and spread",
		Columns: []tableColumn{{"what", "", inLetters}, {"n", "of", inWhole}, {"least", "least", inWhole}, {"mean", "mean", inNumbers}, {"deviation", "dev.", inNumbers}, {"median", "median", inWhole}, {"p99", "99 %", inWhole}, {"most", "most", inWhole},
			paperColumn(inNumbers), {"paper_e_least", "Korea least", inWhole}, {"paper_e_most", "Korea most", inWhole}},
		Wide: []string{"paper_e_least", "paper_e_most"},
		Note: "dev.: standard deviation. 99 %: the value that 99 % of them do not exceed. path, got: of downloaded URLs. unseen: bytes of a page that are neither text nor title. pages a seed: downloaded in its party. " +
			"Korea: means of Korea's web in 2002; its start pages had 5 to 49 characters, the paths of its downloaded pages 0 to 255."}
	for _, row := range []struct {
		name string
		s    *spread
	}{
		{meanSeed, &c.urls.seedLength}, {meanPath, &c.urls.pathLength}, {meanGotPath, &c.urls.gotPath}, {meanLabels, &c.hosts.count},
		{meanParty, &c.urls.parties.sizes}, {meanSize, &c.pages.size}, {meanUnseen, &c.pages.unseen}, {meanLinks, &c.pages.links}, {meanTime, &c.urls.time},
	} {
		s, paper := row.s, paperMeans[row.name]
		cells := []any{row.name, s.n, nil, nil, nil, nil, nil, nil, paper[1], paper[0], paper[2]}
		if s.n > 0 {
			copy(cells[2:], []any{s.least, s.mean(), s.deviation(), s.quantile(0.5), s.quantile(0.99), s.most})
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

func (c *counts) lengthTables() []resultTable {
	seeds := steps(&c.urls.seedLength, 5, 20)
	seeds.Name, seeds.Title = "seed_lengths", "Lengths of start pages, in characters without the scheme"
	paths := steps(&c.urls.pathLength, 16, 16)
	paths.Name, paths.Title = "path_lengths", "Lengths of paths of requested URLs, and of downloaded ones, in characters"
	paths.Columns = append(paths.Columns, tableColumn{"downloaded", "downloaded", inWhole}, tableColumn{"downloaded_share", "share", inShares})
	got := steps(&c.urls.gotPath, 16, 16)
	for i := range paths.Rows {
		more := []any{int64(0), share(0, c.urls.gotPath.n)}
		if i < len(got.Rows) && got.Rows[i][0] == paths.Rows[i][0] {
			more = got.Rows[i][2:]
		}
		paths.Rows[i] = append(paths.Rows[i], more...)
	}
	return []resultTable{seeds, paths}
}

// steps counts values in up to most steps of a size, and larger ones in one more, without empty steps at the end.
func steps(s *spread, size int64, most int) resultTable {
	t := resultTable{Columns: []tableColumn{{"from", "from", inWhole}, {"to", "to", inWhole}, {"number", "number", inWhole}, {"share", "share", inShares}}}
	before := int64(0)
	for i := range int64(most) {
		n := s.below((i + 1) * size)
		t.Rows = append(t.Rows, []any{i * size, (i+1)*size - 1, n - before, share(n-before, s.n)})
		if before = n; n == s.n {
			return t
		}
	}
	t.Rows = append(t.Rows, []any{int64(most) * size, nil, s.n - before, share(s.n-before, s.n)})
	return t
}

func (c *counts) labelTable() resultTable {
	t := resultTable{Name: "host_labels", Title: "Labels of host names: www.example.org has three",
		Columns: []tableColumn{{"labels", "labels", inLetters}, {"hosts", "names", inWhole}, {"share", "share", inShares}, {"seeds", "start pages", inWhole}, {"seeds_share", "share", inShares}, paperColumn(inShares)},
		Note:    "Names are those of hosts that were asked; Korea's are of start pages."}
	all := maps.Clone(c.urls.seedLabels)
	maps.Copy(all, c.hosts.labels)
	for labels := range paperLabels {
		all[labels] += 0 // a row for the paper's figure
	}
	for _, labels := range slices.Sorted(maps.Keys(all)) {
		name := fmt.Sprint(labels)
		if labels == 0 {
			name = address
		}
		hosts, seeds := c.hosts.labels[labels], c.urls.seedLabels[labels]
		t.Rows = append(t.Rows, []any{name, hosts, share(hosts, c.hosts.names), seeds, share(seeds, c.urls.seedLength.n), ofPaper(paperLabels, labels)})
	}
	return t
}

func (c *pageCounts) sizeTables() []resultTable {
	coarse := resultTable{Name: "sizes", Title: "Page sizes in steps of 256 KiB",
		Columns: []tableColumn{{"from_kib", "from KiB", inWhole}, {"pages", "pages", inWhole}, {"share", "share", inShares}, paperColumn(inShares)}}
	for i, n := range c.steps {
		if n > 0 || i == 0 {
			coarse.Rows = append(coarse.Rows, []any{int64(i * stepBytes / 1024), n, share(n, c.size.n), ofPaper(paperSteps, i)})
		}
	}
	fine := resultTable{Name: "sizes_fine", Title: "Page sizes in finer steps",
		Columns: []tableColumn{{"below_bytes", "below bytes", inWhole}, {"pages", "pages", inWhole}, {"share", "share", inShares}, {"up_to", "so far", inShares}}}
	var bounds []int64
	for bound := int64(256); bound > 0; bound *= 2 {
		bounds = append(bounds, bound)
	}
	fine.Rows = c.size.upTo(bounds)
	return []resultTable{coarse, fine}
}

func (c *pageCounts) packingTable() resultTable {
	t := resultTable{Name: "compression", Title: "Compression: size on disk to size of pages",
		Columns: []tableColumn{{"size", "size", inLetters}, {"pages", "pages", inWhole}, {"bytes", "bytes", inWhole}, {"packed", "packed", inWhole}, {"ratio", "ratio", inShares}, paperColumn(inShares)}}
	var all packing
	for i, k := range c.packing {
		all.pages, all.bytes, all.packed = all.pages+k.pages, all.bytes+k.bytes, all.packed+k.packed
		name := "256 KiB and more"
		if i < packingClasses-1 {
			name = fmt.Sprintf("below %d KiB", 4<<(2*i))
		}
		t.Rows = append(t.Rows, []any{name, k.pages, k.bytes, k.packed, share(k.packed, k.bytes), nil})
	}
	t.Rows = append(t.Rows, []any{"all", all.pages, all.bytes, all.packed, share(all.packed, all.bytes), paperPacked})
	return t
}

// volume is a number of pages, and of their bytes.
type volume struct{ pages, bytes int64 }

func (c *pageCounts) typeTable() resultTable {
	t := resultTable{Name: "types", Title: "Types of stored pages",
		Columns: []tableColumn{{"type", "type", inLetters}, {"pages", "pages", inWhole}, {"share", "share", inShares}, {"bytes", "bytes", inWhole}, {"bytes_share", "share", inShares}}}
	var all volume
	for _, v := range c.types {
		all = volume{all.pages + v.pages, all.bytes + v.bytes}
	}
	for _, kind := range append(document.Types(), "") {
		if v := c.types[kind]; v.pages > 0 {
			t.Rows = append(t.Rows, []any{cmp.Or(kind, "other"), v.pages, share(v.pages, all.pages), v.bytes, share(v.bytes, all.bytes)})
		}
	}
	return t
}

var timeBounds = []int64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 60000}

func (c *urlCounts) timeTable() resultTable {
	return resultTable{Name: "response_times", Title: "Response times, until the last byte",
		Columns: []tableColumn{{"below_ms", "below ms", inWhole}, {"answers", "answers", inWhole}, {"share", "share", inShares}, {"up_to", "so far", inShares}},
		Rows:    c.time.upTo(timeBounds)}
}

type forecast struct {
	trial change.Trial
	again bool // some URL was requested twice
}

func (f *forecast) add(u *URL) {
	if len(u.Times) != len(u.Exchanges) || len(u.Times) == 0 {
		return
	}
	f.again = f.again || len(u.Times) > 1
	host := page.Host(u.URL)
	for i, x := range u.Exchanges {
		if o, ok := change.OutcomeOf(x.State, x.Code); ok {
			f.trial.Add(change.Attempt{URL: u.URL, Host: host, At: time.UnixMilli(u.Times[i]), Outcome: o})
		}
	}
}

func (f *forecast) score() (s change.Score) {
	if f.again {
		s = f.trial.Score()
	}
	return s
}

const noForecast = "No URL has been requested twice yet, so there was nothing to forecast."

func scoreTable(s *change.Score) resultTable {
	t := resultTable{Name: "forecast_scores", Title: "How well the success of a visit could be forecast",
		Columns: []tableColumn{{"predictor", "predictor", inLetters}, {"visits", "visits", inWhole}, {"brier", "Brier score", inNumbers}},
		Note:    "Of visits to URLs that had been visited before. The score is the mean squared error of the probabilities: 0 is perfect, 0.25 is a coin toss."}
	if s.Visits == 0 {
		t.Note = noForecast
		return t
	}
	for _, row := range []struct {
		name  string
		brier float64
	}{{"fossick's", s.Brier}, {"two-state chain", s.Chain}, {"as last time", s.Last}} {
		t.Rows = append(t.Rows, []any{row.name, int64(s.Visits), row.brier})
	}
	return t
}

func forecastTable(s *change.Score) resultTable {
	t := resultTable{Name: "forecasts", Title: "Forecasts that a visit succeeds, and the outcomes",
		Columns: []tableColumn{{"from", "chance from", inShares}, {"to", "to", inShares}, {"visits", "visits", inWhole}, {"chance", "mean chance", inShares}, {"came", "succeeded", inShares}},
		Note:    fmt.Sprintf("Each visit to a URL that had been visited before, forecast from its earlier visits. On average the probabilities are off by %s.", percent(s.Off))}
	if s.Visits == 0 {
		t.Note = noForecast
		return t
	}
	for i, b := range s.Bins {
		if b.Visits > 0 {
			t.Rows = append(t.Rows, []any{float64(i) / 10, float64(i+1) / 10, int64(b.Visits), b.Mean, share(int64(b.Good), int64(b.Visits))})
		}
	}
	return t
}

const reliabilityCaption = " Of the visits forecast to succeed with a probability near x, the share that did: below the line the forecast was too optimistic. The band is the 95 % interval; it is wide where there are few visits."

const fewVisits = 5

func reliability(s *change.Score) (l report.Line, caption string) {
	l = report.Line{Name: "fossick", Dots: true}
	for _, b := range s.Bins {
		if b.Visits >= fewVisits {
			l.Points = append(l.Points, report.Point{X: b.Mean, Y: float64(b.Good) / float64(b.Visits)})
			l.Band = append(l.Band, stats.Wilson(b.Good, b.Visits))
		}
	}
	return l, fmt.Sprintf("Brier score %.4f, of the two-state chain %.4f, of \"as last time\" %.4f; 0 is perfect.", s.Brier, s.Chain, s.Last) + reliabilityCaption
}

func (k *curves) reliability() report.Chart {
	return report.Chart{XLabel: "forecast probability", YLabel: "visits that succeeded", Lines: []report.Line{k.forecast}, XShares: true, Diagonal: "perfect forecasts"}
}
