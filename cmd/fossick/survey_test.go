package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fossick/datasets"
	"fossick/datasets/web"
	"fossick/internal/testkit"
	"fossick/store"
)

// listed returns a survey's seed list, without the first page that led to a candidate: it varies.
func (p killPlan) listed(t *testing.T, dir string) string {
	t.Helper()
	if !p.survey {
		return ""
	}
	var b strings.Builder
	for line := range strings.Lines(readFile(t, filepath.Join(dir, "seeds-out.txt"))) {
		text, _, _ := strings.Cut(line, ", first http")
		b.WriteString(strings.TrimSpace(text) + "\n")
	}
	return b.String()
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text := testkit.Call(os.ReadFile(path)).Must(t)
	return string(text)
}

func seedFile(t *testing.T, hosts int) string {
	t.Helper()
	var b strings.Builder
	for h := range hosts {
		fmt.Fprintf(&b, "http://h%d.test/0\n", h)
	}
	path := filepath.Join(t.TempDir(), "seeds.txt")
	write(t, path, b.String())
	return path
}

// TestSurveyKill kills a survey at random moments: no visit is lost, and the seed list is the same.
func TestSurveyKill(t *testing.T) {
	t.Parallel()
	hosts, pages := testkit.Rounds(8, 40), testkit.Rounds(15, 60)
	killOften(t, killPlan{set: linkedWeb(hosts, pages), survey: true,
		args: []string{"--seeds", seedFile(t, hosts/2), "--max-depth", "7"}})
}

// TestSurveyPoliteness judges the log of a survey of a web of which a third misbehaves.
func TestSurveyPoliteness(t *testing.T) {
	testkit.Only(t, "takes a minute")
	t.Parallel()
	beJudged(t, linkedWeb(120, 40), []string{"survey", "--seeds", seedFile(t, 120)})
}

// TestSeedsTable checks that the store finds the URL and page of a row by its ID and hashes.
func TestSeedsTable(t *testing.T) {
	t.Parallel()
	addr, _ := served(t, linkedWeb(6, 5), web.Options{})
	dir, table := filepath.Join(t.TempDir(), "crawl"), filepath.Join(t.TempDir(), "seeds.jsonl")
	surveyOnce(t, "--seed", "http://h0.test/0", "--seed", "http://h1.test/nothing", "--proxy", "http://"+addr, "--delay", "0", "--store", dir, "--seeds-table", table)
	s := testkit.Call(store.Open(dir)).Must(t)
	defer s.Close()
	contents, candidates := 0, 0
	for line := range strings.Lines(readFile(t, table)) {
		var row struct {
			ID         *uint64
			URL, State string
			Hash       string  `json:"url_hash"`
			Content    *string `json:"content_hash"`
			Candidate  bool
		}
		testkit.Must(t, json.Unmarshal([]byte(line), &row))
		hash := store.HashURL(row.URL)
		seen, err := s.Lookup([]store.Hash{hash})
		if err != nil || row.Hash != fmt.Sprintf("%x", hash) || (row.ID == nil) != (seen[0].ID == 0) || row.ID != nil && store.ID(*row.ID) != seen[0].ID {
			t.Errorf("%s; the store has %x as %+v, %v", line, hash, seen, err)
		}
		if row.Candidate {
			candidates++
		}
		if (row.Content != nil) != (row.State == "ok") {
			t.Errorf("%s: a hash of content, without a page or none with one", line)
		}
		for p := range testkit.All(t, s.Pages()) {
			if p.URL == row.URL && !row.Candidate {
				if contents++; *row.Content != fmt.Sprintf("%x", p.Checksum) {
					t.Errorf("%s; the page has %x", line, p.Checksum)
				}
			}
		}
	}
	if contents != 1 || candidates == 0 {
		t.Errorf("%d hashes of content, %d candidates", contents, candidates)
	}
}

// TestSurveyFindsPages checks that the seed list has pages that only another party links to, and that
// the next survey finds them. Start pages of one host are fetched in turn, with its rest between.
func TestSurveyFindsPages(t *testing.T) {
	t.Parallel()
	log := &requestLog{}
	set := datasets.FromSeq("parties", func(yield func(*datasets.Example, error) bool) {
		for url, html := range map[string]string{
			"http://a.test/":          `<title>a</title><a href="http://b.test/lone">b</a>`,
			"http://b.test/":          `<title>b</title><a href="http://www.b.test/other">www</a>`,
			"http://b.test/lone":      `<title>lone</title>`,
			"http://www.b.test/":      `<title>www</title>`,
			"http://www.b.test/other": `<title>other</title>`,
		} {
			if !yield(&datasets.Example{URL: url, HTML: html + "<p>The page " + url}, nil) {
				return
			}
		}
	}, datasets.Options{})
	addr, _ := served(t, set, web.Options{Log: log})
	list, next := filepath.Join(t.TempDir(), "seeds.txt"), filepath.Join(t.TempDir(), "next.txt")
	write(t, list, "http://a.test/\nhttp://b.test/\nhttp://www.b.test/\n")
	args := []string{"--proxy", "http://" + addr, "--delay", "20ms", "--links", "host"}
	r := surveyOnce(t, append(args, "--seeds", list, "--store", filepath.Join(t.TempDir(), "one"), "--seeds-out", next)...)
	want := append(seedsIn(t, list), "http://b.test/lone", "http://www.b.test/other")
	if got := seedsIn(t, next); !slices.Equal(got, want) || r.Fetched != 3 {
		t.Errorf("%d pages, then the seeds %v, want %v", r.Fetched, got, want)
	}
	dir := filepath.Join(t.TempDir(), "two")
	if r = surveyOnce(t, append(args, "--seeds", next, "--store", dir)...); r.Fetched != 5 || r.Parties != 5 || r.Candidates != 0 {
		t.Errorf("%+v; want five pages in as many parties", r)
	}
	j := mannersJudge{log: log.requests(t), delay: 20e6, robots: readRobots(t, addr, log.requests(t))}
	j.judge().report(t)
}

func surveyOnce(t *testing.T, args ...string) (r struct {
	Fetched                    uint64
	Parties, Seeds, Candidates int
}) {
	t.Helper()
	testkit.Must(t, json.Unmarshal(fossick(t, append([]string{"survey", "--json", "--quiet"}, args...)...), &r))
	return r
}

// seedsIn returns the URLs of a list, and wants each once.
func seedsIn(t *testing.T, path string) (seeds []string) {
	t.Helper()
	once := map[string]bool{}
	for line := range strings.Lines(readFile(t, path)) {
		if line[0] != '#' {
			seeds = append(seeds, strings.TrimSpace(line))
			once[strings.TrimSpace(line)] = true
		}
	}
	if len(once) != len(seeds) {
		t.Errorf("%s: %d seeds, %d of them different", path, len(seeds), len(once))
	}
	return seeds
}
