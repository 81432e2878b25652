package demo

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"fossick/internal/page"
)

func made(t testing.TB, seed uint64) *Web {
	t.Helper()
	d, err := New(seed)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestShape checks the claims of docs/datasets.md.
func TestShape(t *testing.T) {
	d := made(t, 1)
	rows := d.Pages
	hosts, kinds, labels, cats := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	urls, train := map[string]bool{}, 0
	for _, e := range rows {
		if urls[e.URL()] {
			t.Errorf("%s stands twice", e.URL())
		}
		urls[e.URL()] = true
		u, err := url.Parse(e.URL())
		if err != nil || !strings.HasSuffix(u.Host, ".test") {
			t.Errorf("%s: %v, want a host below .test", e.URL(), err)
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
			t.Errorf("%s: a %s page has label %s, want other", e.URL(), k, e.Labels[0])
		}
		if e.Split != "train" && e.Split != "test" {
			t.Errorf("%s: split %q", e.URL(), e.Split)
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
func TestLinks(t *testing.T) {
	d := made(t, 1)
	rows := d.Pages
	labels := map[string]string{}
	for _, e := range rows {
		labels[e.URL()] = e.Labels[0]
	}
	var all, same, labelled, onTheme, dead int
	linked := map[string]bool{}
	for _, e := range rows {
		for _, to := range anchors(t, e.URL(), e.HTML) {
			u, _ := url.Parse(to)
			from, _ := url.Parse(e.URL())
			all++
			linked[to] = true
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
	lost := 0
	for _, e := range rows {
		if !linked[e.URL()] && e.Kind != "private" {
			lost++
			t.Logf("no link leads to %s", e.URL())
		}
	}
	if lost > 0 {
		t.Errorf("%d pages cannot be reached", lost)
	}
	pairs := 0
	for range d.Links() {
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
func TestText(t *testing.T) {
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
	for _, e := range made(t, 1).Pages {
		if e.Kind != "article" {
			continue
		}
		p, err := page.Parse([]byte(e.HTML), page.ParseOptions{URL: e.URL(), ContentType: "text/html; charset=utf-8"})
		if err != nil {
			t.Fatal(err)
		}
		a := byTitle[e.Title()]
		if a == nil {
			t.Errorf("%s: no text has the title %q", e.URL(), e.Title())
			continue
		}
		found++
		flat := strings.Join(strings.Fields(p.Text), " ")
		for _, para := range a.paras {
			if !strings.Contains(flat, para) {
				t.Errorf("%s: paragraph %.60q… is not in the page's text", e.URL(), para)
			}
		}
	}
	if found != len(articles) {
		t.Errorf("%d of %d articles are in the web", found, len(articles))
	}
}
