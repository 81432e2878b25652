package webstats

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"fossick/internal/testkit"
)

type memory struct {
	urls  []*URL
	pages []*Page
	hosts []string
	err   error // returned at the end of each stream
}

func stream[T any](all []T, end error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, x := range all {
			if !yield(x, nil) {
				return
			}
		}
		if end != nil {
			var zero T
			yield(zero, end)
		}
	}
}

func (m *memory) URLs() iter.Seq2[*URL, error]    { return stream(m.urls, m.err) }
func (m *memory) Pages() iter.Seq2[*Page, error]  { return stream(m.pages, m.err) }
func (m *memory) Hosts() iter.Seq2[string, error] { return stream(m.hosts, m.err) }

// made is a random web of n URLs, most of them with a page.
func made(n int, rng *rand.Rand) *memory {
	m := &memory{}
	hosts := map[string]bool{}
	for i := range n {
		host := fmt.Sprintf("h%d.%s%d.%s", rng.IntN(3), "site", rng.IntN(n), []string{"com", "co.kr", "org"}[rng.IntN(3)])
		u := &URL{URL: fmt.Sprintf("http://%s/%s%d", host, strings.Repeat("x", rng.IntN(300)), i), Depth: rng.IntN(9), Seed: i < 30, Linked: i >= 30}
		switch rng.IntN(10) {
		case 0:
			u.State, u.Exchanges = "code", []Exchange{{"header_error", 0, 3}, {"code", 404, 20}}
		case 1:
			u.State, u.Near, u.Exchanges = "duplicate", rng.IntN(2) == 0, []Exchange{{"ok", 200, 40}}
		case 2: // waiting
		case 3:
			u.State = []string{"robots_denied", "none", "trap", "no_ip"}[rng.IntN(4)]
		default:
			u.State, u.Exchanges = "ok", []Exchange{{"ok", 200, int64(rng.IntN(9000))}}
			u.Headers = []Header{{"http/1.1", []byte("HTTP/1.1 200 OK\r\nServer: " + []string{"nginx/1", "Apache"}[rng.IntN(2)] + "\r\n")}}
			p := &Page{ID: uint64(i + 1), URL: u.URL, ContentType: "text/html; charset=x", Charset: "utf-8", Lang: []string{"", "en", "ko"}[rng.IntN(3)],
				Label: fmt.Sprint("label", rng.IntN(40)), Bytes: int64(rng.ExpFloat64() * 20000), Kinds: []int{rng.IntN(2), rng.IntN(9), 0}, Unseen: int64(rng.IntN(9000)) - 1}
			p.Packed = p.Bytes/3 + 20
			for id := uint64(1); int(id) <= n; id += 1 + uint64(rng.ExpFloat64()*float64(n)/10) {
				p.Links = append(p.Links, id)
			}
			m.pages = append(m.pages, p)
		}
		if len(u.Exchanges) > 0 {
			hosts[host+":80"] = true
		}
		if m.urls = append(m.urls, u); u.Linked {
			u.From = uint64(1 + rng.IntN(i))
		}
		u.ID = uint64(i + 1)
	}
	m.hosts = slices.Sorted(maps.Keys(hosts))
	return m
}

func (r *Result) table(t *testing.T, name string) resultTable {
	t.Helper()
	found := r.Only([]string{name})
	if len(found) != 1 {
		t.Fatalf("no table %s", name)
	}
	return found[0]
}

func (t *resultTable) column(name string) (sum int64) {
	k := slices.IndexFunc(t.Columns, func(c tableColumn) bool { return c.Name == name })
	for _, row := range t.Rows {
		if n, ok := row[k].(int64); ok {
			sum += n
		}
	}
	return sum
}

