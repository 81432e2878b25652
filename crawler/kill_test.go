package crawler

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"fossick/crawler/frontier"
	"fossick/graph/orders"
	"fossick/internal/page"
	"fossick/internal/testkit"
	"fossick/store"
)

// childDir makes the test binary a child that crawls into this store and prints requested URLs.
const childDir = "FOSSICK_TEST_CRAWLER_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		if err := crawlInChild(dir, os.Stdout); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	// Parallel tests wait for the disk half of the time.
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m) // no goroutine may leak
}

// The child's queue is mostly on disk, with room for eight URLs in memory.
const (
	childHosts, childPages = 40, 25
	childWorkers           = 4
)

func childOptions(s *store.Store) (Options, error) {
	order, err := orders.OrderingByName("relevance")
	return Options{
		Store: s, Fetcher: &fakeWeb{pages: withShells(manyPages(childHosts, childPages), childHosts)}, Scorer: wordScorer{0.3}, Ordering: order,
		Seeds: []string{"http://h0.test/0", "http://h7.test/3"}, Workers: childWorkers, Delay: Delay{Fixed: true},
		Frontier: frontier.Options{Memory: 8},
	}, err
}

func crawlInChild(dir string, said io.Writer) error {
	s, err := store.Open(dir)
	if err != nil {
		return err
	}
	opt, err := childOptions(s)
	if err != nil {
		return err
	}
	if os.Getenv(childSitemaps) != "" {
		opt = sitemapOptions(opt, said, os.Stdin)
	}
	web := opt.Fetcher.(*fakeWeb)
	web.asked = func(url string) { fmt.Fprintln(said, url) }
	c, err := New(opt)
	if err != nil {
		return err
	}
	_, err = c.Run(context.Background())
	return errors.Join(err, s.Close())
}

// TestKillWithTheQueueOnDisk kills a crawl at random until it ends by itself. After each kill the
// rebuilt frontier must give exactly the journal's waiting URLs, best first. No page is lost, and
// only pages in flight at a kill are requested again.
func TestKillWithTheQueueOnDisk(t *testing.T) {
	t.Parallel()
	most := 1 // FOSSICK_KILLS: least number of kills, over several crawls
	if n, err := strconv.Atoi(os.Getenv("FOSSICK_KILLS")); err == nil {
		most = n
	}
	rng := rand.New(rand.NewPCG(1, 2))
	// How much of the queue is on disk at a kill is random; if too little, kill another crawl.
	const crawls, onDisk = 5, 3
	kills, overflows := 0, 0
	for crawl := 0; kills < most || overflows < onDisk; crawl++ {
		if crawl >= crawls && kills >= most {
			t.Fatalf("the queue was on disk at %d of %d kills: this test means nothing", overflows, kills)
		}
		k, o := checkKilledQueue(t, rng)
		kills, overflows = kills+k, overflows+o
	}
}

// checkKilledQueue kills a crawl until it ends, and counts kills, and those with URLs on disk.
func checkKilledQueue(t *testing.T, rng *rand.Rand) (kills, overflows int) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "s")
	s := testkit.Call(store.Create(dir, store.Info{})).Must(t)
	testkit.Must(t, s.Close())
	asked := map[string]int{}
	for killed := true; killed; kills++ {
		var lines []string
		killed, lines = killAfter(t, dir, 1+rng.IntN(testkit.Rounds(300, 150)))
		for _, url := range lines {
			asked[url]++
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "frontier", "*")); len(left) > 0 {
			overflows++
		}
		checkQueue(t, dir, kills)
		if kills > 500 {
			t.Fatal("the crawl does not end")
		}
	}
	again := 0
	for _, n := range asked {
		again += n - 1
	}
	if len(asked) != childHosts*childPages {
		t.Errorf("%d pages were asked for, want %d", len(asked), childHosts*childPages)
	}
	s = testkit.Call(store.Open(dir)).Must(t)
	defer s.Close()
	if n, err := s.Counts(); err != nil || n.States["script_only"] != childHosts || n.Pages != childHosts*(childPages-1) {
		t.Errorf("%d pages, states %v, %v; want %d made by script", n.Pages, n.States, err, childHosts)
	}
	if again > childWorkers*kills {
		t.Errorf("%d requests too many for %d kills of %d workers", again, kills, childWorkers)
	}
	t.Logf("%d kills, %d of them left files of the frontier, %d pages asked for again", kills-1, overflows, again)
	return kills - 1, overflows
}

