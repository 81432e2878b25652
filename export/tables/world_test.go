package tables

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fossick/export"
	"fossick/internal/page"
	"fossick/internal/testkit"
	"fossick/store"
)

// made is a page of a test store.
type made struct {
	url, title, text, label string
	links                   []string
	withdrawn               bool
}

// crawl is a test store: its pages in order, and its aliases.
type crawl struct {
	pages      []made
	redirects  map[string]string // target by URL
	duplicates map[string]string // URL of the stored page, by duplicate
}

// world makes crawls of one web of n URLs on a few hosts.
func world(rng *rand.Rand, crawls, n int) (all []crawl) {
	urls := make([]string, n)
	for i := range urls {
		scheme := []string{"http", "https"}[rng.IntN(2)]
		path := []string{"", "a/", "a/b", "?q"}[rng.IntN(4)]
		urls[i] = fmt.Sprintf("%s://h%d.d%d.test/%s%d", scheme, rng.IntN(3), rng.IntN(4), path, i)
	}
	for i := range 4 { // roots
		urls[i] = fmt.Sprintf("http://h0.d%d.test/", i)
	}
	for range crawls {
		c := crawl{redirects: map[string]string{}, duplicates: map[string]string{}}
		order := rng.Perm(n)
		stored := order[:n/2]
		for _, i := range stored {
			p := made{url: urls[i], title: fmt.Sprintf("title %d\x00\xff", i), withdrawn: rng.IntN(10) == 0}
			if rng.IntN(4) > 0 {
				p.text = "text of " + urls[i]
			}
			if rng.IntN(3) > 0 {
				p.label = []string{"banking", "sport", "Ärzte"}[rng.IntN(3)]
			}
			for range rng.IntN(8) {
				p.links = append(p.links, urls[rng.IntN(n)])
			}
			c.pages = append(c.pages, p)
		}
		for _, i := range order[n/2:] {
			switch rng.IntN(4) {
			case 0:
				c.redirects[urls[i]] = urls[rng.IntN(n)]
			case 1:
				c.duplicates[urls[i]] = urls[stored[rng.IntN(len(stored))]]
			}
		}
		all = append(all, c)
	}
	return all
}

func (c *crawl) write(t testing.TB, dir string) {
	t.Helper()
	s := testkit.Call(store.Create(dir, store.Info{Topic: "banking"})).Must(t)
	b := s.Batch()
	put := func(errs ...error) {
		testkit.Must(t, errors.Join(errs...))
	}
	ids, numbers := map[string]store.ID{}, map[string]uint64{}
	idOf := func(url string) store.ID {
		if ids[url] == 0 {
			id := store.ID(len(ids) + 1)
			ids[url] = id
			put(b.PutSeen(store.HashURL(url), id, false), b.PutDiscovery(id, store.Discovery{URL: url, Via: store.ViaSeed}))
		}
		return ids[url]
	}
	for i, m := range c.pages {
		numbers[m.url] = uint64(i + 1)
		p := &store.Page{Number: uint64(i + 1), ID: idOf(m.url), URL: m.url, Title: m.title, Label: m.label, Withdrawn: m.withdrawn,
			Checksum: fmt.Appendf(nil, "%16d", i), At: int64(1e12 + i), Score: .5, Bytes: int64(len(m.text)), ContentType: "text/plain"}
		for _, to := range m.links {
			p.Links = append(p.Links, idOf(to))
		}
		put(b.PutPage(p, s.Compress([]byte(m.text))), b.PutVisit(p.ID, 1, store.Visit{State: "ok"}), b.PutOutcome(p.ID, store.Outcome{State: "ok", Page: p.Number}))
	}
	for from, to := range c.redirects {
		put(b.PutVisit(idOf(from), 1, store.Visit{State: "redirect", Location: idOf(to)}), b.PutOutcome(idOf(from), store.Outcome{State: "redirect"}))
	}
	for from, of := range c.duplicates {
		put(b.PutVisit(idOf(from), 1, store.Visit{State: "duplicate"}), b.PutOutcome(idOf(from), store.Outcome{State: "duplicate", Page: numbers[of]}))
	}
	put(b.PutCounts(&store.Counts{URLs: uint64(len(ids)), Pages: uint64(len(c.pages)), States: map[string]uint64{"ok": uint64(len(c.pages))}}), b.Commit(), s.Close())
}

func written(t testing.TB, crawls []crawl) (dirs []string) {
	t.Helper()
	root := t.TempDir()
	for i := range crawls {
		dirs = append(dirs, filepath.Join(root, fmt.Sprint("crawl", i)))
		crawls[i].write(t, dirs[i])
	}
	return dirs
}

func options(dirs []string, out string) Options {
	return Options{
		Stores: dirs, Dir: out, Version: "test", Step: func(string, int) {}, Did: func(int) {},
		Collection: export.Options{
			Open: func(dir string) (*store.Store, func() error, error) {
				s, err := store.OpenToRead(dir)
				if err != nil {
					return nil, nil, err
				}
				return s, s.Close, nil
			},
			Text: func(body []byte, _ *export.Page, _ export.Want) (string, string) { return string(body), "" },
		},
	}
}