// TestCount compares column sums with sums over the records.
func TestCount(t *testing.T) {
	m := made(4000, rand.New(rand.NewPCG(1, 1)))
	r := testkit.Call(Count(t.Context(), Options{Dir: t.TempDir(), Top: 5}, m)).Must(t)
	known, requested, downloaded, answers, outcomes, exchanges := 0, 0, 0, 0, 0, 0
	states := map[string]int64{}
	for _, u := range m.urls {
		known++
		if u.State != "" && u.State != "none" {
			states[u.State]++
		}
		if len(u.Exchanges) > 0 {
			requested++
		}
		if len(u.Exchanges) > 0 || u.State == "no_ip" {
			outcomes++
		}
		if u.State == "ok" || u.State == "duplicate" {
			downloaded++
		}
		for _, x := range u.Exchanges {
			exchanges++
			if x.Code > 0 {
				answers++
			}
		}
	}
	links, bytes := int64(0), int64(0)
	for _, p := range m.pages {
		links, bytes = links+int64(len(p.Links)), bytes+p.Bytes
	}
	for _, c := range []struct {
		table, column string
		want          int
	}{
		{"outcomes", "urls", outcomes}, {"outcomes", "exchanges", exchanges}, {"unasked", "urls", known - requested}, {"codes", "answers", answers},
		{"seed_lengths", "number", 30}, {"path_lengths", "number", requested}, {"host_labels", "hosts", len(m.hosts)},
		{"depths", "known", known}, {"depths", "requested", requested}, {"depths", "downloaded", downloaded}, {"depths", "stored", len(m.pages)}, {"depths", "new_links", known - 30},
		{"response_times", "answers", answers}, {"sizes", "pages", len(m.pages)}, {"sizes_fine", "pages", len(m.pages)}, {"compression", "pages", 2 * len(m.pages)},
		{"duplicates", "urls", downloaded}, {"schemes", "urls", known}, {"http_versions", "answers", len(m.pages)}, {"page_kinds", "pages", len(m.pages)},
		{"degrees", "in", len(m.pages)}, {"degrees", "out", len(m.pages)}, {"media_types", "pages", len(m.pages)}, {"labels", "pages", len(m.pages)},
		{"servers", "answers", len(m.pages)}, {"tlds", "urls", known}, {"sites", "requested", requested}, {"second_levels", "pages", len(m.pages)},
	} {
		table := r.table(t, c.table)
		if got := table.column(c.column); got != int64(c.want) {
			t.Errorf("%s: %s is %d in all, want %d", c.table, c.column, got, c.want)
		}
	}
	if !reflect.DeepEqual(r.States, states) {
		t.Errorf("states %v, want %v", r.States, states)
	}
	means := r.table(t, "means")
	for _, row := range means.Rows {
		if row[0] == meanSize && row[3] != float64(bytes)/float64(len(m.pages)) || row[0] == meanLinks && row[3] != float64(links)/float64(len(m.pages)) {
			t.Errorf("%v, of %d pages with %d bytes and %d links", row, len(m.pages), bytes, links)
		}
	}
	var names []string
	for _, table := range r.Tables {
		names = append(names, table.Name)
	}
	if !slices.Equal(names, Names) {
		t.Errorf("tables %q, want %q", names, Names)
	}
}

