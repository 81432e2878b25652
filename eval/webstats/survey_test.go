package webstats

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"fossick/internal/page"
	"fossick/internal/testkit"
)

// madeSurvey is a source in memory; a URL's ID is its position.
type madeSurvey struct {
	urls  []SurveyURL
	pages []SurveyPage
	fails error // error at the end of URLs
}

func (m *madeSurvey) URLs() iter.Seq2[*SurveyURL, error] {
	return func(yield func(*SurveyURL, error) bool) {
		for i := range m.urls {
			u := m.urls[i]
			u.ID = uint64(i + 1)
			if !yield(&u, nil) {
				return
			}
		}
		if m.fails != nil {
			yield(nil, m.fails)
		}
	}
}

func (m *madeSurvey) Pages() iter.Seq2[*SurveyPage, error] {
	return func(yield func(*SurveyPage, error) bool) {
		for i := range m.pages {
			if !yield(&m.pages[i], nil) {
				return
			}
		}
	}
}

func (m *madeSurvey) Name(id uint64) (string, error) { return m.urls[id-1].URL, nil }

// web is a survey of two seeds, a.test with three pages and b.test without a start page, and URLs outside.
func web() *madeSurvey {
	return &madeSurvey{
		urls: []SurveyURL{
			{URL: "http://a.test/", Seed: true, Content: "0a0b", State: "ok", Got: true, Began: 1000, Ended: 1500},
			{URL: "http://b.test/", Seed: true, State: "code", Began: 1000, Ended: 2000},
			{URL: "http://a.test/1", From: 1, Depth: 1, State: "ok", Got: true, Began: 31000, Ended: 31500},
			{URL: "http://www.c.test/x", From: 1, Depth: 1, State: "none", Outside: true},
			{URL: "http://b.test/y", From: 3, Depth: 2, State: "none", Outside: true},
			{URL: "https://www.c.test/", From: 3, Depth: 2, State: "none", Outside: true},
			{URL: "http://a.test/2", From: 3, Depth: 2, State: "duplicate", Got: true, Began: 61000, Ended: 61250},
			{URL: "http://d.test:8080/deep", From: 7, Depth: 3, State: "none", Outside: true},
			{URL: "http://e.test/nofollow", From: 1, Depth: 1, State: "none"},
			{URL: "http://a.test/3", From: 7, Depth: 3},
		},
		pages: []SurveyPage{{Links: []uint64{3, 4, 4, 9}}, {Links: []uint64{5, 6, 4}}},
	}
}

func find(t *testing.T, src surveySource, opt SurveyOptions) (r *SurveyResult, candidates []listedSeed) {
	t.Helper()
	r = testkit.Call(FindSeeds(t.Context(), src, opt)).Must(t)
	t.Cleanup(func() { _ = r.Close() })
	for _, s := range all(t, r) {
		if s.Candidate {
			candidates = append(candidates, s)
		}
	}
	return r, candidates
}

func all(t *testing.T, r *SurveyResult) (seeds []listedSeed) {
	t.Helper()
	testkit.Must(t, r.each(t.Context(), func(s *listedSeed) error { seeds = append(seeds, *s); return nil }))
	return seeds
}

func TestFind(t *testing.T) {
	seeds := []listedSeed{
		{ID: 1, URL: "http://a.test/", Content: "0a0b", State: "ok", Pages: 3, Depth: 2, Began: 1000, Ended: 61250},
		{ID: 2, URL: "http://b.test/", State: "code", Began: 1000, Ended: 2000},
	}
	for hosts, want := range map[bool][]listedSeed{
		false: { // b.test/y is on a seed's site, but no party reached it
			{ID: 4, URL: "http://www.c.test/x", Candidate: true, FoundBy: "http://a.test/", Links: 2},
			{ID: 5, URL: "http://b.test/y", Candidate: true, FoundBy: "http://a.test/1", Links: 1},
			{ID: 8, URL: "http://d.test:8080/deep", Candidate: true, FoundBy: "http://a.test/2", Links: 1},
			{ID: 6, URL: "https://www.c.test/", Candidate: true, FoundBy: "http://a.test/1", Links: 1},
		},
		true: {
			{ID: 6, URL: "https://www.c.test/", Candidate: true, FoundBy: "http://a.test/", Links: 2},
			{ID: 5, URL: "http://b.test/y", Candidate: true, FoundBy: "http://a.test/1", Links: 1},
			{URL: "http://d.test:8080/", Candidate: true, FoundBy: "http://a.test/2", Links: 1},
		},
	} {
		r, got := find(t, web(), SurveyOptions{Seeds: []string{"http://a.test/", "http://b.test/"}, Hosts: hosts})
		if !reflect.DeepEqual(r.Seeds, seeds) || !reflect.DeepEqual(got, want) || r.Candidates != len(want) || r.Parties() != 1 {
			t.Errorf("hosts %v: %d parties, %d candidates\ngot  %+v %+v\nwant %+v %+v", hosts, r.Parties(), r.Candidates, r.Seeds, got, seeds, want)
		}
	}
}

