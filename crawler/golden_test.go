package crawler

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fossick/crawler/fetch"
	"fossick/graph/orders"
	"fossick/internal/page"
	"fossick/internal/testkit"
	"fossick/store"
)

var updateJournals = flag.Bool("update-journals", false, "write the hashes of this build's journals to testdata/journals.txt")

const journalsFile = "testdata/journals.txt"

// TestJournalsAreKept crawls webs with traps, farms, failing hosts, outages, foreign sitemaps,
// near-duplicates, moved and refreshed pages, on a simulated clock. The journal's hash must equal
// that of earlier builds. After an intended change run with -update-journals and say why.
func TestJournalsAreKept(t *testing.T) {
	golden := map[string]string{}
	text := testkit.Call(os.ReadFile(journalsFile)).Must(t)
	for s := bufio.NewScanner(strings.NewReader(string(text))); s.Scan(); {
		hash, name, _ := strings.Cut(s.Text(), " ")
		golden[name] = hash
	}
	for seed := range testkit.Rounds(1, 4) {
		name := fmt.Sprintf("world %d", seed)
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				journal := goldenWorld(t, rand.New(rand.NewPCG(uint64(seed), 16)), seed%2 == 0)
				hash := fmt.Sprintf("%x", sha256.Sum256([]byte(journal)))[:16]
				if *updateJournals {
					golden[name] = hash
				}
				if golden[name] == hash {
					return
				}
				file, err := os.CreateTemp("", "journal-*.txt")
				if err == nil {
					_, err = file.WriteString(journal)
				}
				t.Errorf("another journal, %s, want %s; it is in %s (%v)", hash, golden[name], file.Name(), errors.Join(err, file.Close()))
			})
		})
	}
	if *updateJournals {
		var b strings.Builder
		for _, name := range slices.Sorted(maps.Keys(golden)) {
			fmt.Fprintf(&b, "%s %s\n", golden[name], name)
		}
		testkit.Must(t, os.WriteFile(journalsFile, []byte(b.String()), 0o600))
	}
}

// goldenScorer learns: its score of a waiting URL changes with each page.
type goldenScorer struct {
	wordScorer
	pages atomic.Int64
}

func (s *goldenScorer) ScoreLinks(dst []float64, p *page.Page, score Score) []float64 {
	s.pages.Add(1)
	for i := range p.Links {
		now, _ := s.Rescore(page.Key(p.Links[i].URL))
		dst = append(dst, now)
	}
	return dst
}

func (s *goldenScorer) Rescore(key uint64) (float64, bool) {
	return float64((key>>8)%97*uint64(7+s.pages.Load()/10)%101) / 101, key%13 != 0
}

func (s *goldenScorer) Promise(key uint64) (float64, bool) { return s.Rescore(key) }

// goldenWeb answers each URL after its own time, so that no events coincide.
type goldenWeb struct{ *illWeb }

func (w *goldenWeb) Fetch(ctx context.Context, req fetch.Request) *fetch.Response {
	time.Sleep(ownTime(req.URL))
	return version(req, w.illWeb.Fetch(ctx, req))
}

func (w *goldenWeb) Resolve(ctx context.Context, host string) (netip.Addr, error) {
	time.Sleep(ownTime(host) / 3)
	return w.illWeb.Resolve(ctx, host)
}

func ownTime(of string) time.Duration {
	sum := store.HashURL(of)
	return time.Duration(50_000+int(sum[0])<<10+int(sum[1])<<2+int(sum[2])&3) * time.Microsecond
}