// TestByHand: two start pages, a URL found by a later one, and one without a referrer.
func TestByHand(t *testing.T) {
	got := []Exchange{{"ok", 200, 1}}
	m := &memory{
		urls: []*URL{
			{ID: 1, URL: "http://www.a.co.kr/", Seed: true, State: "ok", Exchanges: got},
			{ID: 2, URL: "http://b.kr/start", Seed: true, State: "code", Exchanges: []Exchange{{"code", 404, 1}}},
			{ID: 3, URL: "http://www.a.co.kr/12", From: 5, State: "ok", Exchanges: got},
			{ID: 4, URL: "http://www.a.co.kr/1234567890123456", From: 3, State: "code", Exchanges: []Exchange{{"code", 404, 1}}},
			{ID: 5, URL: "http://www.a.co.kr/123", From: 1, State: "duplicate", Exchanges: got},
			{ID: 6, URL: "http://www.a.co.kr/from-a-sitemap", State: "ok", Exchanges: got},
		},
		pages: []*Page{
			{ID: 1, URL: "http://www.a.co.kr/", Charset: "utf-8", Bytes: 100, Unseen: 60, Kinds: []int{0, 2, 1}},
			{ID: 3, URL: "http://www.a.co.kr/12", Charset: "utf-8", Bytes: 300, Unseen: 500, Kinds: []int{3, 1, 0}},
			{ID: 6, URL: "http://www.a.co.kr/from-a-sitemap", Bytes: 1000, Unseen: -1},
		},
		hosts: []string{"b.kr:80", "www.a.co.kr:80"},
	}
	r := testkit.Call(Count(t.Context(), Options{Dir: t.TempDir()}, m, m)).Must(t)
	var said []string
	for _, name := range []string{"outcomes", "seed_outcomes", "depths", "means", "path_lengths", "host_labels", "page_kinds", "link_kinds"} {
		for _, row := range r.table(t, name).Rows {
			said = append(said, name+" "+strings.Trim(fmt.Sprint(row), "[]"))
		}
	}
	// Columns of means: of, least, mean, deviation, median, 99 %, most; the paper's mean, least, most.
	for _, want := range []string{
		"means seed length 4 10 10.5 0.5 10 11 11 17.38 5 49",
		"means path length 12 0 6.666666666666667 6.101001739241042 3 16 16 <nil> <nil> <nil>",
		"means path, got 8 0 4.75 5.448623679425842 2 14 14 71.78 0 255",
		"means pages a seed 4 0 1.5 1.5 0 3 3 <nil> <nil> <nil>",
		"means page bytes 6 100 466.6666666666667 385.8612300930075 300 1000 1000 18451 <nil> <nil>",
		"means of it unseen 4 60 180 120 60 300 300 <nil> <nil> <nil>",
		"outcomes connect_error 0 0 0 0 0.0011", // a row of the paper only
		"seed_outcomes no_ip 0 0 0.0368",
		"depths 4 0 0 0 0 0 <nil> 1.6",
		"path_lengths 0 15 10 0.8333333333333334 8 1",
		"path_lengths 16 31 2 0.16666666666666666 0 0",
		"host_labels 2 2 0.5 2 0.5 <nil>",
		"host_labels 4 2 0.5 2 0.5 0.524",
		"page_kinds 0af 2 0.3333333333333333",
		"page_kinds ha0 2 0.3333333333333333",
		"page_kinds not known 2 0.3333333333333333",
		"link_kinds h 2 0.14285714285714285",
		"link_kinds a 6 0.42857142857142855",
		"link_kinds f 6 0.42857142857142855",
	} {
		if !slices.Contains(said, want) {
			t.Errorf("no row %q in\n%s", want, strings.Join(said, "\n"))
		}
	}
	if said := strings.Join(r.Sentences(), " "); !strings.Contains(said, "90.0 % of the bytes") || !strings.Contains(said, "gave a page; in Korea in 2002 91.3 % did.") {
		t.Error(said)
	}
}

// TestOrder: the result depends neither on the order of the records nor on the memory limit.
func TestOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	m := made(1500, rng)
	var first string
	for range 3 {
		c := &counts{urls: newURLCounts(t.TempDir()), pages: newPageCounts(t.TempDir()), hosts: hostCounts{labels: map[int]int64{}}}
		for _, g := range []*groups{c.urls.sites, c.pages.sites, c.pages.labels} {
			g.room = 2 + rng.IntN(500)
		}
		c.pages.degrees.room = 2 + rng.IntN(9000)
		testkit.Must(t, c.walk(t.Context(), m, func(int) {}))
		r := testkit.Call(c.result(t.Context(), Options{Top: 7})).Must(t)
		text := testkit.Call(json.Marshal(r)).Must(t)
		if first == "" {
			first = string(text)
		}
		if first != string(text) {
			t.Fatalf("got\n%s\nwant\n%s", text, first)
		}
		rng.Shuffle(len(m.urls), func(i, j int) { m.urls[i], m.urls[j] = m.urls[j], m.urls[i] })
		rng.Shuffle(len(m.pages), func(i, j int) { m.pages[i], m.pages[j] = m.pages[j], m.pages[i] })
	}
}