// TestCandidatesWanted: a URL that Wants rejects is no candidate.
func TestCandidatesWanted(t *testing.T) {
	r, got := find(t, web(), SurveyOptions{Seeds: []string{"http://a.test/", "http://b.test/"}, Wants: func(u string) bool { return !strings.Contains(u, "c.test") }})
	if len(got) != 2 || r.Candidates != 2 || got[0].URL != "http://b.test/y" || got[1].URL != "http://d.test:8080/deep" {
		t.Errorf("%+v", got)
	}
}

// TestCandidatesOnDisk: more candidates than fit in memory come sorted, each once.
func TestCandidatesOnDisk(t *testing.T) {
	m := &madeSurvey{urls: []SurveyURL{{URL: "http://a.test/", Seed: true, State: "ok", Got: true}}}
	const n = 2*inMemory + 1
	for i := range n {
		m.urls = append(m.urls, SurveyURL{URL: fmt.Sprintf("http://b.test/%d", i), From: 1, State: "none", Outside: true})
	}
	m.pages = []SurveyPage{{Links: []uint64{n + 1}}, {Links: []uint64{n + 1, n}}, {Links: []uint64{n + 1, n}}}
	r, got := find(t, m, SurveyOptions{Seeds: []string{"http://a.test/", "http://b.test/7"}})
	if len(got) != n-1 || r.Candidates != n-1 || got[0].URL != m.urls[n].URL || got[0].Links != 3 || got[1].URL != m.urls[n-1].URL || got[1].Links != 2 || got[1].FoundBy != "http://a.test/" || got[1].ID != n {
		t.Errorf("%d candidates, %d, first %+v", len(got), r.Candidates, got[:2])
	}
	if !slices.IsSortedFunc(got[2:], func(a, b listedSeed) int { return strings.Compare(a.URL, b.URL) }) {
		t.Error("not in order")
	}
}

// TestCandidates: which hosts become seeds, and by which URL, with SurveyOptions.Hosts.
func TestCandidates(t *testing.T) {
	for name, c := range map[string]struct {
		change func(m *madeSurvey, opt *SurveyOptions)
		want   string
	}{
		"as they are": {func(*madeSurvey, *SurveyOptions) {}, "https://www.c.test/ http://b.test/y http://d.test:8080/"},
		"a start page out of scope": {func(_ *madeSurvey, opt *SurveyOptions) {
			opt.Wants = func(u string) bool { return !strings.HasSuffix(u, ":8080/") }
		}, "https://www.c.test/ http://b.test/y http://d.test:8080/deep"},
		"a host out of scope": {func(_ *madeSurvey, opt *SurveyOptions) {
			opt.Wants = func(u string) bool { return !strings.Contains(u, "c.test") }
		}, "http://b.test/y http://d.test:8080/"},
		"a start page that waits":   {func(m *madeSurvey, _ *SurveyOptions) { m.urls[1].State = "" }, "https://www.c.test/ http://d.test:8080/"},
		"a host that was not there": {func(m *madeSurvey, _ *SurveyOptions) { m.urls[1].State = "no_ip" }, "https://www.c.test/ http://d.test:8080/"},
		"two seeds of a host":       {func(_ *madeSurvey, opt *SurveyOptions) { opt.Seeds = append(opt.Seeds, "http://b.test/z") }, "https://www.c.test/ http://b.test/y http://d.test:8080/"},
		"another seed that was asked for": {func(m *madeSurvey, _ *SurveyOptions) {
			m.urls = append(m.urls, SurveyURL{URL: "http://b.test/z", Seed: true, State: "code"})
		}, "https://www.c.test/ http://d.test:8080/"},
		"a host that a party has reached": {func(m *madeSurvey, _ *SurveyOptions) {
			m.urls[8].URL, m.urls[8].State = "http://www.c.test/in", "robots_denied"
		}, "http://b.test/y http://d.test:8080/"},
	} {
		m, opt := web(), SurveyOptions{Seeds: []string{"http://a.test/", "http://b.test/"}, Hosts: true}
		c.change(m, &opt)
		var got []string
		_, candidates := find(t, m, opt)
		for _, s := range candidates {
			got = append(got, s.URL)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
}

// TestPartiesOracle compares random surveys with a walk from each URL to its seed.
func TestPartiesOracle(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 5))
		m := &madeSurvey{}
		n := 2 + rng.IntN(60)
		place := rng.Perm(n)
		for i := range n {
			m.urls = append(m.urls, SurveyURL{URL: fmt.Sprintf("http://h%d.test/%d", rng.IntN(4), i), Depth: rng.IntN(6), State: "ok", Got: rng.IntN(3) == 0})
		}
		for k, i := range place {
			if k < 2 || rng.IntN(8) == 0 {
				m.urls[i].Seed = true
			} else {
				m.urls[i].From = uint64(place[rng.IntN(k)] + 1)
			}
		}
		got := testkit.Call(FindSeeds(t.Context(), m, SurveyOptions{})).Must(t)
		want := map[string]int{}
		for _, u := range m.urls {
			if u.Got {
				for !u.Seed {
					u = m.urls[u.From-1]
				}
				want[u.URL]++
			}
		}
		for _, s := range got.Seeds {
			if s.Pages != want[s.URL] {
				t.Errorf("seed %d: party of %s has %d pages, want %d", seed, s.URL, s.Pages, want[s.URL])
			}
		}
	}
}

