package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jimsmart/grobotstxt"
	"golang.org/x/sync/errgroup"
)

// mannersJudge checks a crawl against docs/politeness.md by the server's log, without the crawler's
// own code: grobotstxt reads robots.txt, and the judge computes the rests.
type mannersJudge struct {
	log    []request        // in any order
	kills  []kill           // in order
	delay  time.Duration    // --delay
	robots map[string]rules // nil: check only that robots.txt comes first
	// party returns what counts as one party: the host (nil), or its address.
	party func(host string) string
}

// rules is a host's robots.txt as served.
type rules struct {
	text  string
	code  int  // 0 when there was no answer
	loops bool // it redirects to itself
	delay time.Duration
}

type verdict struct {
	offences    []string
	requests    int
	parties     int
	waited      int           // gaps that Retry-After, Crawl-delay or a back-off made longer
	leastGap    time.Duration // from the last part of an answer to the next request
	leastOver   float64       // least gap from start to start, as a share of the rest that was due
	acrossKills int           // gaps that contain a kill
}

// judge checks each party's and each host's requests in the order of their starts.
func (j *mannersJudge) judge() verdict {
	slices.SortFunc(j.log, func(a, b request) int { return a.Start.Compare(b.Start) })
	v := verdict{requests: len(j.log), leastGap: time.Hour, leastOver: 1e9}
	party := j.party
	if party == nil {
		party = func(host string) string { return host }
	}
	byParty, byHost := map[string][]request{}, map[string][]request{}
	for _, r := range j.log {
		byParty[party(r.Host)] = append(byParty[party(r.Host)], r)
		byHost[r.Host] = append(byHost[r.Host], r)
	}
	v.parties = len(byParty)
	for _, log := range byParty {
		j.judgeRests(&v, log, func(request) (rest, afterKill time.Duration) { return j.delay, j.delay })
	}
	for _, log := range byHost {
		j.judgeRests(&v, log, j.wishes())
	}
	j.judgeRobots(&v)
	slices.Sort(v.offences)
	return v
}

// startsIn is less than what a crawl needs from its start to its first request, beside the rest.
const startsIn = 50 * time.Millisecond

func (v *verdict) offence(format string, args ...any) {
	v.offences = append(v.offences, fmt.Sprintf(format, args...))
}

// judgeRests checks one party's requests against the delay, or one host's against its own wishes:
// no two overlap, and the rest that is due follows each. A rest begins at the end of an answer, so
// there is a whole rest from start to start, however late the server reads its clock. The server may
// note an end late, so gaps count from when it began to send the last part.
func (j *mannersJudge) judgeRests(v *verdict, log []request, dueAfter func(request) (rest, afterKill time.Duration)) {
	for i, r := range log {
		if i == 0 {
			continue
		}
		before := log[i-1]
		due, afterKill := dueAfter(before)
		if due == 0 && afterKill == 0 {
			continue // only the party's rest applies
		}
		if kill, cut := j.cutOff(before); cut && r.Start.After(kill.resumed(j.delay+startsIn)) {
			// The server finished it alone. A resumed crawl does not know of it and rests first; requests
			// that began earlier were sent before the kill, and a busy server noted them late.
			v.acrossKills++
			if r.Start.Before(kill.resumed(afterKill)) {
				v.offence("%s%s came %v after the kill, want %v", r.Host, r.Path, r.Start.Sub(kill.resumed(0)), afterKill)
			}
			continue
		}
		if due > j.delay {
			v.waited++
		}
		gap, step := r.Start.Sub(before.handedOver()), r.Start.Sub(before.Start)
		v.leastGap, v.leastOver = min(v.leastGap, gap), min(v.leastOver, step.Seconds()/max(due.Seconds(), 1e-9))
		switch {
		case gap < 0 && !brokenOff(before):
			v.offence("%s%s came while %s%s (%s) was under way: %v before its last part", r.Host, r.Path, before.Host, before.Path, before.Fault, -gap)
		case step < due:
			v.offence("%s%s came %v after %s%s (%d %s) began, want a rest of %v", r.Host, r.Path, step, before.Host, before.Path, before.Status, before.Fault, due)
		case before.Fault == "" && gap < due:
			v.offence("%s%s came %v after the last part of %s%s, want a rest of %v", r.Host, r.Path, gap, before.Host, before.Path, due)
		}
	}
}

