package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"fossick/datasets"
	"fossick/datasets/web"
	"fossick/eval/monitor"
	"fossick/internal/testkit"
	"fossick/store"
)

// TestKill kills a crawl with SIGKILL at random moments and resumes it until it ends by itself, store
// after store. By the server's log, no page is missing, only requests in flight at a kill are
// repeated, and every host has its rest; after each kill the store is sound. FOSSICK_KILLS sets the
// kills of each web (by default three, on a small faulty web), FOSSICK_KILL_PAGES the least pages of
// the generated webs.
func TestKill(t *testing.T) {
	t.Parallel()
	t.Run("demo", func(t *testing.T) {
		testkit.Only(t, "kills many processes")
		t.Parallel()
		set := demoSet(t)
		killOften(t, killPlan{set: set, args: append(demoSeeds(t), "--exclude", `[?&]|/calendar/|/threads`)})
	})
	hosts := testkit.Rounds(20, 50)
	pages := (fromEnv("FOSSICK_KILL_PAGES", testkit.Rounds(200, 1000)) + hosts - 1) / hosts
	seed := []string{"--seed", "http://h0.test/0"}
	t.Run("linked", func(t *testing.T) {
		testkit.Only(t, "kills many processes")
		t.Parallel()
		killOften(t, killPlan{set: linkedWeb(hosts, pages), args: seed})
	})
	t.Run("faulty", func(t *testing.T) { // faults that no time limit ends, and that cause no long back-off
		t.Parallel()
		killOften(t, killPlan{set: linkedWeb(hosts, pages), args: seed, faults: web.FaultPlan{Share: 0.1, Names: []string{
			"redirect-self", "redirect-chain", "redirect-private", "status-403", "busy-503", "binary", "wrong-charset",
			"long-body", "endless-body", "endless-chunks", "reset", "gzip-bomb", "unclosed",
		}}})
	})
	t.Run("agents", func(t *testing.T) {
		testkit.Only(t, "kills many processes")
		t.Parallel()
		killOften(t, killPlan{set: linkedWeb(hosts, pages), args: seed, agents: 3})
	})
	t.Run("wikispeedia", func(t *testing.T) {
		if os.Getenv("FOSSICK_KILLS") == "" {
			t.Skip("takes minutes; scripts/kill.sh runs it, by FOSSICK_KILLS")
		}
		corpus := testkit.Corpus(t, "wikispeedia")
		set := testkit.Call(datasets.Open(corpus, datasets.Options{})).Must(t)
		killOften(t, killPlan{set: set, args: []string{"--seed", "http://h115.test/wiki/Ireland"}})
	})
}

// TestKillMix is TestKill for a mix of orderings. With one worker and no rests the order is that of a
// crawl without kills; two agents find the same pages.
func TestKillMix(t *testing.T) {
	t.Parallel()
	set, args, mix := linkedWeb(20, 10), []string{"--seed", "http://h0.test/0"}, "mcs*0.3+backlink*0.3+relevance*0.4"
	t.Run("order", func(t *testing.T) {
		t.Parallel()
		killOften(t, killPlan{set: set, args: args, order: mix, alone: true})
	})
	t.Run("agents", func(t *testing.T) {
		t.Parallel()
		killOften(t, killPlan{set: set, args: args, order: mix, agents: 2})
	})
}

func fromEnv(name string, def int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return def
}

const killWorkers = 8

// killPlan is a web to crawl under kills.
type killPlan struct {
	set    *datasets.Set
	survey bool // else a crawl for a topic
	args   []string
	also   string // the value of --also
	faults web.FaultPlan
	agents int // each with its own store; 0 is a crawl without agents

	order string // a mix; "" orders by relevance
	alone bool   // with one worker and no rests, so that the order is always the same
}

func (p killPlan) manners() (workers int, rest time.Duration) {
	if p.alone {
		return 1, 0
	}
	return killWorkers, killRest
}

func (p killPlan) stores(dir string) (dirs []string) {
	if p.agents == 0 {
		return []string{dir}
	}
	for i := range p.agents {
		dirs = append(dirs, store.AgentDir(dir, i))
	}
	return dirs
}

// differences returns the first lines that only one of two sorted lists has.
func differences(got, want []string) string {
	var b strings.Builder
	tell := func(what string, list, other []string) {
		has := map[string]bool{}
		for _, line := range other {
			has[line] = true
		}
		list = slices.DeleteFunc(slices.Clone(list), func(line string) bool { return has[line] })
		fmt.Fprintf(&b, "%d %s: %q\n", len(list), what, list[:min(9, len(list))])
	}
	tell("too many", got, want)
	tell("missing", want, got)
	return b.String()
}

