package crawler

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"fossick/crawler/hosts"
	"fossick/internal/testkit"
	"fossick/store"
)

// TestFilePriceOracle: the price by the files of the host and of the crawl, counted anew each time.
func TestFilePriceOracle(t *testing.T) {
	type came struct {
		host, url string
		code      int
		bytes     int64
	}
	draw := rand.New(rand.NewPCG(1, 2))
	endings := map[string]string{"/a.pdf": "pdf", "/b.PDF?x=y.html": "pdf", "/pdf/1234.5": "pdf", "/c.docx": "docx", "/d.html": "", "/pdf": "", "/e": "", "/x.pdf/": ""}
	var urls []string
	for u := range endings {
		urls = append(urls, u)
	}
	slices.Sort(urls)
	var all []came
	f, records := newFiles(), map[string]*store.Host{"a": {}, "b": {}, "c": {}}
	for range 400 {
		c := came{string(rune('a' + draw.IntN(3))), urls[draw.IntN(len(urls))], []int{200, 200, 404}[draw.IntN(3)], int64(draw.IntN(8 << 20))}
		all = append(all, c)
		f.Learn(records[c.host], "http://"+c.host+c.url, c.code, c.bytes)
		again := newFiles() // as a resumed crawl counts
		for _, r := range records {
			again.Recall(r)
		}
		for _, kind := range []string{"pdf", "docx", "odt"} {
			var own, whole, n, m float64
			for _, c := range all {
				if endings[c.url] == kind && c.code == 200 && c.bytes > 0 {
					whole, n = whole+float64(c.bytes), n+1
					if c.host == "a" {
						own, m = own+float64(c.bytes), m+1
					}
				}
			}
			want := 1.
			if n > 0 {
				if size := (own + 4*whole/n) / (m + 4); size > 512<<10 {
					want = 1 / (1 + (size-512<<10)/(2<<20))
				}
			}
			for _, f := range []*files{f, again} {
				if got := shareOf(f.expect(kind, records["a"].Files[kind])); math.Abs(got-want) > 1e-12 {
					t.Fatalf("%s after %d files: share %g, want %g", kind, len(all), got, want)
				}
			}
		}
	}
	if share := shareOf(512 << 10); share != 1 {
		t.Errorf("a file like a page has the share %g, want exactly 1", share)
	}
}

// filesWeb links to five files and five pages of one worth, and to five files of a better page.
// Each file has so many bytes.
func filesWeb(bytes int) *fakeWeb {
	w := &fakeWeb{pages: map[string]string{}}
	var links, better []string
	for i := range 5 {
		file, good, plain := fmt.Sprintf("http://a.test/%d.pdf", i), fmt.Sprintf("http://a.test/good%d.pdf", i), fmt.Sprintf("http://a.test/%d", i)
		w.pages[file] = html(fmt.Sprint("file", i)) + "<!--" + strings.Repeat("x", bytes) + "-->"
		w.pages[good] = html(fmt.Sprint("gold file", i)) + "<!--" + strings.Repeat("x", bytes) + "-->"
		w.pages[plain] = html(fmt.Sprint("page", i))
		links, better = append(links, file, plain), append(better, good)
	}
	w.pages["http://a.test/"] = html("start", append(links, "http://a.test/better")...)
	w.pages["http://a.test/better"] = html("gold here", better...)
	return w
}

