package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fossick/datasets"
	"fossick/datasets/web"
	"fossick/internal/testkit"
	"fossick/store"
)

// TestPoliteness crawls webs of which a third misbehaves, without a proxy, so that hosts have
// addresses and some share one. It kills the crawl repeatedly, and judges it by the server's log.
// FOSSICK_REQUESTS sets the least number of requests of each web.
func TestPoliteness(t *testing.T) {
	t.Parallel()
	t.Run("linked", func(t *testing.T) {
		t.Parallel()
		beJudged(t, linkedWeb(testkit.Rounds(48, 120), 40), judgedFocus("http://h0.test/0"))
	})
	t.Run("wikispeedia", func(t *testing.T) {
		testkit.Only(t, "serves a corpus")
		t.Parallel()
		corpus := testkit.Corpus(t, "wikispeedia")
		set := testkit.Call(datasets.Open(corpus, datasets.Options{})).Must(t)
		beJudged(t, set, judgedFocus("http://h115.test/wiki/Ireland"))
	})
}

// judgedFocus returns the command line of a crawl to judge, without the flags that all have.
func judgedFocus(seed string) []string {
	return []string{"focus", "--topic", "all", "--keywords", "the,of,and", "--threshold", "0", "--max-pages", "1000000", "--seed", seed}
}

// politeDelay is the hosts' rest in TestPoliteness; an eighth of them asks for politeCrawlDelay.
const (
	politeDelay      = 50 * time.Millisecond
	politeCrawlDelay = 400 * time.Millisecond
)

func beJudged(t *testing.T, set *datasets.Set, crawl []string) {
	log := &requestLog{}
	// The latency makes it likely that a request is in flight at a kill.
	addr, _, stop, err := serveAt(t.Context(), "0.0.0.0:0", set, web.Options{
		Log: log, Latency: 10 * time.Millisecond, Disallow: 0.15, CrawlDelay: politeCrawlDelay, Faults: web.FaultPlan{Share: 0.3},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	hosts, addresses := shareAddresses(t, port)
	dir := filepath.Join(t.TempDir(), "crawl")
	args := slices.Concat(crawl, []string{
		"--json", "--quiet", "--hosts", hosts, "--allow-net", "127.0.0.0/8", "--delay", politeDelay.String(), "--timeout", "3s", "--workers", "64",
		"--store", dir,
	})
	v, j := crawlAndJudge(t, dir, log, args, func(kills []kill) mannersJudge {
		requests := slices.DeleteFunc(log.requests(t), func(r request) bool { return !strings.Contains(r.Agent, "fossick") }) // without the judge's own
		return mannersJudge{
			log: requests, kills: kills, delay: politeDelay, robots: readRobots(t, "127.0.0.1:"+port, requests),
			party: func(host string) string { return addresses[strings.TrimSuffix(host, ":80")] },
		}
	})
	v.report(t)
	slow, refused, delayed := 0, 0, 0
	for _, r := range j.log {
		if linkedSecret(r.Path) {
			t.Errorf("%s%s was asked for, to which only links with nofollow lead", r.Host, r.Path)
		}
		if r.After != "" {
			slow++
		}
	}
	for _, r := range j.robots {
		if r.code != 200 && !r.loops && (r.code < 400 || r.code >= 500) {
			refused++
		}
		if r.delay >= politeCrawlDelay {
			delayed++
		}
	}
	t.Logf("%d kills; %d hosts, %d of which do not give robots.txt, %d ask for a Crawl-delay; %d answers with Retry-After", len(j.kills), len(j.robots), refused, delayed, slow)
	if !v.longRests() || v.acrossKills == 0 || delayed == 0 {
		t.Errorf("hardly anything was there to judge: %+v", v)
	}
}

// crawlAndJudge crawls until there is enough to judge, for at most three times FOSSICK_REQUESTS.
func crawlAndJudge(t *testing.T, dir string, log *requestLog, args []string, newJudge func([]kill) mannersJudge) (v verdict, j mannersJudge) {
	most := fromEnv("FOSSICK_REQUESTS", 700)
	var kills []kill
	for want := most; want <= 3*most; want += most / 2 {
		kills = append(kills, crawlRequests(t, dir, log, args, want)...)
		j = newJudge(kills)
		if v = j.judge(); v.longRests() && v.acrossKills > 0 {
			break
		}
	}
	return v, j
}

// longRests says whether enough requests came after a lengthened rest. The bound is a number and not a
// share: only a fiftieth of the requests does, and only a number grows during a crawl.
func (v *verdict) longRests() bool { return v.waited >= min(fromEnv("FOSSICK_REQUESTS", 700)/35, 100) }

// shareAddresses writes a file for --hosts: of 300 hosts, the first thirty share ten addresses, three
// each; the others have their own.
func shareAddresses(t *testing.T, port string) (file string, addresses map[string]string) {
	t.Helper()
	addresses = map[string]string{}
	var b strings.Builder
	for i := range 300 {
		k := i
		if i < 30 {
			k = i / 3
		}
		addresses[fmt.Sprintf("h%d.test", i)] = fmt.Sprintf("127.0.%d.%d", 1+k/200, 1+k%200)
		fmt.Fprintf(&b, "h%d.test\t127.0.%d.%d:%s\n", i, 1+k/200, 1+k%200, port)
	}
	file = filepath.Join(t.TempDir(), "hosts")
	testkit.Must(t, os.WriteFile(file, []byte(b.String()), 0o644))
	return file, addresses
}

// crawlRequests runs a crawl until the log has want requests, and kills it every few hundred.
func crawlRequests(t *testing.T, dir string, log *requestLog, args []string, want int) (kills []kill) {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 2))
	for log.lines() < want || len(kills) < 2 { // two kills, so that requests lie between
		full := args
		if s, err := store.Open(dir); err == nil {
			testkit.Must(t, s.Close())
			full = append(args[:len(args):len(args)], "--resume")
		}
		from, piece := log.lines(), 100+rng.IntN(300)
		goesOn(kills)
		var began time.Time // of its requests; a kill excuses what is younger than unwritten
		killed, out := runAndKillWhen(t, full, 30*time.Second, func() bool {
			if began.IsZero() && log.lines() > from {
				began = time.Now()
			}
			return log.lines() > from+piece && time.Since(began) > unwritten+time.Second
		})
		if !killed {
			t.Logf("the crawl ended by itself after %d requests: %s", log.lines(), out)
			break
		}
		kills = append(kills, kill{at: time.Now()})
	}
	return kills
}