// TestShown: text fits a terminal, CSV reads back, JSON is one object, HTML is complete; also without records.
func TestShown(t *testing.T) {
	wide := made(3000, rand.New(rand.NewPCG(3, 3)))
	wide.urls[0].URL = "http://" + strings.Repeat("very-long-label.", 14) + "test/\x1b[31m"
	for name, m := range map[string]*memory{"many": wide, "none": {}} {
		r, err := Count(t.Context(), Options{Dir: t.TempDir(), Top: 0}, m)
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		WriteText(&text, r.Tables, 80)
		for line := range strings.Lines(text.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 || strings.Contains(line, "\x1b") {
				t.Errorf("%s: %d columns: %q", name, n, line)
			}
		}
		dir := filepath.Join(t.TempDir(), "tables")
		testkit.Must(t, WriteCSV(dir, r.Tables))
		for _, table := range r.Tables {
			f, err := os.Open(filepath.Join(dir, table.Name+".csv"))
			if err != nil {
				t.Fatal(err)
			}
			rows, err := csv.NewReader(f).ReadAll()
			if f.Close(); err != nil || len(rows) != 1+len(table.Rows) {
				t.Errorf("%s: %s has %d lines, %v; want %d", name, table.Name, len(rows), err, 1+len(table.Rows))
			}
		}
		var keys map[string]any
		text.Reset()
		out, err := json.Marshal(r)
		if err == nil {
			err = json.Unmarshal(out, &keys)
		}
		if err != nil || len(keys) != len(Names)+2 || keys["states"] == nil || keys["seed_states"] == nil {
			t.Errorf("%s: %v: %s", name, err, out)
		}
		if err := r.WriteReport(&text, "a <web>"); err != nil || !strings.Contains(text.String(), "a &lt;web&gt;") || !strings.HasSuffix(strings.TrimSpace(text.String()), "</html>") {
			t.Errorf("%s: page of %d bytes, %v", name, text.Len(), err)
		}
	}
}

// TestSteps: page sizes are counted in paper E's steps of 256 KiB.
func TestSteps(t *testing.T) {
	m := &memory{}
	for i, bytes := range []int64{0, 262_143, 262_144, 524_287, 524_288, 64 * 262_144} {
		m.pages = append(m.pages, &Page{ID: uint64(i + 1), URL: fmt.Sprintf("http://a.test/%d", i), Bytes: bytes})
	}
	r := testkit.Call(Count(t.Context(), Options{Dir: t.TempDir()}, m)).Must(t)
	var steps []string
	for _, row := range r.table(t, "sizes").Rows {
		steps = append(steps, fmt.Sprint(row[:2]))
	}
	if got := strings.Join(steps, " "); got != "[0 2] [256 2] [512 1] [16128 1]" {
		t.Errorf("from KiB and pages: %s", got)
	}
}

