package main

import (
	"math"
	"slices"
	"strings"
	"time"
)

// answered is an answer with a code, with bounds of its time in milliseconds. With one worker, an answer
// arrives after the server began to send its last part and before the next request, and was requested
// after the answer before. A slow exchange may go on beside the worker, until the crawl ends.
type answered struct {
	url       string
	low, high float64
}

// besideAfter is less than the time of an exchange that goes on beside the worker.
const besideAfter = 900 * time.Millisecond

// bracketed returns the time bounds of a log's answers, for a crawl from began to ended. Requests other
// than for pages may run beside them, and bound nothing.
func bracketed(log []request, began, ended time.Time) []answered {
	millis := func(d time.Duration) float64 { return math.Floor(d.Seconds() * 1000) }
	all := make([]answered, len(log))
	before, last := began, -1
	for i, r := range log {
		if !ofPage(r) {
			continue
		}
		if last >= 0 {
			if high := r.Start.Sub(before); high < besideAfter {
				all[last].high, before = millis(high), sentAt(log[last])
			} else {
				all[last].high, before = millis(ended.Sub(before)), log[last].Start
			}
		}
		all[i] = answered{url: withoutDefaultPort(r), low: millis(sentAt(r).Sub(r.Start))}
		last = i
	}
	if last >= 0 {
		all[last].high = millis(ended.Sub(before))
	}
	return all
}

// sentAt returns a time before which the client cannot have the whole answer.
func sentAt(r request) time.Time {
	if r.Sending.IsZero() {
		return r.Start
	}
	return r.Sending
}

// ofPage tells requests for pages from those for robots.txt and the like.
func ofPage(r request) bool {
	return r.Path != "/robots.txt" && !strings.HasPrefix(r.Path, "/.well-known/")
}

// compareTimes checks that the response times in the tables lie within the bounds.
func (w *webCount) compareTimes(got statsTables) {
	var low, high []float64
	places := map[[2]string]*[3]float64{} // number, and sums of the bounds
	for _, x := range w.answers {
		low, high = append(low, x.low), append(high, x.high)
		tld, second, site := placesOf(x.url)
		for _, at := range [][2]string{{"tlds", tld}, {"second_levels", second}, {"sites", site}} {
			if places[at] == nil {
				places[at] = &[3]float64{}
			}
			places[at][0]++
			places[at][1] += x.low
			places[at][2] += x.high
		}
	}
	slices.Sort(low)
	slices.Sort(high)
	within := func(what string, v any, low, high float64) {
		if x, ok := v.(float64); !ok || x < low-1e-6 || x > high+1e-6 {
			w.t.Errorf("%s is %v, want from %v to %v", what, v, low, high)
		}
	}
	n := float64(len(low))
	all := got.row(w.t, "means", "answer ms")
	within("answers with a time", all["n"], n, n)
	if n == 0 {
		return
	}
	w.t.Logf("answers take %.2f ms in the mean, by the server's log %.2f to %.2f", all["mean"], mean(low), mean(high))
	within("mean of the times", all["mean"], mean(low), mean(high))
	m := all["mean"].(float64)
	within("their deviation", all["deviation"], root(meanSquare(low)-m*m), root(meanSquare(high)-m*m))
	for column, share := range map[string]float64{"median": 0.5, "p99": 0.99, "most": 1} {
		k := max(0, int(math.Ceil(share*n))-1)
		within(column+" of the times", all[column], math.Floor(low[k]*(1-1./128)), high[k])
	}
	below := func(sorted []float64, bound float64) float64 {
		k, _ := slices.BinarySearch(sorted, bound)
		return float64(k)
	}
	answers, last := 0.0, 0.0
	for _, row := range got.rows(w.t, "response_times") {
		answers += row["answers"].(float64)
		bound, ok := row["below_ms"].(float64)
		if !ok {
			bound = math.Inf(1)
		}
		if bound <= last {
			w.t.Errorf("response times below %v follow those below %v", bound, last)
		}
		last = bound
		within("number of answers so quick", answers, below(high, bound), below(low, bound))
		within("their share", row["up_to"], answers/n, answers/n)
	}
	within("number of answers", answers, n, n)
	for at, of := range places {
		if row := got.row(w.t, at[0], at[1]); row != nil {
			within(at[0]+", "+at[1]+": ms", row["ms_per_answer"], math.Floor(of[1]/of[0]), math.Ceil(of[2]/of[0]))
		}
	}
}

func mean(all []float64) (sum float64) {
	for _, v := range all {
		sum += v / float64(len(all))
	}
	return sum
}

func meanSquare(all []float64) (sum float64) {
	for _, v := range all {
		sum += v * v / float64(len(all))
	}
	return sum
}

func root(x float64) float64 { return math.Sqrt(max(0, x)) }
