package monitor

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"fossick/crawler"
	"fossick/eval"
	"fossick/internal/cli"
	"fossick/store"
)

func statusLine(s *Line, p crawler.Progress, now time.Time, columns int) string {
	var out bytes.Buffer
	cli.NewScreen(&out, cli.ScreenOptions{Terminal: true, Columns: func() int { return columns }}).Show(0, s.parts(p, now)...)
	return strings.TrimPrefix(out.String(), "\r\x1b[K")
}

func TestStatusLine(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.Local)
	running := crawler.Progress{Counts: store.Counts{Pages: 1412, Relevant: 1360}, Pages: 1412, Queue: 102340, Hosts: 3100,
		Elapsed: 10 * time.Second, Next: crawler.Marginal{Pages: 706, Harvest: 0.91}}
	rests := running
	rests.RestUntil, rests.Resting = now.Add(2500*time.Millisecond), 12
	shells := running
	shells.Counts.States = map[string]uint64{"script_only": 12}
	doors := running
	doors.Counts.States = map[string]uint64{"challenge": 3, "payment_required": 2}
	patient, still := running, rests
	patient.Patience = &crawler.Patience{Waits: true, Price: 0.4, Best: 0.9, Free: 0.1, Hosts: 2}
	still.Patience = patient.Patience
	for _, tc := range []struct {
		name    string
		p       crawler.Progress
		columns int
		want    string
	}{
		{"nothing yet", crawler.Progress{Queue: 4}, 80, "0/10000 pages · queue 4 · 0 hosts"},
		{"no last pages before there are some", crawler.Progress{Counts: store.Counts{Pages: 3}, Pages: 3, Elapsed: time.Second, Queue: 9, Hosts: 2}, 80,
			"3/10000 pages · 0 on topic (0 %) · 3.0 pages/s · queue 9 · 2 hosts"},
		{"all of it", running, 120,
			"1412/10000 pages · 1360 on topic (96 %) · 91 % of the last 706 · 141.2 pages/s · queue 102340 · 3,100 hosts"},
		{"pages made by script", shells, 120,
			"1412/10000 pages · 1360 on topic (96 %) · 91 % of the last 706 · 12 made by script · 141.2 pages/s · queue 102340"},
		{"doors", doors, 120,
			"1412/10000 pages · 1360 on topic (96 %) · 91 % of the last 706 · 3 behind challenges · 2 for payment · 141.2 pages/s"},
		{"80 columns", running, 80, "1412/10000 pages · 1360 on topic (96 %) · 91 % of the last 706 · 141.2 pages/s"},
		{"60 columns", running, 60, "1412/10000 pages · 1360 on topic (96 %) · 141.2 pages/s"},
		{"40 columns", running, 40, "1412/10000 pages · 1360 on topic (96 %)"},
		{"patience", patient, 120,
			"1412/10000 pages · 1360 on topic (96 %) · 91 % of the last 706 · waits for better links at 2 hosts · 141.2 pages/s"},
		{"hosts rest, for whatever reason", still, 80, "1412/10000 pages · 1360 on topic (96 %) · waiting: 12 hosts rest, next in 3 s"},
		{"a few columns", running, 12, "1412/10000…"},
		{"hosts rest", rests, 80, "1412/10000 pages · 1360 on topic (96 %) · waiting: 12 hosts rest, next in 3 s"},
		{"hosts rest, in little room", rests, 60, "1412/10000 pages · waiting: 12 hosts rest, next in 3 s"},
		{"one host rests", crawler.Progress{RestUntil: now.Add(10 * time.Minute), Resting: 1, Queue: 3, Hosts: 1}, 80,
			"0/10000 pages · waiting: the only host rests, next in 10 min · queue 3 · 1 host"},
		{"all rest at a resumption", crawler.Progress{RestUntil: now.Add(2 * time.Second), Queue: 3}, 80,
			"0/10000 pages · waiting: all hosts rest, next in 2 s · queue 3 · 0 hosts"},
		{"a moment's rest", crawler.Progress{RestUntil: now.Add(restMin - 1), Resting: 1}, 80, "0/10000 pages · queue 0 · 0 hosts"},
		{"no network", crawler.Progress{DownSince: now.Add(-time.Minute), RestUntil: now.Add(time.Hour), Resting: 3}, 80,
			"0/10000 pages · waiting: the network seems down since 11:59:00 · queue 0"},
	} {
		got := statusLine(&Line{maxPages: 10000}, tc.p, now, tc.columns)
		if got != tc.want {
			t.Errorf("%s, %d columns:\n got %q\nwant %q", tc.name, tc.columns, got, tc.want)
		}
		if n := utf8.RuneCountInString(got); n >= tc.columns {
			t.Errorf("%s: %d runes in %d columns", tc.name, n, tc.columns)
		}
	}
}

// TestChangedLimits: a person changes the limits of a crawl, but not those that agents share.
func TestChangedLimits(t *testing.T) {
	s := NewLine(cli.NewScreen(new(bytes.Buffer), cli.ScreenOptions{}), 10, time.Hour)
	if s.Show(crawler.Progress{Shared: true}); s.maxPages != 10 || s.maxTime != time.Hour {
		t.Errorf("%d pages, %v of several agents; want 10 and an hour", s.maxPages, s.maxTime)
	}
	if s.Show(crawler.Progress{MaxTime: time.Minute}); s.maxPages != 0 || s.maxTime != time.Minute {
		t.Errorf("%d pages, %v; want no limit of pages and a minute", s.maxPages, s.maxTime)
	}
}

func TestTimeLeft(t *testing.T) {
	crawl := func(s *Line, seconds int, before uint64) (time.Duration, bool) {
		var left time.Duration
		var known bool
		for half := range 2 * seconds { // two pages per second
			p := crawler.Progress{Elapsed: time.Duration(half+1) * time.Second / 2, Pages: uint64(half + 1)}
			p.Counts.Pages = before + p.Pages
			left, known = s.pace.timeLeft(p, s.maxPages, s.maxTime)
		}
		return left.Round(time.Second), known
	}
	for _, tc := range []struct {
		name    string
		s       Line
		seconds int
		before  uint64
		left    time.Duration
		known   bool
	}{
		{"too early to know", Line{maxPages: 1000}, 2, 0, 0, false},
		{"by the pages", Line{maxPages: 1000}, 30, 0, 470 * time.Second, true},
		{"a resumed crawl goes by its own pace", Line{maxPages: 1000}, 30, 600, 170 * time.Second, true},
		{"by the time, from the start", Line{maxPages: 1000, maxTime: time.Minute}, 2, 0, 58 * time.Second, true},
		{"the time comes first", Line{maxPages: 1000, maxTime: time.Minute}, 30, 0, 30 * time.Second, true},
		{"the pages come first", Line{maxPages: 100, maxTime: time.Minute}, 30, 0, 20 * time.Second, true},
		{"all there", Line{maxPages: 60}, 30, 0, 0, false},
	} {
		left, known := crawl(&tc.s, tc.seconds, tc.before)
		if known != tc.known || known && left != tc.left {
			t.Errorf("%s: %v left, known %v; want %v, %v", tc.name, left, known, tc.left, tc.known)
		}
	}
}

func TestNextSentence(t *testing.T) {
	var out strings.Builder
	printNext(&out, &eval.NextPages{Pages: 80, Harvest: .45, Upper: .833})
	if want := "45 % of the last 80 pages were on topic; expect at most 83 % of the next (99 % confidence)\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
