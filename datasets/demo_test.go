package datasets

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

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

func demoRows(t testing.TB) (*Set, []*Example) {
	t.Helper()
	s, err := Open("demo", Options{})
	if err != nil {
		t.Fatal(err)
	}
	var rows []*Example
	for e, err := range s.Examples() {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, e)
	}
	return s, rows
}

// TestDemoShape checks the claims of docs/datasets.md.
func TestDemoShape(t *testing.T) {
	_, rows := demoRows(t)
	themes := map[string]map[string]bool{} // of a host's articles
	hosts, kinds, labels, cats := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	train := 0
	for _, e := range rows {
		u, err := url.Parse(e.URL)
		if err != nil || !strings.HasSuffix(u.Host, ".test") {
			t.Errorf("%s: %v, want a host below .test", e.URL, err)
		}
		hosts[u.Host]++
		kinds[e.Fields["kind"]]++
		labels[e.Labels[0]]++
		if e.Fields["kind"] == "article" {
			if themes[u.Host] == nil {
				themes[u.Host] = map[string]bool{}
			}
			themes[u.Host][e.Label] = true
			if len(e.Labels) > 1 {
				cats[e.Labels[1]]++
			} else {
				cats[e.Labels[0]]++
			}
			if e.Split == "train" {
				train++
			}
		}
		if k := e.Fields["kind"]; (k == "nav" || k == "directory" || k == "private") && e.Labels[0] != "other" {
			t.Errorf("%s: a %s page has label %s, want other", e.URL, k, e.Labels[0])
		}
		if e.Split != "train" && e.Split != "test" {
			t.Errorf("%s: split %q", e.URL, e.Split)
		}
	}
	t.Logf("%d pages of %d hosts; kinds %v; labels %v; articles %v", len(rows), len(hosts), kinds, labels, cats)
	mixed := 0
	for _, of := range themes {
		if len(of) > 1 {
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
	if len(cats) != 12 {
		t.Errorf("articles %v, want eleven categories and other", cats)
	}
	for section, n := range cats {
		if n < 12 {
			t.Errorf("category %s has %d articles, want 12 at least", section, n)
		}
	}
	if cats["other"] < 60 {
		t.Errorf("%d articles off topic, want 60 at least", cats["other"])
	}
	if n := kinds["article"]; train*100 < 48*n || train*100 > 56*n {
		t.Errorf("%d of %d articles train, want about half", train, n)
	}
}

// TestDemoLinks parses the links back from the markup and measures their proportions.
func TestDemoLinks(t *testing.T) {
	s, rows := demoRows(t)
	labels, kinds := map[string]string{}, map[string]string{}
	for _, e := range rows {
		labels[e.URL], kinds[e.URL] = e.Labels[0], e.Fields["kind"]
	}
	var all, same, labelled, onTheme, dead int
	pairs := map[Link]bool{} // in the markup, between pages
	for _, e := range rows {
		for _, to := range anchors(t, e.URL, e.HTML) {
			u, _ := url.Parse(to)
			from, _ := url.Parse(e.URL)
			all++
			if _, ok := labels[to]; ok && to != e.URL {
				pairs[Link{e.URL, to}] = true
			}
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
	for l, err := range s.Links() {
		if err != nil {
			t.Fatal(err)
		}
		if !pairs[l] && kinds[l.Src] != "print" { // print versions are listed with the links of their site's frame
			t.Errorf("links.tsv has %v, which no page has, or twice", l)
		}
		delete(pairs, l)
	}
	for l := range pairs {
		t.Errorf("links.tsv lacks %v", l)
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

// TestDemoText checks that a parser finds each article's text: its title and some hundred words.
func TestDemoText(t *testing.T) {
	_, rows := demoRows(t)
	titles := map[string]bool{}
	for _, e := range rows {
		if e.Fields["kind"] != "article" {
			continue
		}
		p, err := e.Page()
		if err != nil {
			t.Fatal(err)
		}
		titles[e.Title] = true
		if !strings.Contains(p.Text, e.Title) {
			t.Errorf("%s: the text lacks the title %q", e.URL, e.Title)
		}
		if n := len(strings.Fields(p.Text)); n < 100 || n > 350 {
			t.Errorf("%s: %d words, want 100 to 350", e.URL, n)
		}
	}
	if len(titles) != 218 {
		t.Errorf("%d articles, want 218", len(titles))
	}
}

// TestDemoTraps checks that each trap yields a hundred distinct pages.
func TestDemoTraps(t *testing.T) {
	set, _ := demoRows(t)
	entry := map[string]string{
		"http://townhall.test/calendar/": "http://townhall.test/calendar/2025/06",
		"http://board.test/threads":      "http://board.test/threads?visit=1",
	}
	for _, trap := range set.Web().Traps {
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

// TestDemoLinked checks that URLs are unique and every page is linked.
func TestDemoLinked(t *testing.T) {
	_, rows := demoRows(t)
	linked, urls := map[string]bool{}, map[string]bool{}
	for _, e := range rows {
		if urls[e.URL] {
			t.Errorf("%s stands twice", e.URL)
		}
		urls[e.URL] = true
		for _, to := range anchors(t, e.URL, e.HTML) {
			linked[to] = true
		}
	}
	for _, e := range rows {
		if !linked[e.URL] && e.Fields["kind"] != "private" {
			t.Errorf("no link leads to %s", e.URL)
		}
	}
}