// command returns the command line of a crawl of the web at addr into dir. It keeps near-duplicates,
// as otherwise the stored pages depend on the order.
func (p killPlan) command(addr, dir string) []string {
	verb := []string{"focus", "--topic", "all", "--keywords", "the,of,and", "--max-pages", "1000000"}
	if p.order != "" {
		verb = append(verb, "--order", p.order)
	} else {
		verb = append(verb, "--threshold", "0")
	}
	if p.survey {
		verb = []string{"survey"}
	}
	if p.agents > 0 {
		verb = append(verb, "--agents", fmt.Sprint(p.agents))
	}
	workers, rest := p.manners()
	return slices.Concat(verb, []string{
		"--json", "--quiet", "--proxy", "http://" + addr,
		"--delay", rest.String(), "--workers", fmt.Sprint(workers), "--store", dir,
		"--also", cmp.Or(p.also, "near-duplicates"),
	}, p.args)
}

func killOften(t *testing.T, plan killPlan) {
	want := plan.crawl(t, nil) // without kills
	k := &killer{rng: rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1)), most: fromEnv("FOSSICK_KILLS", testkit.Rounds(3, 8)), at: map[string]int{}}
	stores, again := 0, 0
	for k.most > 0 {
		got := plan.crawl(t, k)
		stores++
		again += got.again
		for u, sum := range want.pages {
			if got.pages[u] != sum {
				t.Errorf("store %d: %s is stored as %q, without kills as %q", stores, u, got.pages[u], sum)
			}
		}
		if got.seeds != want.seeds {
			t.Errorf("store %d: the seed list differs from the one without kills:\n%s", stores, differences(strings.Split(got.seeds, "\n"), strings.Split(want.seeds, "\n")))
		}
		if plan.alone && !slices.Equal(got.order, want.order) {
			t.Errorf("store %d: after the kills the order is\n%v\nwithout kills\n%v", stores, got.order, want.order)
		}
		if len(got.pages) != len(want.pages) {
			t.Errorf("store %d: %d pages after the kills, want the %d of a crawl without", stores, len(got.pages), len(want.pages))
		}
	}
	n := 0
	for _, times := range k.at {
		n += times
	}
	t.Logf("%d kills (%v), %d stores of %d pages each, verify after each kill: %d errors; %d requests repeated, at most %d can have been in flight",
		n, k.at, stores, len(want.pages), k.problems, again, n*killWorkers)
}

// collected is what a complete crawl found.
type collected struct {
	pages map[string]string // checksums, by URL, of stored pages and their duplicates
	order []string          // URLs in the order in which they were stored
	again int               // repeated requests
	seeds string            // seed list for the next survey
}

// crawl crawls the plan's web to the end; k kills it on the way, unless k is nil.
func (p killPlan) crawl(t *testing.T, k *killer) collected {
	t.Helper()
	log := &requestLog{}
	addr, _ := served(t, p.set, web.Options{Log: log, Latency: 4 * time.Millisecond, Faults: p.faults})
	dir := filepath.Join(t.TempDir(), "crawl")
	var kills []kill
	if k != nil {
		kills = k.crawl(t, p.stores(dir), p.command(addr, dir), log)
	} else if killed, out := runAndKill(t, p.command(addr, dir), 5*time.Minute); killed {
		t.Fatalf("the crawl in one go takes too long: %s", out)
	}
	requests := log.requests(t)
	_, rest := p.manners()
	j := mannersJudge{log: requests, kills: kills, delay: rest, robots: readRobots(t, addr, requests)}
	j.judge().report(t)
	pages, order := map[string]string{}, []string(nil)
	for _, s := range p.stores(dir) {
		order = append(order, storedOrder(t, s)...)
		for u, sum := range checkStore(t, s) {
			if _, twice := pages[u]; twice {
				t.Errorf("%s is stored by two agents", u)
			}
			pages[u] = sum
		}
	}
	return collected{pages, order, checkRepeats(t, requests, kills), p.listed(t, dir)}
}

// kill has the times of a kill and of the next start. A request that the server began in between was
// sent before the kill.
type kill struct{ at, next time.Time }

// goesOn notes that the crawl starts again after its last kill.
func goesOn(kills []kill) {
	if n := len(kills); n > 0 {
		kills[n-1].next = time.Now()
	}
}

