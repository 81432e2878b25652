package crawler

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fossick/crawler/fetch"
	"fossick/internal/page"
	"fossick/internal/rights"
	"fossick/store"
)

// TestTDMRep: a host's tdmrep.json is asked for where the purpose heeds it and robots.txt
// allows it, once a day, as a request like others; and it is obeyed.
func TestTDMRep(t *testing.T) {
	const (
		file    = "http://a.test/.well-known/tdmrep.json"
		open    = `[{"location":"/secret/","tdm-reservation":1}`
		secret  = open + `]`
		damaged = open + `,{"loc`
		all     = `[{"location":"/","tdm-reservation":1}]`
	)
	for _, c := range []struct {
		name    string
		purpose rights.Purpose
		robots  string
		files   []string // what the file says on each day: the last one from then on; "" for none, or "!" for code 500
		asked   int      // for the file
		pages   uint64
		secret  bool // pages below /secret/ are asked for
		note    string
	}{
		{"obeyed", rights.Training, "", []string{secret}, 4, 4, false, ""},
		{"for research", rights.Research, "", []string{secret}, 4, 4, false, ""},
		{"for search", rights.Search, "", []string{secret}, 0, 4, true, ""},
		{"no purpose", "", "", []string{secret}, 0, 4, true, ""},
		{"none there", rights.Training, "", []string{""}, 8, 4, true, ""},
		{"all", rights.Training, "", []string{all}, 1, 0, false, ""},
		{"robots.txt refuses it", rights.Training, "User-agent: *\nDisallow: /.well-known/\n", []string{secret}, 0, 4, true, ""},
		{"holds on where the host fails", rights.Training, "", []string{secret, "!"}, 4, 4, false, ""},
		{"changed", rights.Training, "", []string{secret, all}, 2, 1, false, ""},
		{"damaged", rights.Training, "", []string{damaged}, 4, 4, false, "tdmrep.json: byte"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := chain(4)
			w.fail = map[string][]fetch.Response{}
			if c.robots != "" {
				w.pages["http://a.test/robots.txt"] = c.robots
			}
			now, asked := atomic.Int64{}, 0 // asked: by the only worker
			now.Store(1e12)
			w.asked = func(url string) {
				switch {
				case url == file:
					says := c.files[min(asked, len(c.files)-1)]
					asked++
					delete(w.pages, file)
					if says == "!" {
						w.fail[file] = []fetch.Response{{State: fetch.StateCode, Code: 500}}
					} else if says != "" {
						w.pages[file] = says
					}
				case !strings.HasSuffix(url, "/robots.txt"):
					now.Add((25 * time.Hour).Milliseconds())
				}
			}
			opt := newOptions(t, w, "http://a.test/"+letters(0))
			opt.Purpose, opt.FollowTraps = c.purpose, true
			// Time passes by itself, so that a host that failed has rested.
			opt.Now = func() time.Time { return time.UnixMilli(now.Add(time.Minute.Milliseconds())) }
			r := crawl(t, opt)
			secret := strings.Contains(strings.Join(w.urls(), " "), "/secret/")
			if asked < c.asked || c.asked == 0 && asked > 0 || r.Counts.Pages != c.pages || secret != c.secret {
				t.Errorf("%d pages, the file asked for %d times, /secret/ asked for: %v", r.Counts.Pages, asked, secret)
			}
			if int(r.Counts.Requests) != len(w.log) {
				t.Errorf("%d requests counted of %d", r.Counts.Requests, len(w.log))
			}
			journalled, note := 0, ""
			for x, err := range opt.Store.Exchanges("a.test:80") {
				if err != nil {
					t.Fatal(err)
				}
				if x.For == store.ForTDMRep {
					journalled, note = journalled+1, x.Note
				}
			}
			if journalled != asked || !strings.Contains(note, c.note) {
				t.Errorf("%d exchanges of %d journalled, with %q", journalled, asked, note)
			}
		})
	}
}

// TestTDMRepIsKept: another session on the same day obeys without asking again, and why a
// page was not asked for is on record.
func TestTDMRepIsKept(t *testing.T) {
	w := chain(4)
	refused := "http://a.test/" + letters(2)
	file := page.TDMRepURL(refused)
	w.pages[file] = `[{"location":"` + page.Path(refused) + `","tdm-reservation":1}]`
	opt := newOptions(t, w, "http://a.test/"+letters(0))
	opt.Purpose, opt.MaxPages = rights.Training, 1
	for range 2 {
		crawl(t, opt)
		opt.MaxPages = 0
	}
	if n := strings.Count(strings.Join(w.urls(), " "), file); n != 1 {
		t.Errorf("asked for %d times", n)
	}
	l := life(t, opt.Store, refused)
	if l.Fate == nil || l.Fate.State != string(fetch.StateRobotsDenied) || !strings.HasPrefix(l.Fate.Reason, "tdmrep.json: tdm-reservation 1") || len(l.Visits) != 0 {
		t.Errorf("%+v", l)
	}
}