// TestForecasts checks visits of two URLs by hand. The bins count all but the first visit of each URL.
func TestForecasts(t *testing.T) {
	c := newURLCounts(t.TempDir())
	defer c.close()
	ok, busy := Exchange{"ok", 200, 5}, Exchange{"code", 503, 5}
	c.add(&URL{URL: "http://a.test/", State: "ok", Exchanges: []Exchange{busy, busy, ok}, Times: []int64{1000, 61_000, 200_000}})
	c.add(&URL{URL: "http://a.test/x", State: "ok", Exchanges: []Exchange{ok, ok}, Times: []int64{2000, 90_000_000}})
	c.add(&URL{URL: "http://b.test/", State: "ok", Exchanges: []Exchange{ok, busy}}) // without times
	s := c.forecast.score()
	scores, bins := scoreTable(&s), forecastTable(&s)
	ss, ff := .9638, .7426
	want := []float64{s.Brier, ((1-ff)*(1-ff) + ff*ff + (1-ss)*(1-ss)) / 3, 1. / 3}
	for i, row := range scores.Rows {
		if row[1] != int64(3) || !(math.Abs(row[2].(float64)-want[i]) <= 1e-9) {
			t.Errorf("%v, want 3 visits and %g", row, want[i])
		}
	}
	visits, came := int64(0), 0.
	for _, row := range bins.Rows {
		visits += row[2].(int64)
		came += row[4].(float64) * float64(row[2].(int64))
		if mean := row[3].(float64); mean < row[0].(float64) || mean > row[1].(float64) {
			t.Errorf("%v", row)
		}
	}
	if visits != 3 || !(math.Abs(came-2) <= 1e-9) || len(scores.Rows) != 3 {
		t.Errorf("%d visits, %g of them came: %v", visits, came, bins.Rows)
	}
	s.Bins[9].Visits, s.Bins[9].Good = 100, 96 // bins with fewer visits are not plotted
	var k curves
	k.forecast, k.foretold = reliability(&s)
	figures, err := k.figures()
	if err != nil || len(figures) != 1 || !strings.Contains(fmt.Sprint(figures[0]), "forecast probability") || len(k.forecast.Points) != 1 {
		t.Errorf("%d figures, %v", len(figures), err)
	}
}

// TestNoForecasts: without repeated requests there is no plot, and the tables say why.
func TestNoForecasts(t *testing.T) {
	c := newURLCounts(t.TempDir())
	defer c.close()
	c.add(&URL{URL: "http://a.test/", State: "ok", Exchanges: []Exchange{{"ok", 200, 5}}, Times: []int64{1000}})
	s := c.forecast.score()
	var k curves
	k.forecast, k.foretold = reliability(&s)
	if figures, err := k.figures(); err != nil || len(figures) != 0 || scoreTable(&s).Note != noForecast || forecastTable(&s).Note != noForecast {
		t.Errorf("%d figures, %v", len(figures), err)
	}
}

// TestSpread compares with the sorted values.
func TestSpread(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var s spread
		var all []int64
		sum, most := 0.0, int64(0)
		for range 1 + rng.IntN(2000) {
			v := int64(math.Exp(rng.Float64() * 20))
			s.add(v)
			all, sum, most = append(all, v), sum+float64(v), max(most, v)
		}
		slices.Sort(all)
		if s.n != int64(len(all)) || s.most != most || !(math.Abs(s.mean()-sum/float64(len(all))) <= 1e-9*sum) {
			t.Fatalf("n %d, most %d, mean %v", s.n, s.most, s.mean())
		}
		squares := 0.0
		for _, v := range all {
			squares += (float64(v) - s.mean()) * (float64(v) - s.mean())
		}
		if want := math.Sqrt(squares / float64(len(all))); !(math.Abs(s.deviation()-want) <= 1e-6*want) {
			t.Errorf("deviation %v, want %v", s.deviation(), want)
		}
		for _, share := range []float64{0.01, 0.5, 0.9, 0.99, 1} {
			want := float64(all[max(0, int(math.Ceil(share*float64(len(all))))-1)])
			got := float64(s.quantile(share))
			if got > want || got < want*(1-1./cellsOfOctave) || want < exactBelow && got != want {
				t.Errorf("quantile %v of %d: %v, want %v", share, len(all), got, want)
			}
		}
		for _, bound := range []int64{1, 17, 4096, 8192, 1 << 20} {
			want, _ := slices.BinarySearch(all, bound)
			if got := s.below(bound); got != int64(want) {
				t.Errorf("below %d: %d, want %d", bound, got, want)
			}
		}
	}
}