// resumed returns the earliest time of a request sent after the kill; a new crawl rests first.
func (k kill) resumed(rest time.Duration) time.Time {
	if k.next.IsZero() {
		return k.at.Add(rest)
	}
	return k.next.Add(rest)
}

// killer kills crawls, most times in all.
type killer struct {
	rng      *rand.Rand
	most     int
	at       map[string]int // kills by the crawl's phase
	problems int            // that verify found after kills
}

// crawl starts a crawl, kills and resumes it until it ends by itself, and returns the kills.
func (k *killer) crawl(t *testing.T, dirs []string, args []string, log *requestLog) (kills []kill) {
	t.Helper()
	dir := dirs[0]
	for {
		full := args
		for _, d := range dirs[1:] {
			sound(t, d, k)
		}
		if sound(t, dir, k) { // a kill in the first milliseconds leaves no store
			full = append(args[:len(args):len(args)], "--resume")
			k.disturb(t, dir)
		}
		before := log.lines()
		goesOn(kills)
		killed, out := k.run(t, full, log)
		if killed {
			kills = append(kills, kill{at: time.Now()})
			k.most--
			k.at[phaseOf(dir, log.lines()-before)]++
			continue
		}
		var r monitor.Result
		if err := json.Unmarshal(out, &r); err != nil || r.Stopped != "frontier_empty" {
			t.Fatalf("after %d kills: %s, %v", len(kills), out, err)
		}
		return kills
	}
}

// run starts a crawl and kills it: half of the time soon, while it makes or opens its store and fills
// its queue, else after a number of answers.
func (k *killer) run(t *testing.T, args []string, log *requestLog) (killed bool, stdout []byte) {
	t.Helper()
	if k.most <= 0 { // failed hosts are retried after a while
		return runAndKill(t, args, 5*time.Minute)
	}
	if k.rng.IntN(2) == 0 {
		return runAndKill(t, args, time.Duration(k.rng.IntN(250_000))*time.Microsecond)
	}
	answers := log.lines() + k.rng.IntN(120)
	return runAndKillWhen(t, args, 5*time.Minute, func() bool { return log.lines() > answers })
}

func phaseOf(dir string, answers int) string {
	_, err := os.Stat(filepath.Join(dir, "db", "MANIFEST"))
	switch {
	case err != nil:
		return "making the store"
	case answers == 0:
		return "starting"
	}
	return "crawling"
}

// disturb sometimes kills a verify or repair, which must change nothing.
func (k *killer) disturb(t *testing.T, dir string) {
	t.Helper()
	if k.most <= 0 || k.rng.IntN(10) > 0 {
		return
	}
	verb := []string{"verify", "repair"}[k.rng.IntN(2)]
	if killed, _ := runAndKill(t, []string{verb, dir, "--quiet"}, time.Duration(k.rng.IntN(400))*time.Millisecond); killed {
		k.at["in "+verb]++
		k.most--
	}
	sound(t, dir, k)
}

// sound verifies a store and says whether it exists.
func sound(t *testing.T, dir string, k *killer) bool {
	t.Helper()
	s, err := store.Open(dir)
	if errors.Is(err, store.ErrNone) {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	problems, err := s.Verify(t.Context())
	testkit.Must(t, errors.Join(err, s.Close()))
	for _, p := range problems {
		k.problems++
		t.Errorf("after %v kills: %s: %s", k.at, p.Key, p.What)
	}
	return true
}

func demoSeeds(t *testing.T) []string {
	t.Helper()
	set := demoSet(t)
	var seeds []string
	for _, label := range slices.Sorted(maps.Keys(set.Web().Starts)) {
		for _, u := range set.Web().Starts[label] {
			seeds = append(seeds, "--seed", u)
		}
	}
	return seeds
}

// runAndKill starts fossick and kills it after d, unless it ends before.
func runAndKill(t *testing.T, args []string, d time.Duration) (killed bool, stdout []byte) {
	t.Helper()
	return runAndKillWhen(t, args, d, func() bool { return false })
}

// runAndKillWhen is runAndKill that also kills when when returns true; it calls it every millisecond.
func runAndKillWhen(t *testing.T, args []string, d time.Duration, when func() bool) (killed bool, stdout []byte) {
	t.Helper()
	r := runFossick(t, args, d, when)
	return r.killed, r.stdout
}

type ran struct {
	killed bool
	stdout []byte // unless killed
	peak   int64  // highest resident memory, in bytes
}

func runFossick(t *testing.T, args []string, d time.Duration, when func() bool) ran {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), beMain+"=1")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &errs, 10*time.Second // a browser may hold them when it is killed
	testkit.Must(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	end, tick := time.After(d), time.NewTicker(time.Millisecond)
	defer tick.Stop()
	var err error
	var peak int64
	for waits, ticks := true, 0; waits; ticks++ {
		select {
		case <-tick.C:
			if ticks%50 == 0 {
				peak = max(peak, peakMemory(cmd.Process.Pid))
			}
			waits = !when()
		case <-end:
			waits = false
		case err = <-ended:
			if err != nil {
				t.Fatalf("fossick %v: %v\n%s%s", args, err, out.Bytes(), errs.Bytes())
			}
			return ran{stdout: out.Bytes(), peak: peak}
		}
	}
	_ = cmd.Process.Kill() // it may have ended
	if err = <-ended; err == nil {
		return ran{stdout: out.Bytes(), peak: peak}
	} else if !strings.Contains(err.Error(), "killed") {
		t.Fatalf("fossick %v: %v\n%s%s", args, err, out.Bytes(), errs.Bytes())
	}
	return ran{killed: true}
}