// wishes returns the rests beyond the delay that a host is due, request by request, 0 for none.
func (j *mannersJudge) wishes() func(r request) (rest, afterKill time.Duration) {
	failures := 0 // in a row
	return func(r request) (rest, afterKill time.Duration) {
		if rest = j.due(r, &failures); rest <= j.delay {
			rest = 0
		}
		if delay := j.robots[r.Host].delay; delay > j.delay && r.Path != "/robots.txt" { // after robots.txt, its rules may be lost too
			afterKill = delay
		}
		return rest, afterKill
	}
}

// handedOver returns when the server began the last part of the answer, or the answer if it has no body.
func (r request) handedOver() time.Time {
	if r.Sending.IsZero() {
		return r.Start
	}
	return r.Sending
}

// unwritten bounds the time until an answer is stored; with a load of 27 it was 0.6 s.
const unwritten = 2 * time.Second

// cutOff returns the kill that hit a request in flight, or came before its answer was surely stored.
func (j *mannersJudge) cutOff(r request) (kill, bool) {
	for _, k := range j.kills {
		if r.Start.Before(k.resumed(j.delay)) && k.at.Before(r.End.Add(unwritten)) {
			return k, true
		}
	}
	return kill{}, false
}

// due returns the least rest of the host after r: the longest of the delay, its Crawl-delay,
// Retry-After, and after a failure a second, doubled with each further one. It updates failures.
func (j *mannersJudge) due(r request, failures *int) time.Duration {
	due := max(j.delay, j.robots[r.Host].delay, retryAfter(r))
	if _, cut := j.cutOff(r); cut || !failed(r) {
		*failures = 0
		return due
	}
	*failures++
	return max(due, time.Second<<min(*failures-1, 9))
}

// retryAfter reads the header of an answer, seconds or a date. The rest counts from the answer's end,
// so from its start it is at least as long.
func retryAfter(r request) time.Duration {
	if secs, err := strconv.Atoi(r.After); err == nil {
		return max(0, time.Duration(secs)*time.Second)
	}
	date, err := http.ParseTime(r.After)
	if err != nil {
		return 0
	}
	return max(0, date.Sub(r.End))
}

// failed says whether an answer was a temporary failure, by its status or the states of its fault.
func failed(r request) bool {
	switch r.Status {
	case 429, 500, 502, 503, 504:
		return true
	}
	f := faultNamed(r.Fault)
	if f == nil || f.Host() {
		return false
	}
	for _, state := range f.States {
		switch state {
		case "header_error", "header_timeout", "body_error", "body_timeout":
		default:
			return false
		}
	}
	return true
}

// brokenOff says whether the client ends the answer. The server goes on until it notices, so its log
// does not tell when that was.
func brokenOff(r request) bool {
	switch r.Fault {
	case "second-answer", "stays-open": // the server sends on, long after the answer is over
		return true
	case "sitemap-bomb", "sitemap-endless", "sitemap-huge": // the client hangs up when it has read enough
		return true
	}
	f := faultNamed(r.Fault)
	return f != nil && slices.ContainsFunc(f.States, func(state string) bool {
		return state == "too_large" || strings.HasSuffix(state, "_timeout") || strings.HasSuffix(state, "_error")
	})
}

// judgeRobots checks that a host's first request is for robots.txt, that no request breaks its rules,
// and that a host that fails to give it gets no other.
func (j *mannersJudge) judgeRobots(v *verdict) {
	asked := map[string]bool{}
	for _, r := range j.log {
		if r.Path == "/robots.txt" {
			asked[r.Host] = asked[r.Host] || !r.End.After(r.Start.Add(time.Hour))
			continue
		}
		if !asked[r.Host] {
			v.offence("%s%s came before robots.txt", r.Host, r.Path)
			asked[r.Host] = true // one offence is enough
		}
		if j.robots == nil {
			continue
		}
		rules, known := j.robots[r.Host]
		switch {
		case !known:
			v.offence("%s: robots.txt of it is not known to the judge", r.Host)
		case rules.loops, rules.code > 200 && rules.code < 300, rules.code >= 400 && rules.code < 500 && rules.code != 429:
		case rules.code != 200:
			v.offence("%s%s came though robots.txt answers %d", r.Host, r.Path, rules.code)
		case !grobotstxt.AgentAllowed(rules.text, "fossick", "http://"+r.Host+r.Path):
			v.offence("%s%s came though robots.txt forbids it", r.Host, r.Path)
		}
	}
}