// TestLateHost: a sitemap's URL joins its host's party although it was discovered first, and so do the URLs
// that it leads to.
func TestLateHost(t *testing.T) {
	m := &madeSurvey{urls: []SurveyURL{
		{URL: "http://www.a.test/from-a-sitemap", Got: true},
		{URL: "http://www.a.test/linked", From: 1, Got: true},
		{URL: "http://a.test/", Seed: true, Got: true},
		{URL: "http://www.a.test/", From: 3, Got: true},
		{URL: "http://b.test/without-a-party", Got: true},
	}}
	if r, _ := find(t, m, SurveyOptions{}); len(r.Seeds) != 1 || r.Seeds[0].Pages != 4 {
		t.Errorf("%+v, want a party of four pages", r.Seeds)
	}
}

func TestFindErrors(t *testing.T) {
	m := web()
	m.fails = errors.New("damaged")
	if _, err := FindSeeds(t.Context(), m, SurveyOptions{}); !errors.Is(err, m.fails) {
		t.Errorf("%v, want %v", err, m.fails)
	}
}

// TestFiles: the list has one line per seed, even for hostile URLs, and the tables have the same seeds.
func TestFiles(t *testing.T) {
	m, dir := web(), t.TempDir()
	m.urls[0].URL = "http://a.test/\u0085x"
	r, _ := find(t, m, SurveyOptions{})
	list, table, lines := filepath.Join(dir, "l.txt"), filepath.Join(dir, "t.csv"), filepath.Join(dir, "t.jsonl")
	testkit.Must(t, errors.Join(r.WriteList(t.Context(), list), r.WriteTable(t.Context(), table), r.WriteTable(t.Context(), lines)))
	var want []string
	for _, s := range all(t, r) {
		want = append(want, s.URL)
	}
	var listed, rows, objects []string
	for line := range strings.Lines(read(t, list)) {
		if line[0] != '#' {
			listed = append(listed, strings.TrimSuffix(line, "\n"))
		}
	}
	records := testkit.Call(csv.NewReader(strings.NewReader(read(t, table))).ReadAll()).Must(t)
	for _, r := range records[1:] {
		rows = append(rows, r[1])
	}
	for line := range strings.Lines(read(t, lines)) {
		var r seedRow
		testkit.Must(t, json.Unmarshal([]byte(line), &r))
		objects = append(objects, r.URL)
	}
	for name, got := range map[string][]string{"list": listed, "CSV": rows, "JSON Lines": objects} {
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if err := r.WriteTable(t.Context(), filepath.Join(dir, "t.xls")); err == nil || !strings.Contains(err.Error(), ".csv or .jsonl") {
		t.Errorf("a table of another kind: %v", err)
	}
	if err := r.WriteList(t.Context(), filepath.Join(dir, "none", "l.txt")); err == nil || !strings.Contains(err.Error(), "--seeds-out") {
		t.Errorf("a list in no folder: %v", err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text := testkit.Call(os.ReadFile(path)).Must(t)
	return string(text)
}

// FuzzIsStart: only a host's root URLs are its start pages.
func FuzzIsStart(f *testing.F) {
	for _, s := range []string{"http://a.test/", "http://a.test:8080/x", "https://[::1]/", "http://a/a/", "http://test/?http://test/", "http://http/"} {
		f.Add(s)
	}
	urls := page.NewNormalizer(nil)
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := urls.Normalize(raw)
		if err != nil {
			return
		}
		name := page.HostName(u)
		want := u == "http://"+name+"/" || u == "https://"+name+"/"
		if got := isStart(u, name); got != want {
			t.Errorf("%s of %s: %v, want %v", u, name, got, want)
		}
	})
}