// TestLargeFilesMustBeWorthIt: of equal links the cheaper one comes first, a large file comes before
// pages only if it is as much better as it costs more, and small files cost nothing. A crawl that goes
// on from its store has the prices of the first session.
func TestLargeFilesMustBeWorthIt(t *testing.T) {
	ordered := func(w *fakeWeb) string {
		var all []string
		for _, u := range w.urls() {
			all = append(all, strings.TrimPrefix(u, "http://a.test/"))
		}
		return strings.Join(all, " ")
	}
	small := filesWeb(100_000)
	crawl(t, newOptions(t, small, "http://a.test/"))
	plain := ordered(small)
	if want := " 0.pdf 0 1.pdf 1 2.pdf 2 3.pdf 3 4.pdf 4 better good0.pdf good1.pdf good2.pdf good3.pdf good4.pdf"; plain != want {
		t.Errorf("small files: %s, want %s", plain, want)
	}
	// The first file of 3 MiB makes the others cost 2.25 pages. Those of the better page are worth 1, and
	// so come first even then; those of the start page, worth .3, come after the pages.
	const want = " 0.pdf 0 1 2 3 4 better good0.pdf good1.pdf good2.pdf good3.pdf good4.pdf 1.pdf 2.pdf 3.pdf 4.pdf"
	large := filesWeb(3 << 20)
	opt := newOptions(t, large, "http://a.test/")
	crawl(t, opt)
	if got := ordered(large); got != want {
		t.Errorf("large files: %s, want %s", got, want)
	}
	first, told := life(t, opt.Store, "http://a.test/0.pdf").Visits[0].File, life(t, opt.Store, "http://a.test/1.pdf").Visits[0].File
	if first != nil || told == nil || told.Kind != "pdf" || told.Bytes>>20 != 3 || math.Abs(1/told.Share-2.25) > .01 {
		t.Errorf("the journal has %+v for the first file and %+v for the second, want none and 2.25 pages", first, told)
	}
	// Killed after the first file, and resumed.
	again := filesWeb(3 << 20)
	opt = newOptions(t, again, "http://a.test/")
	ctx, cancel := context.WithCancel(t.Context())
	again.asked = func(url string) {
		if url == "http://a.test/0" {
			cancel()
		}
	}
	c := testkit.Call(New(opt)).Must(t)
	testkit.Call(c.Run(ctx)).Must(t)
	again.asked = nil
	opt.Seeds = nil
	crawl(t, opt)
	if got := ordered(again); got != want && got != strings.Replace(want, " 0 1", " 0 0 1", 1) {
		t.Errorf("resumed: %s, want %s", got, want)
	}
}

// TestPutBackIsNotTaken: a file that goes back to the queue for its price was not taken, its price
// lowers its priority once even if that was forgotten, and ends when the file is asked for.
func TestPutBackIsNotTaken(t *testing.T) {
	opt := newOptions(t, filesWeb(3<<20), "http://a.test/")
	opt.MaxPages, opt.Patience, opt.Delay = 100, 3, Delay{Fixed: true, Rest: time.Second}
	c := testkit.Call(New(opt)).Must(t)
	c.files.sums["pdf"] = store.Files{Count: 1, Bytes: 3 << 20}
	const url = "http://a.test/1.pdf"
	queued, h := store.Queued{Priority: .9}, &hosts.Host{Host: &store.Host{}}
	c.frontier.Push(item(1, c.frontier.Host("a.test:80"), url, queued.Priority))
	it, _, ok := c.nextBest()
	if !ok || c.pricedTaken != 1 || !c.tooDear(&it, url, queued, h) || c.pricedTaken != 0 || !c.lastTaken.IsZero() {
		t.Errorf("taken %v: %d links since the price, the last at %v; want none", ok, c.pricedTaken, c.lastTaken)
	}
	c.files.priced.Remove(it.Key)
	if c.tooDear(&it, url, queued, h); math.Abs(it.Priority-.9/2.25) > 1e-9 {
		t.Errorf("a forgotten price lowers .9 to %g, want .9/2.25", it.Priority)
	}
	j := &job{leased: leased{Priority: it.Priority}}
	if file := c.unprice(j, it.Key); file == nil || math.Abs(j.Priority-.9) > 1e-9 || c.fileOf(it.Key) != nil {
		t.Errorf("asked for: %+v, priority %g; want .9 and no price left", file, j.Priority)
	}
}