var crawlDelay = regexp.MustCompile(`(?mi)^crawl-delay:\s*([0-9.]+)\s*$`)

// readRobots fetches the robots.txt of every host in a log, by the proxy of a served web.
func readRobots(t *testing.T, proxy string, log []request) map[string]rules {
	t.Helper()
	client := &http.Client{
		Transport: &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: proxy}), DisableKeepAlives: true},
		CheckRedirect: func(_ *http.Request, via []*http.Request) error {
			if len(via) > 5 {
				return errLoops
			}
			return nil
		},
	}
	var mu sync.Mutex
	var wait errgroup.Group
	wait.SetLimit(4)
	all := map[string]rules{}
	for _, r := range log {
		mu.Lock()
		_, known := all[r.Host]
		if !known {
			all[r.Host] = rules{}
		}
		mu.Unlock()
		if known {
			continue
		}
		wait.Go(func() error {
			asked := askRobots(t.Context(), client, r.Host)
			mu.Lock()
			defer mu.Unlock()
			all[r.Host] = asked
			return nil
		})
	}
	_ = wait.Wait() // failures are in the rules
	return all
}

var errLoops = errors.New("redirects without end")

func askRobots(ctx context.Context, client *http.Client, host string) (r rules) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+strings.TrimSuffix(host, ":80")+"/robots.txt", nil)
	if err != nil {
		return rules{}
	}
	res, err := client.Do(req)
	if err != nil {
		return rules{loops: errors.Is(err, errLoops)}
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 500<<10))
	if err != nil {
		return rules{}
	}
	r = rules{text: string(body), code: res.StatusCode}
	for _, m := range crawlDelay.FindAllStringSubmatch(r.text, -1) {
		if secs, err := strconv.ParseFloat(m[1], 64); err == nil && r.code == http.StatusOK {
			r.delay = max(r.delay, time.Duration(secs*float64(time.Second)))
		}
	}
	return r
}

// report fails the test for each offence, up to ten.
func (v verdict) report(t *testing.T) {
	t.Helper()
	for _, o := range v.offences[:min(len(v.offences), 10)] {
		t.Error(o)
	}
	if n := len(v.offences); n > 10 {
		t.Errorf("%d offences in all", n)
	}
	t.Logf("%d requests of %d parties: least gap %v, least share of the rest due %.3f; %d rests longer than the delay, %d across kills",
		v.requests, v.parties, v.leastGap, v.leastOver, v.waited, v.acrossKills)
}

// checkRests judges a crawl with --delay killRest, except for the contents of robots.txt.
func checkRests(t *testing.T, log []request, kills []kill) {
	t.Helper()
	j := mannersJudge{log: log, kills: kills, delay: killRest}
	j.judge().report(t)
}