// peakMemory returns a process's highest resident memory in bytes, 0 without /proc. What wait reports
// includes the memory of the parent process.
func peakMemory(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	var kib int64
	if _, after, ok := strings.Cut(string(text), "VmHWM:"); ok {
		_, _ = fmt.Sscan(after, &kib) // stays 0 for a process that is ending
	}
	return kib << 10
}

// killRest is the hosts' rest in the kill tests. The crawler rests from the end of an answer, so from
// start to start there is always a whole rest, however late the server reads its clock.
const killRest = 20 * time.Millisecond

// checkRepeats counts repeated requests. Each needs a kill since the request before it, and no kill
// explains more than it had workers. The server may begin a request after the kill before which it was
// sent. Planned failures are repeated in any case.
func checkRepeats(t *testing.T, log []request, kills []kill) (again int) {
	t.Helper()
	slices.SortFunc(log, func(a, b request) int { return a.Start.Compare(b.Start) })
	last := map[string]request{}
	byKill := make([]int, len(kills))
	for _, r := range log {
		if r.Path == "/robots.txt" {
			continue
		}
		before, repeated := last[r.Host+r.Path]
		last[r.Host+r.Path] = r
		if !repeated || failed(before) || before.Fault != "" && before.Status >= 400 {
			continue
		}
		i := slices.IndexFunc(kills, func(k kill) bool { return before.Start.Before(k.resumed(killRest)) && k.at.Before(r.Start) })
		if i < 0 {
			t.Errorf("%s%s was asked for again, %v after %d %s, and no kill between", r.Host, r.Path, r.Start.Sub(before.Start), before.Status, before.Fault)
			continue
		}
		again++
		if byKill[i]++; byKill[i] == killWorkers+1 {
			t.Errorf("more requests were repeated after kill %d than the %d that can have been in flight", i+1, killWorkers)
		}
	}
	return again
}

// checkStore verifies and reads a store, and returns the checksum of each URL that is stored or a
// duplicate.
func checkStore(t *testing.T, dir string) map[string]string {
	t.Helper()
	s := testkit.Call(store.Open(dir)).Must(t)
	defer s.Close()
	if problems, err := s.Verify(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("verify: %v, %v", problems, err)
	}
	n, sums, pages := uint64(0), map[uint64]string{}, map[string]string{}
	for p := range testkit.All(t, s.Pages()) {
		if n++; p.Number != n {
			t.Errorf("page %d follows page %d", p.Number, n-1)
		}
		if body, err := s.Body(p.Number); err != nil || int64(len(body)) != p.Bytes {
			t.Errorf("page %d: %d bytes, %v; want %d", p.Number, len(body), err, p.Bytes)
		}
		sums[p.Number] = fmt.Sprintf("%x", p.Checksum)
		pages[p.URL] = sums[p.Number]
	}
	if counts, err := s.Counts(); err != nil || counts.Pages != n {
		t.Errorf("%d pages are counted, %v; there are %d", counts.Pages, err, n)
	}
	for e := range testkit.All(t, s.URLs().Ended("duplicate")) {
		pages[e.URL] = sums[e.Outcome.Page]
	}
	return pages
}

// storedOrder returns the URLs of a store's pages in the order in which they were stored.
func storedOrder(t *testing.T, dir string) (urls []string) {
	t.Helper()
	s := testkit.Call(store.Open(dir)).Must(t)
	defer s.Close()
	for p := range testkit.All(t, s.Pages()) {
		urls = append(urls, p.URL)
	}
	return urls
}
