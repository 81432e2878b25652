package webstats

import (
	"fmt"
	"maps"
)

// Names of rows of the table of means.
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

// means is how numbers are spread.
func (c *counts) means() Table {
	t := Table{Name: "means", Title: "Lengths, labels, sizes, links, times: means and spread",
		Columns: []Column{{"what", "", Words}, {"n", "of", Whole}, {"least", "least", Whole}, {"mean", "mean", Number}, {"deviation", "dev.", Number}, {"median", "median", Whole}, {"p99", "99 %", Whole}, {"most", "most", Whole},
			paperColumn(Number), {"paper_e_least", "Korea least", Whole}, {"paper_e_most", "Korea most", Whole}},
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
		cells := []any{row.name, s.n, s.least, known(s.mean()), known(s.deviation()), whole(s.quantile(0.5)), whole(s.quantile(0.99)), s.most, paper[1], paper[0], paper[2]}
		if s.n == 0 {
			cells[2], cells[7] = nil, nil
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

func whole(x *float64) any {
	if x == nil {
		return nil
	}
	return int64(*x)
}

// lengthTables are the lengths of start pages and of paths, in steps.
func (c *counts) lengthTables() []Table {
	seeds := steps(&c.urls.seedLength, 5, 20)
	seeds.Name, seeds.Title = "seed_lengths", "Lengths of start pages, in characters without the scheme"
	paths := steps(&c.urls.pathLength, 16, 16)
	paths.Name, paths.Title = "path_lengths", "Lengths of paths of requested URLs, and of downloaded ones, in characters"
	paths.Columns = append(paths.Columns, Column{"downloaded", "downloaded", Whole}, Column{"downloaded_share", "share", Share})
	got := steps(&c.urls.gotPath, 16, 16)
	for i := range paths.Rows {
		more := []any{int64(0), share(0, c.urls.gotPath.n)}
		if i < len(got.Rows) && got.Rows[i][0] == paths.Rows[i][0] {
			more = got.Rows[i][2:]
		}
		paths.Rows[i] = append(paths.Rows[i], more...)
	}
	return []Table{seeds, paths}
}

// steps counts numbers in so many steps of a size, and those beyond in one. Steps at the end
// with nothing are left out.
func steps(s *spread, size int64, most int) Table {
	t := Table{Columns: []Column{{"from", "from", Whole}, {"to", "to", Whole}, {"number", "number", Whole}, {"share", "share", Share}}}
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

// labelTable is of the labels of host names, of those asked and of start pages.
func (c *counts) labelTable() Table {
	t := Table{Name: "host_labels", Title: "Labels of host names: www.example.org has three",
		Columns: []Column{{"labels", "labels", Words}, {"hosts", "names", Whole}, {"share", "share", Share}, {"seeds", "start pages", Whole}, {"seeds_share", "share", Share}, paperColumn(Share)},
		Note:    "Names are those of hosts that were asked; Korea's are of start pages."}
	all := maps.Clone(c.urls.seedLabels)
	maps.Copy(all, c.hosts.labels)
	for labels := range paperLabels {
		all[labels] += 0 // a row beside the paper's
	}
	for _, labels := range rows(all) {
		name := fmt.Sprint(labels)
		if labels == 0 {
			name = address
		}
		hosts, seeds := c.hosts.labels[labels], c.urls.seedLabels[labels]
		t.Rows = append(t.Rows, []any{name, hosts, share(hosts, c.hosts.names), seeds, share(seeds, c.urls.seedLength.n), ofPaper(paperLabels, labels)})
	}
	return t
}

// sizeTables are page sizes in the paper's steps, and in finer ones.
func (c *pageCounts) sizeTables() []Table {
	coarse := Table{Name: "sizes", Title: "Page sizes in steps of 256 KiB",
		Columns: []Column{{"from_kib", "from KiB", Whole}, {"pages", "pages", Whole}, {"share", "share", Share}, paperColumn(Share)}}
	for i, n := range c.steps {
		if n > 0 || i == 0 {
			coarse.Rows = append(coarse.Rows, []any{int64(i * stepBytes / 1024), n, share(n, c.size.n), ofPaper(paperSteps, i)})
		}
	}
	fine := Table{Name: "sizes_fine", Title: "Page sizes in finer steps",
		Columns: []Column{{"below_bytes", "below bytes", Whole}, {"pages", "pages", Whole}, {"share", "share", Share}, {"up_to", "so far", Share}}}
	before := int64(0)
	for bound := int64(256); before < c.size.n && bound > 0; bound *= 2 {
		n := c.size.below(bound)
		if n > 0 {
			fine.Rows = append(fine.Rows, []any{bound, n - before, share(n-before, c.size.n), share(n, c.size.n)})
		}
		before = n
	}
	return []Table{coarse, fine}
}

// packingTable is how well pages are packed, by their size.
func (c *pageCounts) packingTable() Table {
	t := Table{Name: "compression", Title: "Compression: size on disk to size of pages",
		Columns: []Column{{"size", "size", Words}, {"pages", "pages", Whole}, {"bytes", "bytes", Whole}, {"packed", "packed", Whole}, {"ratio", "ratio", Share}, paperColumn(Share)}}
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

// timeBounds are the steps of response times, in milliseconds.
var timeBounds = []int64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 60000}

// timeTable is how long answers took.
func (c *urlCounts) timeTable() Table {
	t := Table{Name: "response_times", Title: "Response times, until the last byte",
		Columns: []Column{{"below_ms", "below ms", Whole}, {"answers", "answers", Whole}, {"share", "share", Share}, {"up_to", "so far", Share}}}
	before := int64(0)
	for _, bound := range timeBounds {
		n := c.time.below(bound)
		if n > 0 {
			t.Rows = append(t.Rows, []any{bound, n - before, share(n-before, c.time.n), share(n, c.time.n)})
		}
		if before = n; n == c.time.n {
			break
		}
	}
	if before < c.time.n {
		t.Rows = append(t.Rows, []any{nil, c.time.n - before, share(c.time.n-before, c.time.n), 1.})
	}
	return t
}
