package crawler

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fossick/internal/testkit"
)

// TestThousandsOfNamesAtOneAddress: hosts on one machine get one request at a time, with rests.
// Through a proxy, without known addresses, they are fetched concurrently.
func TestThousandsOfNamesAtOneAddress(t *testing.T) {
	testkit.Only(t, "TestCrowdedAddress has the main way")
	t.Parallel()
	const took, rest = 100 * time.Millisecond, time.Second
	for address, names := range map[string]int{"203.0.113.1": testkit.Rounds(500, 5000), "": 500} {
		t.Run(address, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &fakeWeb{pages: map[string]string{}, addrs: map[string]string{}, took: took}
				var links []string
				for i := range names {
					u := fmt.Sprintf("http://h%d.test/", i)
					links = append(links, u)
					w.pages[u] = html(fmt.Sprintf("gold of house number %d, which is like no other%d", i, i))
					w.addrs[fmt.Sprintf("h%d.test:80", i)] = address
				}
				w.pages[links[0]] = html("gold", links[1:]...)
				opt := newOptions(t, w, links[0])
				opt.Workers, opt.Delay, opt.KeepNear = 16, Delay{Fixed: true, Rest: rest}, true
				start := time.Now()
				if r := crawl(t, opt); r.Counts.Pages != uint64(names) {
					t.Errorf("%d pages of %d names", r.Counts.Pages, names)
				}
				slices.SortFunc(w.log, func(a, b served) int { return a.start.Compare(b.start) })
				for i := 1; i < len(w.log) && address != ""; i++ {
					if gap := w.log[i].start.Sub(w.log[i-1].end); gap < rest {
						t.Fatalf("%s came %v after %s, want the rest of the machine they share", w.log[i].url, gap, w.log[i-1].url)
					}
				}
				// robots.txt and a page each; the name's own rest falls in between.
				if all, one := time.Since(start), 2*time.Duration(names)*(took+rest); address != "" && all > one+time.Minute || address == "" && all > one/8 {
					t.Errorf("it took %v for %d requests; one after the other they take %v", all, len(w.log), one)
				}
				if robots := slices.IndexFunc(w.log, func(s served) bool { return strings.HasSuffix(s.url, "robots.txt") }); robots != 0 {
					t.Errorf("robots.txt was request %d", robots)
				}
			})
		})
	}
}
