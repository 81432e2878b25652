package crawler

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"fossick/crawler/fetch"
)

// endlessWeb makes pages on request, each with twenty links to random pages of many hosts.
type endlessWeb struct{ hosts, pages int }

func (w endlessWeb) Resolve(_ context.Context, host string) (netip.Addr, error) {
	n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(host, "h"), ".test:80"))
	return netip.AddrFrom4([4]byte{11, byte(n >> 16), byte(n >> 8), byte(n)}), err
}

func (w endlessWeb) Fetch(_ context.Context, req fetch.Request) *fetch.Response {
	r := &fetch.Response{URL: req.URL, Start: time.Now(), Header: http.Header{}}
	if strings.HasSuffix(req.URL, "/robots.txt") {
		r.State, r.Code = fetch.StateCode, 404
		return r
	}
	var host, page int
	if _, err := fmt.Sscanf(req.URL, "http://h%d.test/%d", &host, &page); err != nil {
		host, page = 0, 0
	}
	r.State, r.Code, r.ContentType = fetch.StateOK, 200, "text/html"
	r.Body = w.body(host, page)
	r.WireBytes = int64(len(r.Body))
	return r
}

func (w endlessWeb) body(host, page int) []byte {
	x := uint64(host)<<32 + uint64(page) + 1
	random := func(n int) int { // xorshift: the page is the same each time
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		return int(x>>1) % n
	}
	for range 20 {
		random(1)
	}
	b := fmt.Appendf(nil, "<html><title>%d of %d</title><body><p>", page, host)
	for range 60 {
		b = fmt.Appendf(b, "word%c%c%d ", 'a'+random(26), 'a'+random(26), random(1000))
	}
	if random(3) == 0 {
		b = append(b, "gold"...)
	}
	for range 20 {
		to := random(w.hosts * w.pages)
		b = fmt.Appendf(b, `<a href="http://h%d.test/%d">%d</a> `, to%w.hosts, to/w.hosts, to)
	}
	return b
}

// TestMemoryIsFlat crawls an endless web. Resident memory must stay below 512 MiB, and from
// 200,000 pages on grow by at most a tenth. FOSSICK_MEMORY_PAGES sets the pages, at 0.7 ms of
// processor time each.
func TestMemoryIsFlat(t *testing.T) {
	pages, err := strconv.Atoi(os.Getenv("FOSSICK_MEMORY_PAGES"))
	if err != nil {
		t.Skip("takes long: set FOSSICK_MEMORY_PAGES=1000000")
	}
	before := debug.SetMemoryLimit(288 << 20) // as in fossick focus
	defer debug.SetMemoryLimit(before)
	opt := newOptions(t, nil, "http://h0.test/0")
	opt.Fetcher = endlessWeb{hosts: 200_000, pages: 200}
	opt.Workers, opt.MaxPages = 8, uint64(pages)
	step, next := uint64(max(1, pages/10)), uint64(max(1, pages/10))
	early, most := 0.0, 0.0
	opt.Progress = func(p Progress) {
		if now := resident(t, "VmRSS:"); p.Counts.Pages >= next || most < now {
			if now > most+20 {
				t.Logf("%8d pages: %.0f MiB, %.0f of it mapped files", p.Counts.Pages, now, resident(t, "RssFile:"))
			}
			most = max(most, now)
			if p.Counts.Pages <= flatFrom {
				early = max(early, now)
			}
			if p.Counts.Pages >= next {
				t.Logf("%8d pages, %9d URLs, %9d wait, %6d hosts: %.0f MiB, %.0f of it mapped files, at most %.0f; %.0f pages/s",
					p.Counts.Pages, p.Counts.URLs, p.Queue, p.Hosts, now, resident(t, "RssFile:"), most, float64(p.Pages)/p.Elapsed.Seconds())
				next += step
			}
		}
	}
	r := crawl(t, opt)
	if r.Counts.Pages != uint64(pages) {
		t.Errorf("%d pages, want %d", r.Counts.Pages, pages)
	}
	if most > 512 || most > 1.1*early {
		t.Errorf("%.0f MiB resident, %.0f until %d pages; want at most 512, and a tenth more", most, early, flatFrom)
	}
}

const flatFrom = 200_000 // pages

// resident returns a field of /proc/self/status in MiB.
func resident(t *testing.T, line string) float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("resident memory is read from /proc: ", err)
	}
	_, rest, _ := strings.Cut(string(status), line)
	rest, _, _ = strings.Cut(rest, "kB")
	kib, err := strconv.Atoi(strings.TrimSpace(cmp.Or(rest, "0")))
	if err != nil {
		t.Fatal(err)
	}
	return float64(kib) / 1024
}