// TestJudge checks that the judge finds each kind of offence.
func TestJudge(t *testing.T) {
	at := func(ms int) time.Time { return time.Unix(1e9, 0).Add(time.Duration(ms) * time.Millisecond) }
	req := func(host, path string, start, end int) request {
		return request{Host: host, Path: path, Start: at(start), Sending: at(end), End: at(end), Status: 200}
	}
	busy := req("a:80", "/x", 200, 210)
	busy.Status, busy.After = 503, "3"
	failed := req("a:80", "/x", 200, 210)
	failed.Status = 500
	silent := req("a:80", "/x", 200, 210)
	silent.Fault = "silence"
	robots := req("a:80", "/robots.txt", 0, 10)
	party := func(string) string { return "10.0.0.1" }
	late := func(r request, sending int) request { r.Sending, r.Fault = at(sending), "x"; return r }
	for _, c := range []struct {
		name  string
		log   []request
		kills []kill
		party func(string) string
		want  string // part of the only offence, "" for none
	}{
		{name: "polite", log: []request{robots, req("a:80", "/x", 120, 130), req("a:80", "/y", 300, 310)}},
		{name: "two at once", log: []request{robots, req("a:80", "/x", 120, 530), req("a:80", "/y", 300, 310)}, want: "under way"},
		{name: "before the last part", log: []request{robots, late(req("a:80", "/x", 120, 530), 310), req("a:80", "/y", 300, 310)}, want: "under way"},
		{name: "short rest after a long answer", log: []request{robots, req("a:80", "/x", 120, 500), req("a:80", "/y", 590, 600)}, want: "want a rest of 100ms"},
		{name: "end noted late", log: []request{robots, late(req("a:80", "/x", 120, 400), 130), req("a:80", "/y", 300, 310)}},
		{name: "short rest", log: []request{robots, req("a:80", "/x", 60, 130)}, want: "want a rest of 100ms"},
		{name: "no robots.txt", log: []request{req("a:80", "/x", 120, 130)}, want: "before robots.txt"},
		{name: "forbidden", log: []request{robots, req("a:80", "/no/x", 120, 130)}, want: "forbids"},
		{name: "busy", log: []request{robots, busy, req("a:80", "/y", 3100, 3110)}, want: "want a rest of 3s"},
		{name: "busy, later", log: []request{robots, busy, req("a:80", "/y", 3300, 3310)}},
		{name: "failed", log: []request{robots, failed, req("a:80", "/y", 1100, 1110)}, want: "want a rest of 1s"},
		{name: "silent", log: []request{robots, silent, req("a:80", "/y", 1100, 1110)}, want: "want a rest of 1s"},
		{name: "crawl-delay", log: []request{req("slow:80", "/robots.txt", 0, 10), req("slow:80", "/x", 1200, 1210)}, want: "want a rest of 2s"},
		{name: "refused", log: []request{req("down:80", "/robots.txt", 0, 10), req("down:80", "/x", 1200, 1210)}, want: "answers 500"},
		{name: "another wants to rest", party: party, log: []request{robots, busy, req("b:80", "/robots.txt", 320, 330), req("a:80", "/y", 3300, 3310)}},
		{name: "busy, and another between", party: party, log: []request{robots, busy, req("b:80", "/robots.txt", 320, 330), req("a:80", "/y", 3100, 3110)}, want: "want a rest of 3s"},
		{name: "failed, and another between", party: party, log: []request{robots, failed, req("b:80", "/robots.txt", 320, 330), req("a:80", "/y", 1100, 1110)}, want: "want a rest of 1s"},
		{name: "the delay holds for all", party: party, log: []request{robots, busy, req("b:80", "/robots.txt", 290, 300)}, want: "want a rest of 100ms"},
		{name: "one address", log: []request{robots, req("b:80", "/robots.txt", 50, 60)}, party: party, want: "want a rest of 100ms"},
		{name: "two addresses", log: []request{robots, req("b:80", "/robots.txt", 50, 60)}},
		{name: "orphan", log: []request{robots, req("a:80", "/x", 120, 900), req("a:80", "/y", 460, 470)}, kills: []kill{{at(200), at(260)}}},
		{name: "sent before the kill", log: []request{robots, req("a:80", "/x", 520, 530), req("a:80", "/y", 640, 650)}, kills: []kill{{at(600), at(800)}}},
		{name: "early after a kill", log: []request{req("slow:80", "/robots.txt", 0, 10), req("slow:80", "/x", 2200, 2900), req("slow:80", "/y", 2800, 2810)}, kills: []kill{{at(2300), at(2310)}}, want: "after the kill"},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := mannersJudge{log: c.log, kills: c.kills, party: c.party, delay: 100 * time.Millisecond, robots: map[string]rules{
				"a:80": {text: "User-agent: *\nDisallow: /no/\n", code: 200}, "b:80": {code: 404},
				"slow:80": {code: 200, delay: 2 * time.Second}, "down:80": {code: 500},
			}}
			got := strings.Join(j.judge().offences, "\n")
			if strings.Contains(got, "\n") || cmp.Or(got, "none") != "none" && c.want == "" || !strings.Contains(got, c.want) {
				t.Errorf("offences:\n%s\nwant %q", got, c.want)
			}
		})
	}
}