func goldenPages(rng *rand.Rand) (pages map[string]string, starts []string) {
	pages = manyPages(8, 24)
	for h := range 8 {
		home := fmt.Sprintf("http://h%d.test/", h)
		starts = append(starts, home+"0")
		pages[home+"robots.txt"] = "User-agent: *\nDisallow: /secret\nSitemap: /index.xml\n" +
			fmt.Sprintf("Sitemap: http://h%d.test/for-h%d.txt\n", (h+3)%8, h)
		pages[home+"index.xml"] = index(home+"one.xml", home+"none.xml")
		pages[home+"one.xml"] = sitemapXML(home+"s1", home+"s2", home+"secret", "http://far.test/")
		pages[fmt.Sprintf("http://h%d.test/for-h%d.txt", (h+3)%8, h)] = home + "s3\n" + home + "s4\n"
		for n := range 5 {
			pages[fmt.Sprintf("%ss%d", home, n)] = article("Gold", newWords(rng, 60), home+"cal?m=0", "http://moved.test/"+fmt.Sprint(n))
		}
		text := words(rng, 300)
		pages[home+"0"] += article("", newWords(rng, 30), home+"near1", home+"near2", home+"same", home+"in/", fmt.Sprintf("http://n%d.farm.test/", rng.IntN(1e9)))
		pages[home+"near1"] = article("One", text+" seen on 1 May", "http://h0.test/endless/0")
		pages[home+"near2"] = article("One - for printing", text+" seen on 2 June", home+"only")
		pages[home+"same"] = pages[home+"near1"]
		pages[home+"only"] = article("gold", newWords(rng, 50))
	}
	pages["http://h7.test/robots.txt"] = "→http://moved.test/robots.txt"
	pages["http://h6.test/robots.txt"] = "User-agent: *\nCrawl-delay: 7\n"
	for n := range 5 {
		pages[fmt.Sprint("http://moved.test/", n)] = fmt.Sprint("→http://h0.test/", n+30)
		pages[fmt.Sprint("http://h0.test/", n+30)] = article("gold moved", newWords(rng, 50))
	}
	return pages, starts
}

// goldenMade returns pages of traps: a calendar, nested folders, endless hosts, and a news site.
func goldenMade(url string) string {
	name := url[strings.LastIndexAny(url, "/=")+1:]
	number := 0
	_, _ = fmt.Sscan(name, &number) // 0 if there is none
	rng := rand.New(rand.NewPCG(uint64(number), 3))
	switch {
	case strings.HasSuffix(url, ".txt"):
		return ""
	case strings.Contains(url, "/cal?"):
		return fmt.Sprintf(`<title>Month %d</title><p>month %d <a href="?m=%d">next</a><a href="?m=%d">later</a>`, number, number, number+1, 2*number+1)
	case strings.Contains(url, "/in/"):
		return html("folder "+url, url+"in/")
	case strings.Contains(url, "/endless/"):
		return html(newWords(rng, 30), fmt.Sprint(number+1), fmt.Sprint(3*number+2))
	case strings.Contains(url, ".farm.test"):
		at := store.HashURL(url)
		return farmPage(func() string { return page.Host(url) }, func() string { return fmt.Sprintf("n%d%d.farm.test", at[0], at[1]) })
	}
	return ""
}

