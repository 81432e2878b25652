package propose

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"fossick/internal/page"
	"fossick/models/features"
)

func sourceOf(all ...*Candidate) Source {
	return func(yield func(*Candidate, error) bool) {
		for _, e := range all {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func about(url, text string, links ...string) *Candidate {
	e := &Candidate{URL: url, Doc: features.Doc{URL: url, Text: text}}
	for _, l := range links {
		e.Links = append(e.Links, Link{URL: l})
	}
	return e
}

func urlsOf(t testing.TB, topic Topic, opt Options, all ...*Candidate) (urls []string) {
	t.Helper()
	r, err := Propose(t.Context(), topic, sourceOf(all...), opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Proposals {
		urls = append(urls, p.URL)
	}
	return urls
}

func byText(word string) func(features.Doc) float64 {
	return func(d features.Doc) float64 {
		if strings.Contains(d.Text, word) {
			return 1
		}
		return 0.1
	}
}

func TestChoice(t *testing.T) {
	judge := Topic{Judge: byText("hive")}
	for _, c := range []struct {
		name  string
		topic Topic
		n     int
		all   []*Candidate
		want  []string
	}{
		{"on topic before off topic", judge, 1, []*Candidate{
			about("http://a.test/", "trains and rails"), about("http://b.test/", "the hive in spring")}, []string{"http://b.test/"}},
		{"a page that leads on before a dead end", judge, 1, []*Candidate{
			about("http://a.test/", "hive alpha"), about("http://b.test/", "hive beta", "http://a.test/", "http://c.test/"), about("http://c.test/", "hive gamma")},
			[]string{"http://b.test/"}},
		{"links to the topic before links to anything", judge, 1, []*Candidate{
			about("http://a.test/", "hive alpha", "http://x.test/", "http://y.test/"), about("http://b.test/", "hive beta", "http://c.test/", "http://d.test/"),
			about("http://c.test/", "hive gamma"), about("http://d.test/", "hive delta"), about("http://x.test/", "rails"), about("http://y.test/", "trains")},
			[]string{"http://b.test/"}},
		{"new targets before those that a proposal leads to", judge, 2, []*Candidate{
			about("http://a.test/", "hive one", "http://1.test/", "http://2.test/", "http://3.test/"),
			about("http://b.test/", "hive two", "http://1.test/", "http://2.test/", "http://3.test/"),
			about("http://c.test/", "hive three", "http://4.test/", "http://5.test/"),
			about("http://1.test/", "hive"), about("http://2.test/", "hive"), about("http://3.test/", "hive"), about("http://4.test/", "hive"), about("http://5.test/", "hive")},
			[]string{"http://a.test/", "http://c.test/"}},
		{"another host before the same", judge, 2, []*Candidate{
			about("http://a.test/1", "hive alpha"), about("http://a.test/2", "hive beta"), about("http://b.test/", "hive gamma")},
			[]string{"http://a.test/1", "http://b.test/"}},
		{"other words before a copy", judge, 2, []*Candidate{
			about("http://a.test/", "hive queen brood comb"), about("http://b.test/", "hive queen brood comb"), about("http://c.test/", "hive harvest honey autumn")},
			[]string{"http://a.test/", "http://c.test/"}},
		{"examples", Topic{Examples: []features.Doc{{Text: "honey bees in the hive"}, {Text: "a hive of bees makes honey"}}}, 1, []*Candidate{
			about("http://a.test/", "trains run on rails of steel"), about("http://b.test/", "bees carry honey home"), about("http://c.test/", "steel and rails")},
			[]string{"http://b.test/"}},
		{"keywords, and what goes with them", Topic{Keywords: []string{"honey"}}, 2, []*Candidate{
			about("http://a.test/", "trains run on rails of steel"), about("http://b.test/", "honey of bees in a hive"),
			about("http://c.test/", "steel and rails"), about("http://d.test/", "bees hive"), about("http://e.test/", "rails again"), about("http://f.test/", "trains again")},
			[]string{"http://b.test/", "http://d.test/"}},
		{"a phrase is more than its words", Topic{Keywords: []string{"light year"}}, 1, []*Candidate{
			about("http://a.test/", "a year of light"), about("http://b.test/", "a light year away"), about("http://c.test/", "nothing")},
			[]string{"http://b.test/"}},
		{"bare URLs by their words", Topic{Keywords: []string{"bee", "honey"}}, 2, []*Candidate{
			bareURL("http://a.test/rails/12"), bareURL("http://a.test/honey-from-bees.html"), bareURL("http://b.test/trains"), bareURL("http://b.test/Honey%20cake")},
			[]string{"http://a.test/honey-from-bees.html", "http://b.test/Honey%20cake"}},
		{"no dead end, and none off topic, to make up the number", judge, 5, []*Candidate{
			about("http://a.test/", "hive alpha"), about("http://b.test/", "hive beta", "http://c.test/"), about("http://c.test/", "hive gamma", "http://x.test/"),
			about("http://d.test/", "hive delta", "http://a.test/", "http://x.test/"), about("http://x.test/", "rails", "http://a.test/", "http://b.test/")},
			[]string{"http://b.test/", "http://d.test/"}},
		{"what the judge and the words say, before what one of them says", Topic{Keywords: []string{"stars"}, Judge: byText("bright")}, 1, []*Candidate{
			about("http://a.test/", "bright birds"), about("http://b.test/", "stars of a club"), about("http://c.test/", "bright stars in the sky"), about("http://d.test/", "rails")},
			[]string{"http://c.test/"}},
		{"a URL that comes twice counts once", judge, 5, []*Candidate{
			about("http://a.test/", "hive alpha"), about("http://a.test/", "hive alpha")}, []string{"http://a.test/"}},
	} {
		if got := urlsOf(t, c.topic, Options{N: c.n}, c.all...); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestExclude(t *testing.T) {
	got := urlsOf(t, Topic{Judge: byText("hive")}, Options{Exclude: func(u string) bool { return u == "http://a.test/" }},
		about("http://a.test/", "hive alpha"), about("http://b.test/", "hive beta"))
	if want := []string{"http://b.test/"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestNoTopic(t *testing.T) {
	if _, err := Propose(t.Context(), Topic{}, sourceOf(), Options{}); !errors.Is(err, errNoTopic) {
		t.Errorf("got %v, want ErrNoTopic", err)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Propose(ctx, Topic{Keywords: []string{"x"}}, sourceOf(about("http://a.test/", "x")), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func TestWhy(t *testing.T) {
	r, err := Propose(t.Context(), Topic{Keywords: []string{"honey", "bees"}, Judge: byText("hive")}, sourceOf(
		about("http://a.test/", "Bees in the hive", "http://b.test/", "http://c.test/"), about("http://b.test/", "a hive of bees"), about("http://c.test/", "rails"), about("http://d.test/", "more rails"),
	), Options{N: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := "relevance 1.00; bees, hive; 1 of 2 links lead to pages on topic, 1 of them to new ones"
	if len(r.Proposals) != 1 || r.Proposals[0].Why != want || r.Candidates != 4 {
		t.Errorf("got %+v, want one proposal of 4 candidates because %q", r, want)
	}
}

// randomWeb has randomly linked pages about a few words.
func randomWeb(rng *rand.Rand, n int) (all []*Candidate) {
	words := []string{"hive", "honey", "rails", "steel", "cheese", "garden"}
	for i := range n {
		var text []string
		for range 3 + rng.IntN(5) {
			text = append(text, words[rng.IntN(len(words))])
		}
		var links []string
		for range rng.IntN(6) {
			links = append(links, fmt.Sprintf("http://h%d.test/%d", rng.IntN(5), rng.IntN(n+3)))
		}
		all = append(all, about(fmt.Sprintf("http://h%d.test/%d", i%5, i), strings.Join(text, " "), links...))
	}
	return all
}

// TestChoiceAsDocumented compares the greedy choice with the formula of Propose, recomputed at each step.
func TestChoiceAsDocumented(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 1))
		web := randomWeb(rng, 5+rng.IntN(40))
		topic := Topic{Keywords: []string{"hive"}, Judge: func(d features.Doc) float64 {
			return float64(strings.Count(d.Text, "hive")) / 8
		}}
		got, err := Propose(t.Context(), topic, sourceOf(web...), Options{N: 6})
		if err != nil {
			t.Fatal(err)
		}
		want := slowChoice(t, topic, web, 6)
		for i, p := range got.Proposals {
			if i >= len(want) || p.URL != want[i].URL || math.Abs(p.Score-want[i].Score) > 1e-9 {
				t.Fatalf("seed %d, proposal %d: got %s %.6f, want %v", seed, i, p.URL, p.Score, want)
			}
		}
		if len(got.Proposals) != len(want) {
			t.Fatalf("seed %d: got %d proposals, want %v", seed, len(got.Proposals), want)
		}
	}
}

func slowChoice(t *testing.T, topic Topic, web []*Candidate, n int) (chosen []proposal) {
	c, err := collect(t.Context(), &topic, sourceOf(web...), &Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := func(l outLink) float64 { return c.target(l) }
	hub := func(k *kept, w func(outLink) float64, covers func(outLink) int) (sum float64) {
		for _, l := range k.links {
			sum += w(l) * math.Pow(0.5, float64(covers(l))) / math.Sqrt(float64(len(k.links)))
		}
		return sum
	}
	none := func(outLink) int { return 0 }
	var sum, on float64
	byKey := map[uint64]*kept{}
	for _, k := range c.pool {
		sum, on = sum+k.relevance*hub(k, r, none), on+k.relevance
		byKey[k.key] = k
	}
	saturated := func(h float64) float64 {
		if h == 0 {
			return 0
		}
		return h / (h + sum/on)
	}
	w := func(l outLink) float64 {
		if k := byKey[l.key]; k != nil {
			return k.relevance * (0.5 + 0.5*saturated(hub(k, r, none)))
		}
		return r(l)
	}
	var taken []*kept
	for range n {
		var top *kept
		best := 0.0
		for _, k := range c.pool {
			if slices.Contains(taken, k) {
				continue
			}
			leads := slices.ContainsFunc(k.links, func(l outLink) bool { return r(l) >= 0.5 })
			if len(taken) > 0 && c.links > 0 && k.known && (k.relevance < 0.5 || !leads) {
				continue
			}
			like, same := 0.0, 0
			for _, p := range taken {
				like = max(like, p.words.dot(k.words))
				if page.Host(p.url) == page.Host(k.url) {
					same++
				}
			}
			covers := func(l outLink) (n int) {
				for _, p := range taken {
					if p.key == l.key || slices.ContainsFunc(p.links, func(o outLink) bool { return o.key == l.key }) {
						n++
					}
				}
				return n
			}
			s := k.relevance * (0.2 + 0.8*saturated(hub(k, w, covers))) * math.Pow(1-min(1, like), 2) * math.Pow(0.7, float64(same))
			if s > best+1e-12 {
				top, best = k, s
			}
		}
		if top == nil {
			break
		}
		taken = append(taken, top)
		chosen = append(chosen, proposal{URL: top.url, Score: best})
	}
	return chosen
}

// TestTargetsHaveOneScale checks that a link's target has the same relevance by its own words as, where
// the source lacks it, by the same words of the link.
func TestTargetsHaveOneScale(t *testing.T) {
	web := []*Candidate{about("http://a.test/", "hive"), about("http://b.test/", "rails"), about("http://c.test/", "hive of steel and rails")}
	web[0].Links = []Link{{"http://c.test/", ""}, {"http://unknown.test/", "hive of steel and rails"}}
	c, err := collect(t.Context(), &Topic{Keywords: []string{"hive"}}, sourceOf(web...), &Options{})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(c.pool, func(k *kept) bool { return k.url == "http://a.test/" })
	links := c.pool[i].links
	if known, lacking := c.target(links[0]), c.target(links[1]); known == 0 || math.Abs(known-lacking) > 1e-6 {
		t.Errorf("relevance %v of a known target, %v of an unknown one with the same words", known, lacking)
	}
}

// TestPoolIsBounded checks that the best candidates stay and the others' relevance is kept.
func TestPoolIsBounded(t *testing.T) {
	topic := Topic{Judge: func(d features.Doc) float64 { return float64(len(d.Text)) / 100 }}
	source := func(yield func(*Candidate, error) bool) {
		rng := rand.New(rand.NewPCG(1, 1))
		for i := range 4 * pool {
			if !yield(about(fmt.Sprintf("http://h.test/%d", i), strings.Repeat("x", 1+rng.IntN(90))), nil) {
				return
			}
		}
	}
	c, err := collect(t.Context(), &topic, source, &Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.pool) != pool || c.count != 4*pool || len(c.all) != 4*pool {
		t.Errorf("got %d kept of %d candidates, %d known; want %d of %d", len(c.pool), c.count, len(c.all), pool, 4*pool)
	}
	if least := c.pool[pool-1].relevance; least < 0.6 {
		t.Errorf("the least relevance of those kept is %.2f, want the best quarter of 0.01 to 0.9", least)
	}
}

func listOf(text string) Source {
	return list(func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil })
}

func told(t testing.TB, s Source) (all []string) {
	t.Helper()
	for e, err := range s {
		if err != nil {
			t.Fatal(err)
		}
		line := e.URL + "|" + e.Words
		for _, l := range e.Links {
			line += fmt.Sprintf("|%s %s", l.URL, l.Words)
		}
		all = append(all, line)
	}
	return all
}

func TestList(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"URLs", "http://a.test/bees\r\n\n# comment\n  http://B.test/#top \n", []string{"http://a.test/bees|", "http://b.test/|"}},
		{"words", "http://a.test/1\tAll about bees\thoney\n", []string{"http://a.test/1|All about bees honey"}},
		{"links", "http://a.test/\thttp://a.test/1\tbees\nhttp://a.test/\thttp://a.test/2\nhttp://b.test/\thttp://a.test/\n",
			[]string{"http://a.test/||http://a.test/1 bees|http://a.test/2 ", "http://b.test/||http://a.test/ ", "http://a.test/1|bees", "http://a.test/2|", "http://a.test/|"}},
		{"no http URL", "ftp://a.test/\nmailto:x\nnonsense\nhttp://a.test/\n", []string{"http://a.test/|"}},
		{"nothing", "", nil},
	} {
		if got := told(t, listOf(c.text)); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestListErrors(t *testing.T) {
	for name, text := range map[string]string{"long line": "http://a.test/\n" + strings.Repeat("x", maxLine+1)} {
		var last error
		for _, err := range listOf(text) {
			last = err
		}
		if last == nil || !strings.Contains(last.Error(), "line 2") {
			t.Errorf("%s: got %v, want an error that names line 2", name, last)
		}
	}
}

// FuzzList checks that candidates are in normal form and survive a round trip.
func FuzzList(f *testing.F) {
	f.Add("http://a.test/\thttp://a.test/1\tbees\nhttp://b.test/\tword\n#\n\t\n")
	f.Fuzz(func(t *testing.T, text string) {
		var lines []string
		for e, err := range listOf(text) {
			if err != nil {
				return
			}
			if e.URL != e.Doc.URL {
				t.Errorf("URL %q, but of its text %q", e.URL, e.Doc.URL)
			}
			for _, l := range e.Links {
				lines = append(lines, e.URL+"\t"+l.URL)
			}
			if len(e.Links) == 0 {
				lines = append(lines, e.URL)
			}
		}
		for _, line := range lines {
			e, _ := parseLine(line)
			if e == nil {
				t.Fatalf("line %q names no page when it is read again", line)
			}
			again := e.URL
			for _, l := range e.Links {
				again += "\t" + l.URL
			}
			if again != line {
				t.Errorf("line %q is %q when it is read again", line, again)
			}
		}
	})
}

// FuzzStartPages checks that a file yields distinct URLs in normal form, or an error with its name.
func FuzzStartPages(f *testing.F) {
	for _, seed := range []string{
		"http://a.test/\n", "\xef\xbb\xbfhttp://a.test/\r\n\r\n# x\r\n", "\xff\xfeh\x00t\x00t\x00p\x00:\x00/\x00/\x00a\x00\n\x00", "\xfe\xff\x00h",
		"http://a.test/\x00\n", "nonsense", "http://a.test/\nHTTP://A.TEST\n", strings.Repeat("x", 1<<20+1), "\xff\xfe\x00", "\xef\xbb",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		t.Chdir(t.TempDir())
		if err := os.WriteFile("seeds", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		urls := page.NewNormalizer(nil)
		l := NewStartPages(urls)
		if err := l.addFile("seeds"); err != nil && !strings.Contains(err.Error(), "seeds:") {
			t.Errorf("%q: %v names no line", text, err)
		}
		for i, u := range l.URLs {
			if again, err := urls.Normalize(u); err != nil || again != u {
				t.Errorf("%q: start page %q is not in normal form: %q, %v", text, u, again, err)
			}
			if i > 0 && u == l.URLs[0] {
				t.Errorf("%q: %s stands there twice", text, u)
			}
		}
	})
}