// TestCells: each cell begins where the previous one ends.
func TestCells(t *testing.T) {
	for cell := 1; cell < exactBelow+30*cellsOfOctave; cell++ {
		if v := lowest(cell); cellOf(v) != cell || cellOf(v-1) != cell-1 {
			t.Fatalf("cell %d begins at %d, which is in %d; the one before in %d", cell, v, cellOf(v), cellOf(v-1))
		}
	}
}

// TestDegrees compares with map counts, with little memory and two sources with separate IDs.
func TestDegrees(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	d := newDegrees(t.TempDir())
	d.room = 100
	out, in, known := map[int]int64{}, map[int]int64{}, map[int]int64{}
	for range 2 {
		d.begin()
		to, pages := map[uint64]int{}, map[uint64]bool{}
		for i := range 300 {
			p := &Page{ID: uint64(3*i + 1)}
			for id := uint64(1); id < 1000; id += 1 + uint64(rng.IntN(1000)) {
				p.Links = append(p.Links, id)
				to[id]++
			}
			pages[p.ID] = true
			out[len(p.Links)]++
			testkit.Must(t, d.add(p))
		}
		for id := range pages {
			in[to[id]]++
		}
		for _, n := range to {
			known[n]++
		}
		testkit.Must(t, d.settle(t.Context()))
		testkit.Must(t, d.close())
	}
	if !maps.Equal(d.out, out) || !maps.Equal(d.in, in) || !maps.Equal(d.known, known) {
		t.Errorf("out %v want %v\nin %v want %v\nknown %v want %v", d.out, out, d.in, in, d.known, known)
	}
}

// TestGroups compares sums with a map's while memory holds few names.
func TestGroups(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, room := range []int{2, 7, 1000} {
		g := newGroups(t.TempDir())
		g.room = room
		want := map[string]tally{}
		for range 3000 {
			name := fmt.Sprint("site", int(100*rng.Float64()*rng.Float64()))
			var add tally
			add[nRequested], add[nBytes] = 1, int64(rng.IntN(1000))
			g.add(name, &add)
			sums := want[name]
			sums.add(&add)
			want[name] = sums
		}
		n, last := 0, ""
		err := g.each(t.Context(), func(name string, got tally) {
			if n++; got != want[name] || name <= last {
				t.Errorf("room %d: %s behind %s has %v, want %v", room, name, last, got, want[name])
			}
			last = name
		})
		if err != nil || n != len(want) {
			t.Errorf("room %d: %d names, %v; want %d", room, n, err, len(want))
		}
		if err := g.close(); err != nil {
			t.Error(err)
		}
	}
}

// TestTop: the highest counts come first; the others are summed.
func TestTop(t *testing.T) {
	g := newGroups(t.TempDir())
	g.room = 5
	for i := range 20 {
		for range (i * 7) % 20 {
			g.count(fmt.Sprintf("%02d", i), nPages)
		}
	}
	got, err := g.top(t.Context(), 3, nPages)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, x := range got.groups {
		names = append(names, fmt.Sprint(x.name, " ", x.tally[nPages]))
	}
	if want := []string{"17 19", "14 18", "11 17"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	if got.left != 16 || got.all != 190 || got.others[nPages] != 190-19-18-17 {
		t.Errorf("%d left with %d of %d", got.left, got.others[nPages], got.all)
	}
	all, err := g.top(t.Context(), 0, nPages)
	if err != nil || len(all.groups) != 19 || !slices.IsSortedFunc(all.groups, func(a, b group) int { return cmp.Compare(b.tally[nPages], a.tally[nPages]) }) {
		t.Errorf("all: %d, %v", len(all.groups), err)
	}
	if err := g.close(); err != nil {
		t.Error(err)
	}
}

// TestLongNames: long names cannot exhaust memory.
func TestLongNames(t *testing.T) {
	g := newGroups("")
	g.count(strings.Repeat("ä", 5000), nPages)
	for name := range g.now {
		if len(name) > longestName+3 {
			t.Errorf("%d bytes", len(name))
		}
	}
}

// FuzzReadGroup: records round-trip; anything else is an error.
func FuzzReadGroup(f *testing.F) {
	f.Add(appendGroup(nil, group{}, group{"a.test", tally{1, 2, 3}}))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := readGroup(bufio.NewReader(bytes.NewReader(b)), group{})
		if err != nil {
			return
		}
		again, err := readGroup(bufio.NewReader(bytes.NewReader(appendGroup(nil, group{}, x))), group{})
		if err != nil || again != x {
			t.Errorf("%+v became %+v, %v", x, again, err)
		}
	})
}