// killAfter kills a child crawl after so many requested pages, unless it ends before.
func killAfter(t *testing.T, dir string, pages int) (killed bool, asked []string) {
	t.Helper()
	self := testkit.Call(os.Executable()).Must(t)
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^$")
	cmd.Env = append(os.Environ(), childDir+"="+dir)
	out := testkit.Call(cmd.StdoutPipe()).Must(t)
	testkit.Must(t, cmd.Start())
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		switch url := lines.Text(); {
		case strings.HasPrefix(url, "error:"):
			t.Fatal(url)
		case !strings.HasSuffix(url, "/robots.txt"):
			asked = append(asked, url)
		}
		if len(asked) == pages && !killed {
			killed = true
			testkit.Must(t, cmd.Process.Kill())
		}
	}
	if err := cmd.Wait(); err != nil && !killed {
		t.Fatal(err)
	}
	return killed, asked
}

// checkQueue rebuilds a crawl's frontier and empties it.
func checkQueue(t *testing.T, dir string, kill int) {
	t.Helper()
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	problems, err := s.Verify(t.Context())
	if err != nil || len(problems) > 0 {
		t.Fatalf("kill %d: verify finds %v, %v", kill, problems, err)
	}
	opt, err := childOptions(s)
	if err != nil {
		t.Fatal(err)
	}
	opt.Now = func() time.Time { return time.Unix(1e9, 0) }
	c, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	var want []store.Waiter
	for w := range testkit.All(t, s.URLs().Waiters()) {
		want = append(want, w)
	}
	slices.SortFunc(want, func(a, b store.Waiter) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.ID, b.ID))
	})
	for i, w := range want {
		it, ok := c.frontier.Next(opt.Now().Add(time.Hour * 1e6))
		if !ok || store.ID(it.ID) != w.ID || it.Priority != w.Priority {
			t.Fatalf("kill %d: URL %d of the queue is %+v %v, want %+v; %v", kill, i, it, ok, w, c.frontier.Err())
		}
		c.frontier.Done(it.Host, time.Time{})
	}
	if n := c.frontier.Len(); n > 0 {
		t.Fatalf("kill %d: %d URLs more in the queue than in the journal", kill, n)
	}
	testkit.Must(t, c.frontier.Close())
}

// shiftingScorer is a Rescorer whose scores change with every page.
type shiftingScorer struct {
	wordScorer
	pages *atomic.Uint64
}

func (s shiftingScorer) ScorePage(p *page.Page, parent float64) Score {
	s.pages.Add(1)
	return s.wordScorer.ScorePage(p, parent)
}

func (s shiftingScorer) Rescore(key uint64) (float64, bool) {
	return float64((key+s.pages.Load())%97) / 97, key%5 > 0
}

// TestRescoreOnDisk: with most of the queue on disk and its order changing, no page is lost.
func TestRescoreOnDisk(t *testing.T) {
	w := &fakeWeb{pages: manyPages(30, 12)}
	opt := newOptions(t, w, "http://h0.test/0", "http://h4.test/2")
	opt.Frontier.Memory, opt.Workers, opt.Ordering = 8, 3, orders.Latest
	opt.Scorer = shiftingScorer{wordScorer{0.3}, &atomic.Uint64{}}
	for session := range 3 { // resumed twice
		opt.MaxPages = []uint64{100, 200, 0}[session]
		c := testkit.Call(New(opt)).Must(t)
		c.passes.AtOnce = 100 >> session // in parts above that
		testkit.Call(c.Run(t.Context())).Must(t)
	}
	asked := w.urls()
	slices.Sort(asked)
	if once := slices.Compact(slices.Clone(asked)); len(once) != 30*12 || len(asked) != len(once) {
		t.Errorf("%d requests for %d pages, want one for each of 360", len(asked), len(once))
	}
}

// TestFewHostsInMemory: evicted hosts return with their rests, rules and counts.
func TestFewHostsInMemory(t *testing.T) {
	pages := manyPages(30, 12)
	w := &fakeWeb{pages: pages}
	opt := newOptions(t, w, "http://h0.test/0")
	opt.MaxPerHost, opt.Workers = 7, 3
	c := testkit.Call(New(opt)).Must(t)
	c.hosts.KeepAtMost(2)
	r := testkit.Call(c.Run(t.Context())).Must(t)
	if r.Counts.Pages != 30*7 || r.Hosts != 30 {
		t.Errorf("%d pages of %d hosts, want 210 of 30", r.Counts.Pages, r.Hosts)
	}
	if n := c.Progress().Hosts; n != 30 {
		t.Errorf("%d hosts are known, want 30", n)
	}
	robots := 0
	for _, s := range w.log {
		if strings.HasSuffix(s.url, "/robots.txt") {
			robots++
		}
	}
	if robots != 30 {
		t.Errorf("robots.txt was asked for %d times, want once a host", robots)
	}
	if n := c.hosts.InMemory(); n > 2*2+3 {
		t.Errorf("%d hosts in memory, want 4 and those in use", n)
	}
}
