package datasets

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"fossick/internal/page"
)

func TestDemoDeterministic(t *testing.T) {
	digest := func(seed uint64) string {
		h := sha256.New()
		d := demoOf(t, seed)
		for _, p := range d.pages {
			e := p.example()
			fmt.Fprintf(h, "%q\n", []string{e.URL, e.Label, e.Split, e.Charset, e.HTML})
		}
		for _, from := range slices.Sorted(maps.Keys(d.Redirects)) {
			fmt.Fprintln(h, from, d.Redirects[from])
		}
		return fmt.Sprintf("%x", h.Sum(nil))
	}
	one, again, two := digest(1), digest(1), digest(2)
	if one != again {
		t.Error("the same seed gives different webs")
	}
	if one == two {
		t.Error("two seeds give the same web")
	}
}

func TestDemoWeb(t *testing.T) {
	s, err := Open("demo", Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := s.Web()
	longest, loops := 0, 0
	for from := range w.Redirects {
		hops, seen := 0, map[string]bool{}
		for at := from; ; hops++ {
			if seen[at] {
				loops++
				break
			}
			seen[at] = true
			r, ok := w.Redirects[at]
			if !ok {
				longest = max(longest, hops)
				break
			}
			at = r.To
		}
	}
	if longest != 3 || loops != 2 {
		t.Errorf("longest chain %d, URLs in a loop %d; want 3 and 2", longest, loops)
	}
	for _, theme := range []string{"banking", "programming", "science", "sport"} {
		if n := len(w.Starts[theme]); n < 3 {
			t.Errorf("%d start pages for %s, want 3 at least", n, theme)
		}
	}
	rows := map[string]*Example{}
	rep, err := s.Report()
	if err != nil {
		t.Fatal(err)
	}
	for e := range s.Examples() {
		rows[e.URL] = e
	}
	t.Logf("report %+v", rep)
	if rep.Duplicates < 10 {
		t.Errorf("%d exact duplicates, want 10 at least", rep.Duplicates)
	}
	for u, code := range w.Status {
		if rows[u] != nil || code < 400 {
			t.Errorf("%s has status %d and a page", u, code)
		}
	}
}

func demoOf(t testing.TB, seed uint64) *demoWeb {
	t.Helper()
	d, err := newDemoWeb(seed)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestShape checks the claims of docs/datasets.md.
func TestDemoShape(t *testing.T) {
	d := demoOf(t, 1)
	rows := d.pages
	hosts, kinds, labels, cats := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	train := 0
	for _, e := range rows {
		u, err := url.Parse(e.url())
		if err != nil || !strings.HasSuffix(u.Host, ".test") {
			t.Errorf("%s: %v, want a host below .test", e.url(), err)
		}
		hosts[u.Host]++
		kinds[e.Kind]++
		labels[e.Labels[0]]++
		if e.Kind == "article" {
			if len(e.Labels) > 1 {
				cats[e.Labels[1]]++
			} else {
				cats[e.Labels[0]]++
			}
			if e.Split == "train" {
				train++
			}
		}
		if k := e.Kind; (k == "nav" || k == "directory" || k == "private") && e.Labels[0] != "other" {
			t.Errorf("%s: a %s page has label %s, want other", e.url(), k, e.Labels[0])
		}
		if e.Split != "train" && e.Split != "test" {
			t.Errorf("%s: split %q", e.url(), e.Split)
		}
	}
	t.Logf("%d pages of %d hosts; kinds %v; labels %v; articles %v", len(rows), len(hosts), kinds, labels, cats)
	mixed := 0
	for _, s := range d.sites {
		if s.theme() == "" && len(s.articles) > 0 {
			mixed++
		}
	}
	if mixed != 8 {
		t.Errorf("%d sites mix themes, want 8", mixed)
	}
	sizes := slices.Sorted(maps.Values(hosts))
	t.Logf("host sizes %v", sizes)
	if len(hosts) < 38 || len(hosts) > 42 {
		t.Errorf("%d hosts, want about 40", len(hosts))
	}
	if sizes[len(sizes)-1] < 3*sizes[0] {
		t.Errorf("host sizes %v, want them uneven", sizes)
	}
	for section := range themesOf() {
		if cats[section] < 12 {
			t.Errorf("category %s has %d articles, want 12 at least", section, cats[section])
		}
	}
	if cats["other"] < 60 {
		t.Errorf("%d articles off topic, want 60 at least", cats["other"])
	}
	if n := kinds["article"]; train*100 < 48*n || train*100 > 56*n {
		t.Errorf("%d of %d articles train, want about half", train, n)
	}
}

// TestLinks parses the links back from the markup and measures their proportions.
func TestDemoLinks(t *testing.T) {
	d := demoOf(t, 1)
	rows := d.pages
	labels := map[string]string{}
	for _, e := range rows {
		labels[e.url()] = e.Labels[0]
	}
	var all, same, labelled, onTheme, dead int
	for _, e := range rows {
		for _, to := range anchors(t, e.url(), e.HTML) {
			u, _ := url.Parse(to)
			from, _ := url.Parse(e.url())
			all++
			if u.Host == from.Host {
				same++
			} else if label, ok := labels[to]; ok {
				labelled++
				if label == e.Labels[0] {
					onTheme++
				}
			}
			if _, ok := labels[to]; !ok {
				dead++
			}
		}
	}
	site, theme := float64(same)/float64(all), float64(onTheme)/float64(labelled)
	t.Logf("%d links, %.1f a page; %.3f stay on the site; of %d others to pages %.3f stay on the theme; %d lead to no stored page",
		all, float64(all)/float64(len(rows)), site, labelled, theme, dead)
	if site < 0.7 || site > 0.9 {
		t.Errorf("%.3f of the links stay on the site, want 0.7 to 0.9", site)
	}
	if theme < 0.45 || theme > 0.6 {
		t.Errorf("%.3f of the links to other sites stay on the theme, want about half", theme)
	}
	pairs := 0
	for range d.links() {
		pairs++
	}
	if pairs == 0 || pairs > all {
		t.Errorf("%d link pairs, want some, at most the %d links", pairs, all)
	}
}

func anchors(t *testing.T, at, markup string) []string {
	base, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	z := html.NewTokenizer(strings.NewReader(markup))
	for z.Next() != html.ErrorToken {
		tok := z.Token()
		if tok.Type != html.StartTagToken || tok.Data != "a" {
			continue
		}
		for _, a := range tok.Attr {
			if a.Key == "href" {
				u, err := base.Parse(a.Val)
				if err != nil {
					t.Errorf("%s: link %q: %v", at, a.Val, err)
					continue
				}
				out = append(out, u.String())
			}
		}
	}
	return out
}

// TestText checks that each article's prose survives rendering and parsing.
func TestDemoText(t *testing.T) {
	articles, err := readProse()
	if err != nil {
		t.Fatal(err)
	}
	byTitle := map[string]*article{}
	for _, a := range articles {
		byTitle[a.title] = a
		words := 0
		for _, p := range a.paras {
			words += len(strings.Fields(p))
		}
		if words < 100 || words > 300 {
			t.Errorf("%s/%s has %d words", a.section, a.slug, words)
		}
	}
	found := 0
	for _, e := range demoOf(t, 1).pages {
		if e.Kind != "article" {
			continue
		}
		p, err := page.Parse([]byte(e.HTML), page.ParseOptions{URL: e.url(), ContentType: "text/html; charset=utf-8"})
		if err != nil {
			t.Fatal(err)
		}
		a := byTitle[e.doc.title]
		if a == nil {
			t.Errorf("%s: no text has the title %q", e.url(), e.doc.title)
			continue
		}
		found++
		flat := strings.Join(strings.Fields(p.Text), " ")
		for _, para := range a.paras {
			if !strings.Contains(flat, para) {
				t.Errorf("%s: paragraph %.60q… is not in the page's text", e.url(), para)
			}
		}
	}
	if found != len(articles) {
		t.Errorf("%d of %d articles are in the web", found, len(articles))
	}
}

// TestTraps checks that each trap yields a hundred distinct pages.
func TestDemoTraps(t *testing.T) {
	entry := map[string]string{
		"http://townhall.test/calendar/": "http://townhall.test/calendar/2025/06",
		"http://board.test/threads":      "http://board.test/threads?visit=1",
	}
	for _, trap := range demoOf(t, 1).Traps {
		at, ok := entry[trap.Prefix]
		if !ok {
			t.Fatalf("trap %s has no entry in this test", trap.Prefix)
		}
		seen := map[string]bool{}
		for range 100 {
			body, ok := trap.Page(at)
			if again, _ := trap.Page(at); !ok || again != body {
				t.Fatalf("%s: no page, or another one each time", at)
			}
			seen[at] = true
			links := slices.DeleteFunc(anchors(t, at, body), func(u string) bool {
				return seen[u] || !strings.HasPrefix(u, trap.Prefix)
			})
			if len(links) == 0 {
				t.Fatalf("%s: the trap ends", at)
			}
			at = links[len(links)-1]
		}
		for _, bad := range []string{"x", "?visit=0", "1/2/3/", "9999999/01", "2025/13"} {
			if _, ok := trap.Page(trap.Prefix + bad); ok && bad != "1/2/3/" {
				t.Errorf("%s%s: a page, want none", trap.Prefix, bad)
			}
		}
	}
}

// TestSeeds checks on several seeds that URLs are unique and every page is linked.
func TestDemoSeeds(t *testing.T) {
	for seed := uint64(1); seed < 11; seed++ {
		rows := demoOf(t, seed).pages
		linked, urls := map[string]bool{}, map[string]bool{}
		for _, e := range rows {
			if urls[e.url()] {
				t.Errorf("seed %d: %s stands twice", seed, e.url())
			}
			urls[e.url()] = true
			for _, to := range anchors(t, e.url(), e.HTML) {
				linked[to] = true
			}
		}
		for _, e := range rows {
			if !linked[e.url()] && e.Kind != "private" {
				t.Errorf("seed %d: no link leads to %s", seed, e.url())
			}
		}
	}
}