func TestServerOf(t *testing.T) {
	for lines, want := range map[string]string{
		"HTTP/1.1 200 OK\r\nServer: Apache/2.4.1 (Unix)\r\nX: y\r\n": "Apache",
		"HTTP/1.1 200 OK\r\nX: y\r\nserver:  nginx \r\n":             "nginx",
		"HTTP/1.1 200 OK\nSERVER: Microsoft-IIS/10.0\nServer: b\n":   "Microsoft-IIS",
		"HTTP/1.1 200 OK\r\nX-Server: a\r\n":                         "",
		"Server: x\r\n":                                              "", // the status line
		"HTTP/1.1 200 OK\r\nServer:\r\n":                             "",
		"":                                                           "",
		"HTTP/1.1 200 OK\r\nServer: " + strings.Repeat("a", 500):     strings.Repeat("a", longestServer),
	} {
		if got := serverOf([]byte(lines)); got != want {
			t.Errorf("%q: %q, want %q", lines, got, want)
		}
	}
}

// FuzzServerOf: any header gives a short single-line name.
func FuzzServerOf(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nServer: Apache/2.4.1 (Unix)\r\n"))
	f.Add([]byte("\nserver:\xff\xfe"))
	f.Fuzz(func(t *testing.T, lines []byte) {
		if got := serverOf(lines); len(got) > longestServer || !utf8.ValidString(got) || strings.ContainsAny(got, "\n/ ") {
			t.Errorf("%q", got)
		}
	})
}

func TestPlaces(t *testing.T) {
	p := places{}
	for url, want := range map[string]place{
		"http://www.a.co.kr/x":      {"kr", "co.kr", "a.co.kr", 4},
		"https://a.test:8080/x?y":   {"test", "a.test", "a.test", 2},
		"http://b.a.example.com/":   {"com", "example.com", "example.com", 4},
		"http://localhost/":         {"localhost", "localhost", "localhost", 1},
		"http://127.0.0.1:80/x":     {address, address, "127.0.0.1", 0},
		"http://[::1]:8080/x":       {address, address, "[::1]", 0},
		"https://user.github.io/a/": {"io", "github.io", "user.github.io", 3},
	} {
		for range 2 { // the second time from the cache
			if got := *p.of(url); got != want {
				t.Errorf("%s: %+v, want %+v", url, got, want)
			}
		}
	}
}

// FuzzDivide: the parts of a URL concatenate to it.
func FuzzDivide(f *testing.F) {
	f.Add("http://a.test/x?y")
	f.Add("https://[::1]?")
	f.Add("nonsense")
	f.Fuzz(func(t *testing.T, url string) {
		scheme, host, path := divide(url)
		if strings.Contains(url, "://") && !strings.HasPrefix(url, scheme+"://"+host) || !strings.HasSuffix(url, path) {
			t.Errorf("%q: %q, %q, %q", url, scheme, host, path)
		}
		if p := placeOf(host); len(p.top) > len(host)+len(address) {
			t.Errorf("%q: %+v", url, p)
		}
	})
}