func goldenWorld(t *testing.T, rng *rand.Rand, learned bool) string {
	begin := time.Now()
	pages, starts := goldenPages(rng)
	w := &illWeb{fakeWeb: &fakeWeb{pages: pages, made: goldenMade, took: 130 * time.Millisecond, fail: map[string][]fetch.Response{}},
		wait: 3*time.Second + 7001*time.Microsecond, err: noIP(t, &net.DNSError{Err: "server misbehaving", IsTemporary: true})}
	for _, url := range slices.Sorted(maps.Keys(pages)) {
		switch rng.IntN(25) {
		case 0:
			w.fail[url] = []fetch.Response{{State: fetch.StateCode, Code: 503, RetryAfter: time.Duration(rng.IntN(90)) * time.Second}}
		case 1:
			w.fail[url] = []fetch.Response{{State: fetch.StateBodyTimeout, Code: 200}, {State: fetch.StateCode, Code: 500}, {State: fetch.StateConnectTimeout}}
		case 2:
			w.fail[url] = []fetch.Response{{State: fetch.StateConnectError}}
		}
	}
	states := []fetch.State{fetch.StateConnectError, fetch.StateConnectTimeout, fetch.StateHeaderTimeout, fetch.StateNoIP}
	away := map[string]span{"dead.test:80": {begin, begin.Add(1e4 * time.Hour)}}
	for h := range 8 {
		from := begin.Add(time.Duration(rng.IntN(1000)) * time.Second)
		away[fmt.Sprintf("h%d.test:80", h)] = span{from, from.Add(time.Duration(rng.IntN(3000)) * time.Second)}
	}
	away["h5.test:80"] = span{begin.Add(8 * time.Minute), begin.Add(1e4 * time.Hour)} // for good
	from := begin.Add(time.Duration(40+rng.IntN(100)) * time.Second)
	outage := []span{{from, from.Add(30 * time.Minute)}}
	w.down = func(host, _ string) fetch.State {
		if within(outage, time.Now()) || within([]span{away[host]}, time.Now()) {
			return states[len(host)*int(host[1])%len(states)]
		}
		return ""
	}
	opt := newOptions(t, w.fakeWeb, append(starts, "http://dead.test/", "http://alone.test/")...)
	opt.Fetcher, opt.Sitemaps, opt.Workers = &goldenWeb{w}, true, 1+rng.IntN(2)*3
	opt.Delay, opt.MaxPerHost, opt.MaxWait = Delay{Fixed: rng.IntN(2) == 0, Rest: time.Second}, 700, 2*time.Hour
	if learned {
		opt.Scorer, opt.Ordering = &goldenScorer{wordScorer: wordScorer{0.3}}, orders.Latest
	}
	var log strings.Builder
	session := func(most time.Duration) {
		ctx, stop := context.WithTimeout(t.Context(), most)
		defer stop()
		c, err := New(opt)
		if err != nil {
			t.Fatal(err)
		}
		r, err := c.Run(ctx)
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		t.Logf("after %v: %s, %d pages, %v", time.Since(begin), r.Stopped, r.Counts.Pages, r.Counts.States)
		note(t, &log, r)
	}
	session(25*time.Minute + 100_003*time.Microsecond)
	session(2 * time.Hour)
	opt.MaxPages = 2500
	session(30 * time.Hour)
	for n := range 24 {
		if url := fmt.Sprintf("http://h%d.test/%d", n%8, n); n%3 == 0 {
			pages[url] = html("gold of today "+url, "http://found.test/")
		} else if n%7 == 0 {
			pages[url] = "→http://h1.test/1"
		}
	}
	opt.Refresh, opt.MaxPages, opt.FollowTraps, opt.KeepNear = 30*time.Minute, 2600, true, true
	time.Sleep(time.Hour)
	session(20 * time.Hour)
	checkSound(t, opt.Store)
	for _, s := range w.log {
		note(t, &log, fmt.Sprint(s.start.Sub(begin), " ", s.url))
	}
	return log.String() + journalOf(t, opt.Store)
}

// journalOf writes all records of a store as text.
func journalOf(t *testing.T, s *store.Store) string {
	t.Helper()
	var b strings.Builder
	counts := testkit.Call(s.Counts()).Must(t)
	note(t, &b, counts)
	for id := store.ID(1); id <= store.ID(counts.URLs); id++ {
		discovery := testkit.Call(s.URLs().Discovery(id)).Must(t)
		note(t, &b, life(t, s, discovery.URL))
	}
	for h := range testkit.All(t, s.Hosts()) {
		note(t, &b, h)
	}
	var exchanges []store.HostExchange
	for x := range testkit.All(t, s.Exchanges("")) {
		exchanges = append(exchanges, x)
	}
	slices.SortStableFunc(exchanges, func(a, b store.HostExchange) int { return cmp.Compare(a.Host, b.Host) })
	for _, x := range exchanges {
		note(t, &b, x)
	}
	return b.String()
}

func note(t *testing.T, b *strings.Builder, record any) {
	t.Helper()
	line := testkit.Call(json.Marshal(record)).Must(t)
	b.Write(line)
	b.WriteByte('\n')
}
