package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"fossick/datasets/web"
	"fossick/internal/fulltest"
)

// watchedWeb crawls a web whose pages change, to be watched.
func watchedWeb(t *testing.T, log *requestLog, hosts, pages int) (dir, addr string) {
	t.Helper()
	addr, _, stop, err := serveSet(t.Context(), linkedWeb(hosts, pages), web.Options{Log: log, Sitemaps: true, Change: web.ChangePlan{Mean: time.Second, Away: .2}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	dir = filepath.Join(t.TempDir(), "crawl")
	if killed, _ := runAndKill(t, killPlan{args: []string{"--seed", "http://h0.test/0"}}.command(addr, dir), 2*time.Minute); killed {
		t.Fatal("the crawl takes too long")
	}
	return dir, addr
}

func readCSV(t *testing.T, file string) (head []string, rows [][]string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil || len(all) == 0 {
		t.Fatalf("%s: %d rows, %v", file, len(all), err)
	}
	return all[0], all[1:]
}

// TestWatchFiles: tables, history in both forms and the page say what --json says.
func TestWatchFiles(t *testing.T) {
	t.Parallel()
	dir, _ := watchedWeb(t, &requestLog{}, 4, 8)
	watch(t, dir, "--rounds", "3", "--every", "300ms", "--delay", "1ms")
	out := t.TempDir()
	file := func(name string) string { return filepath.Join(out, name) }
	r := watch(t, dir, "--rounds", "0", "--csv", file("tables"), "--history", file("h.csv"), "--html", file("page.html"), "--top", "2")
	watch(t, dir, "--rounds", "0", "--history", file("h.jsonl"))

	for _, name := range []string{"seed_tld", "seed_second_level", "tld", "second_level", "depth", "link_kind"} {
		head, rows := readCSV(t, file("tables/"+name+".csv"))
		for _, row := range rows {
			g, ok := r.Intervals[name][row[0]]
			if !ok || row[1] != strconv.FormatInt(g.Pages, 10) || row[3] != strconv.FormatInt(g.Changes, 10) {
				t.Errorf("%s: %v %v, by JSON %+v", name, head, row, g)
			}
			for column, want := range map[string]*float64{"interval_days": g.Interval, "change_interval_days": g.ChangeInterval, "naive_interval_days": g.Naive} {
				cell := row[slices.Index(head, column)]
				if days, err := strconv.ParseFloat(cell, 64); want == nil != (cell == "") || want != nil && (err != nil || days / *want > 1.001 || days / *want < .999) {
					t.Errorf("%s: %s %s, by JSON %+v", row[0], column, cell, g)
				}
			}
		}
		if len(rows) != len(r.Intervals[name]) || len(rows) == 0 {
			t.Errorf("%s: %d rows, by JSON %d", name, len(rows), len(r.Intervals[name]))
		}
	}
	if _, rows := readCSV(t, file("tables/downloads.csv")); len(rows) != 4 {
		t.Errorf("S(n) has %d rows after three rounds", len(rows))
	}
	if _, rows := readCSV(t, file("tables/rounds.csv")); len(rows) != 3 || rows[0][1] != "1" || rows[0][3] != strconv.FormatInt(r.Pages, 10) {
		t.Errorf("the rounds are %v, want three of one start page and %d pages", rows, r.Pages)
	}
	content, err := os.ReadFile(file("page.html"))
	if err != nil || strings.Count(string(content), "<svg") != 7 {
		t.Errorf("%d plots, %v", strings.Count(string(content), "<svg"), err)
	}

	head, rows := readCSV(t, file("h.csv"))
	if strings.Join(head, " ") != "url depth link_kind at state code change seconds" || int64(len(rows)) != r.Pages+r.Visits {
		t.Errorf("%v, %d visits; want %d of the first and %d more", head, len(rows), r.Pages, r.Visits)
	}
	lines, err := os.ReadFile(file("h.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	changes := int64(0)
	for d := json.NewDecoder(bytes.NewReader(lines)); d.More(); {
		var line historyLine
		if err := d.Decode(&line); err != nil {
			t.Fatal(err)
		}
		for _, v := range line.Visits {
			want := []string{line.URL, strconv.Itoa(line.Depth), line.Kind, v.At, v.State, strconv.Itoa(v.Code), v.Change}
			if len(rows) == 0 || strings.Join(rows[0][:7], "|") != strings.Join(want, "|") {
				t.Fatalf("%v in CSV, %v in JSON", rows[:min(1, len(rows))], want)
			}
			rows = rows[1:]
			if v.Change == "text" {
				changes++
			}
		}
	}
	if len(rows) != 0 || changes < r.All.Changes || changes == 0 {
		t.Errorf("%d visits are in CSV alone; %d changes, by JSON %d", len(rows), changes, r.All.Changes)
	}
}

// TestForgetInARunningWatch: a watch is paused while a host is forgotten, and goes on in the
// same round. Nothing of the host is asked for again or told of, also where its sitemap named it.
func TestForgetInARunningWatch(t *testing.T) {
	t.Parallel()
	log := &requestLog{}
	pages := fulltest.Rounds(12, 60)
	dir, _ := watchedWeb(t, log, 4, pages)
	known := watch(t, dir, "--rounds", "0").Pages
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var said, errs bytes.Buffer
	ended := make(chan int, 1)
	before := log.lines()
	go func() {
		ended <- run(ctx, []string{"watch", dir, "--json", "--quiet", "--rounds", "3", "--every", "1ms", "--delay", "20ms"}, &said, &errs)
	}()
	for log.lines() < before+2*pages {
		select {
		case code := <-ended:
			t.Fatalf("the watch ended, %d: %s", code, errs.String())
		case <-time.After(5 * time.Millisecond):
		}
	}
	f := forget(t, dir, "h2.test")
	if f.Pages == 0 {
		t.Errorf("%+v", f)
	}
	answered := time.Now()
	if code := <-ended; code != exitDone {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	var r watchResult
	if err := json.Unmarshal(said.Bytes(), &r); err != nil || r.Rounds != 3 || r.Stopped != "rounds" {
		t.Fatalf("%s, %v", said.Bytes(), err)
	}
	if _, there := r.Intervals["second_level"]["h2.test"]; there || r.Pages != known-int64(f.Pages) || r.News.New != 0 && strings.Contains(strings.Join(r.News.URLs, " "), "//h2.test") {
		t.Errorf("%d pages, want those of three hosts; of the fourth %+v; %+v", r.Pages, r.Intervals["second_level"]["h2.test"], r.News)
	}
	if asked := askedSince(t, log, "h2.test", answered); len(asked) > 0 {
		t.Errorf("%v was asked for after it was forgotten", asked)
	}
}