// endOf returns the URL that a URL stands for, by definition.
func (c *crawl) endOf(url string) string {
	on := map[string]bool{}
	for !c.has(url) && !on[url] {
		on[url] = true
		if to, ok := c.redirects[url]; ok {
			url = to
		} else if of, ok := c.duplicates[url]; ok {
			url = of
		} else {
			break
		}
	}
	return url
}

// has reports whether a page with the URL was stored, withdrawn or not.
func (c *crawl) has(url string) bool {
	return slices.ContainsFunc(c.pages, func(p made) bool { return p.url == url })
}

// page returns a stored page that is not withdrawn.
func (c *crawl) page(url string) *made {
	for i := range c.pages {
		if c.pages[i].url == url && !c.pages[i].withdrawn {
			return &c.pages[i]
		}
	}
	return nil
}

// expected holds the rows of the tables, by definition, as text with tabs.
type expected struct {
	pages, sites, domains, communities []string
	links                              []string
	repeated                           uint64
}

const null = "NULL"

func cleaned(s string) string {
	if s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", ""); s == "" {
		return null
	}
	return s
}

// expect computes the tables naively.
func expect(crawls []crawl) (e expected) {
	ids := map[string]int{}
	type one struct {
		made
		at int
	}
	var pages []one
	for _, c := range crawls {
		for i, p := range c.pages {
			if p.withdrawn {
				continue
			}
			if _, had := ids[p.url]; had {
				e.repeated++
				continue
			}
			ids[p.url] = len(pages)
			pages = append(pages, one{p, i})
		}
	}
	var hosts, domains []string
	of := map[string][]int{} // page ids by host
	for id, p := range pages {
		host, domain := page.Host(p.url), page.Site(p.url)
		if !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
		if !slices.Contains(domains, domain) {
			domains = append(domains, domain)
		}
		of[host] = append(of[host], id)
		e.pages = append(e.pages, row(id, slices.Index(hosts, host), p.url, cleaned(p.title), cleaned(p.text), null, cleaned(p.label), 0.5, 1e12+int64(p.at), len(p.text)))
	}
	community := map[string]string{}
	for _, host := range hosts {
		votes := map[string]int{}
		for _, id := range of[host] {
			if pages[id].label != "" {
				votes[pages[id].label]++
			}
		}
		for _, label := range []string{"banking", "sport", "Ärzte"} { // in byte order
			if votes[label] > votes[community[host]] {
				community[host] = label
			}
		}
	}
	var labels []string
	for _, label := range community {
		if label != "" && !slices.Contains(labels, label) {
			labels = append(labels, label)
		}
	}
	slices.Sort(labels)
	sum := func(of func(host string) bool, count map[string][]int) (sites, pages int) {
		for _, host := range hosts {
			if of(host) {
				sites++
				pages += len(count[host])
			}
		}
		return sites, pages
	}
	for i, label := range labels {
		sites, pages := sum(func(host string) bool { return community[host] == label }, of)
		e.communities = append(e.communities, row(i, label, sites, pages))
	}
	for i, domain := range domains {
		sites, pages := sum(func(host string) bool { return page.Site("http://"+host+"/") == domain }, of)
		e.domains = append(e.domains, row(i, domain, sites, pages))
	}
	for i, host := range hosts {
		index := slices.MinFunc(of[host], func(a, b int) int {
			return cmp.Or(cmp.Compare(steps(pages[a].url), steps(pages[b].url)), cmp.Compare(a, b))
		})
		at := fmt.Sprint(slices.Index(labels, community[host]))
		if community[host] == "" {
			at = null
		}
		p := pages[index]
		e.sites = append(e.sites, row(i, slices.Index(domains, page.Site(p.url)), at, host, index, cleaned(p.title), cleaned(p.text), len(of[host])))
	}
	e.links = linksOf(crawls, ids)
	return e
}

// steps orders index pages: the root first, then by path segments, without a query first.
func steps(url string) int {
	path := strings.SplitN(url, "/", 4)[3]
	n := 0
	if before, _, query := strings.Cut(path, "?"); query {
		path, n = before, 1
	}
	return n + 2*len(strings.FieldsFunc(path, func(r rune) bool { return r == '/' }))
}

// linksOf returns the links between pages, sorted.
func linksOf(crawls []crawl, ids map[string]int) (links []string) {
	told := map[string]bool{}
	var pairs [][2]int
	for i := range crawls {
		for _, p := range crawls[i].pages {
			if p.withdrawn || told[p.url] {
				continue
			}
			told[p.url] = true
			for _, url := range p.links {
				end := crawls[i].endOf(url)
				to, ok := ids[end]
				for j := range crawls {
					if other := crawls[j].endOf(end); !ok && other != end && crawls[j].page(other) != nil {
						to, ok = ids[other], true
					}
				}
				if from := ids[p.url]; ok && from != to {
					pairs = append(pairs, [2]int{from, to})
				}
			}
		}
	}
	slices.SortFunc(pairs, func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	for _, p := range slices.Compact(pairs) {
		links = append(links, row(p[0], p[1]))
	}
	return links
}

func row(values ...any) string {
	parts := make([]string, 0, len(values))
	for _, v := range values {
		parts = append(parts, fmt.Sprint(v))
	}
	return strings.Join(parts, "\t")
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	b := testkit.Call(os.ReadFile(path)).Must(t)
	return b
}
