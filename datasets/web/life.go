package web

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"
)

// ChangePlan controls how pages change over time. The zero value changes nothing.
type ChangePlan struct {
	// Mean is the median, over pages, of the mean time between two changes of a page's text. Each page
	// changes by a Poisson process with its own rate (see Truth). 0: never.
	Mean time.Duration
	// Adverts is the change rate of a page's advert and date, as a multiple of the text's.
	Adverts float64
	// Away is the share of pages that disappear or move at times, and come back.
	Away float64
	// Wrong is the share of hosts with a false lastmod in their sitemaps: half say that every page
	// has just changed, half that none ever has.
	Wrong float64
}

// Pages' intervals are log-normal around the median, within lifeFactor of it.
const (
	lifeSigma  = 1.0
	lifeFactor = 20.0
)

// An absence alternates exponential times: present for five text intervals and absent for two, in the
// mean.
const (
	thereMeans = 5
	awayMeans  = 2
)

// absence is how a page is absent at times.
type absence string

// The kinds of absence.
const (
	never     absence = ""      // always present
	gone      absence = "gone"  // 404, or 410 on half of the pages
	movedAway absence = "moved" // 301 to another URL of the host, which has the page meanwhile
)

// Truth is how a page really changes.
type Truth struct {
	URL      string        // its Key
	Interval time.Duration // mean time between changes of the text
	Advert   time.Duration // mean time between changes of the advert; 0: never
	Absence  absence
	Lastmod  lastmod // in its host's sitemap
}

// lastmod is how truthful the lastmod of a host's sitemap is.
type lastmod string

// The kinds of lastmod.
const (
	trueLastmod   lastmod = "true"   // last change of the text
	alwaysLastmod lastmod = "always" // just now
	neverLastmod  lastmod = "never"  // long ago
)

// Truth returns how the page of a key changes.
func (w *Web) Truth(key string) Truth {
	plan := w.opt.Change
	if plan.Mean <= 0 {
		return Truth{URL: key}
	}
	rng := w.draw.source("pace", key)
	factor := math.Exp(lifeSigma * rng.NormFloat64())
	t := Truth{URL: key, Interval: max(1, time.Duration(float64(plan.Mean)*min(max(factor, 1/lifeFactor), lifeFactor)))}
	if plan.Adverts > 0 {
		t.Advert = max(1, time.Duration(float64(t.Interval)/plan.Adverts))
	}
	if key != w.first && rng.Float64() < plan.Away {
		t.Absence = gone
		if rng.Float64() < .5 && !strings.Contains(key, "?") {
			t.Absence = movedAway
		}
	}
	t.Lastmod = w.lastmodOf(key)
	return t
}

func (w *Web) lastmodOf(key string) lastmod {
	_, rest, _ := strings.Cut(key, "://")
	host, _, _ := strings.Cut(rest, "/")
	switch x := w.draw.uniform("lastmod", host); {
	case x < w.opt.Change.Wrong/2:
		return alwaysLastmod
	case x < w.opt.Change.Wrong:
		return neverLastmod
	}
	return trueLastmod
}

type moment struct {
	text, advert int64         // changes so far
	last         time.Duration // last change of either
	lastText     time.Duration
	away         bool // currently absent
}

// at returns the state of a page at a time since the start of the web.
func (w *Web) at(t Truth, since time.Duration) (m moment) {
	var lastAdvert time.Duration
	m.text, m.lastText = events(w.draw.source("text", t.URL), t.Interval, since)
	m.advert, lastAdvert = events(w.draw.source("advert", t.URL), t.Advert, since)
	m.last = max(m.lastText, lastAdvert)
	if t.Absence == never {
		return m
	}
	rng := w.draw.source("away", t.URL)
	for at := time.Duration(0); ; m.away = !m.away {
		mean := thereMeans * w.opt.Change.Mean
		if m.away {
			mean = awayMeans * w.opt.Change.Mean
		}
		if at += exponential(rng, mean); at > since {
			return m
		}
	}
}

// events counts the events of a Poisson process up to a time and returns the time of the last.
// O(events): some thousands in hours of serving.
func events(rng *rand.Rand, mean, until time.Duration) (n int64, last time.Duration) {
	if mean <= 0 {
		return 0, 0
	}
	for at := exponential(rng, mean); at <= until; at += exponential(rng, mean) {
		n, last = n+1, at
	}
	return n, last
}

func exponential(rng *rand.Rand, mean time.Duration) time.Duration {
	return max(1, time.Duration(rng.ExpFloat64()*float64(mean)))
}

// source returns a generator that depends only on seed, purpose and name.
func (d draw) source(purpose, name string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(purpose + "\x00" + name)) // a hash never fails
	return rand.New(rand.NewPCG(uint64(d), h.Sum64()))
}

// movedTo ends the URL of a moved page.
const movedTo = "?moved-here"

// sendVersion sends the current version of a page, with a text that states its revision. It answers
// conditional requests as sendPage does.
func (w *Web) sendVersion(rw http.ResponseWriter, r *http.Request, key string, en *entry) {
	if w.opt.Change.Mean <= 0 {
		w.sendPage(rw, r, en)
		return
	}
	t := w.Truth(key)
	now := w.at(t, time.Since(w.began))
	switch {
	case now.away && t.Absence == movedAway:
		redirect(rw, key+movedTo, http.StatusMovedPermanently)
		return
	case now.away:
		code := http.StatusNotFound
		if w.draw.uniform("for good", key) < .5 {
			code = http.StatusGone
		}
		problem(rw, code, "the page is gone for a while")
		return
	}
	w.sendMoment(rw, r, en, now)
}

// sendMoved serves the temporary URL of a moved page. It returns false if key is not one.
func (w *Web) sendMoved(rw http.ResponseWriter, r *http.Request, key string) bool {
	home, is := strings.CutSuffix(key, movedTo)
	if !is || w.opt.Change.Mean <= 0 {
		return false
	}
	t := w.Truth(home)
	now := w.at(t, time.Since(w.began))
	en, _, ok := w.find(home)
	if !ok || !now.away || t.Absence != movedAway {
		return false
	}
	w.sendMoment(rw, r, &en, now)
	return true
}

func (w *Web) sendMoment(rw http.ResponseWriter, r *http.Request, en *entry, now moment) {
	if now.text == 0 && now.advert == 0 {
		w.sendPage(rw, r, en)
		return
	}
	etag := fmt.Sprintf(`"%016x-%d-%d"`, en.sum, now.text, now.advert)
	modified := w.began.Add(now.last)
	rw.Header().Set("Etag", etag)
	rw.Header().Set("Last-Modified", modified.UTC().Format(http.TimeFormat))
	if unchanged(r, etag, modified) {
		rw.WriteHeader(http.StatusNotModified)
		return
	}
	rw.Header().Set("Content-Type", en.contentType())
	send(rw, r, revised(w.spool.read(en), en.text, now))
}

// revised writes the revision number into the longest text, which extractors take for the main text,
// and the advert's number at the end of the page.
func revised(body []byte, plain bool, now moment) []byte {
	if plain {
		return fmt.Appendf(body, "\nRevision %d of this page.\n", now.text)
	}
	var out bytes.Buffer
	begin, end := longestText(body), len(body)
	if i := bytes.LastIndex(body, []byte("</body")); i >= begin {
		end = i
	}
	out.Write(body[:begin])
	if now.text > 0 {
		sentence := "By revision %d of this page, its authors have come to see the whole matter in another light. "
		if begin == len(body) {
			sentence = "<p>" + sentence
		}
		fmt.Fprintf(&out, sentence, now.text)
	}
	out.Write(body[begin:end])
	if now.advert > 0 {
		day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, int(now.advert%3650))
		fmt.Fprintf(&out, "\n<div class=\"ad sponsored\"><a href=\"/offers\">Offer %d: buy now</a></div><div class=\"footer\">Page made on %s</div>\n", now.advert, day.Format("2 January 2006"))
	}
	out.Write(body[end:])
	return out.Bytes()
}

// longestText returns the start of the longest text between two tags, or the end of the page. Old pages
// keep their text in table cells rather than paragraphs.
func longestText(body []byte) (begin int) {
	begin = len(body)
	longest, at := 0, max(0, bytes.Index(body, []byte("<body")))
	for {
		tag := bytes.IndexByte(body[at:], '<')
		if tag < 0 {
			return begin
		}
		name := body[at+tag+1:]
		closing := bytes.IndexByte(name, '>')
		if closing < 0 {
			return begin
		}
		at += tag + 1 + closing + 1
		text := bytes.IndexByte(body[at:], '<')
		if text < 0 {
			text = len(body) - at
		}
		if text > longest && !bytes.HasPrefix(name, []byte("s")) && !bytes.HasPrefix(name, []byte("title")) && !bytes.HasPrefix(name, []byte("!--")) { // <script, <style
			longest, begin = text, at
		}
	}
}

type truthLine struct {
	URL     string   `json:"url"`
	Seconds float64  `json:"interval_seconds"`        // mean time between changes of the text
	Advert  *float64 `json:"advert_interval_seconds"` // of the advert; null: never
	Absence absence  `json:"absence"`                 // "", gone or moved
	Lastmod lastmod  `json:"lastmod"`                 // of its host's sitemap: true, always or never
	There   float64  `json:"there_seconds,omitempty"` // mean time present
	Away    float64  `json:"away_seconds,omitempty"`  // mean time absent
}

// WriteTruth writes one JSON object per page with its true change rates, for judging a recrawl. It
// writes nothing if pages do not change.
func (w *Web) WriteTruth(to io.Writer) error {
	if w.opt.Change.Mean <= 0 {
		return nil
	}
	enc := json.NewEncoder(to)
	for _, key := range w.index.Keys() {
		t := w.Truth(key)
		line := truthLine{URL: key, Seconds: t.Interval.Seconds(), Absence: t.Absence, Lastmod: t.Lastmod}
		if t.Advert > 0 {
			seconds := t.Advert.Seconds()
			line.Advert = &seconds
		}
		if t.Absence != never {
			line.There, line.Away = thereMeans*w.opt.Change.Mean.Seconds(), awayMeans*w.opt.Change.Mean.Seconds()
		}
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

// draw is a seed. Its numbers depend only on seed, purpose and name, not on the order of calls.
type draw uint64

func (d draw) uniform(purpose, name string) float64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d\x00%s\x00%s", uint64(d), purpose, name)
	x := h.Sum64() // splitmix64 finaliser: FNV's high bits are weak on short names
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	x ^= x >> 31
	return float64(x>>11) / (1 << 53)
}

// around returns 0.5 to 1.5 times the mean, uniform over names.
func (d draw) around(mean time.Duration, purpose, name string) time.Duration {
	return time.Duration(float64(mean) * (0.5 + d.uniform(purpose, name)))
}

func (d draw) letters(purpose, name string) string {
	n := uint64(d.uniform(purpose, name) * 8_031_810_176) // 26⁷
	made := make([]byte, 7)
	for i := range made {
		made[i] = byte('a' + n%26)
		n /= 26
	}
	return string(made)
}

// shuffle orders parts at random, independently of their input order.
func (d draw) shuffle(purpose, name string, parts []string) {
	rank := make(map[string]float64, len(parts))
	for _, p := range parts {
		rank[p] = d.uniform(purpose, name+p)
	}
	slices.SortFunc(parts, func(a, b string) int {
		return cmp.Or(cmp.Compare(rank[a], rank[b]), strings.Compare(a, b))
	})
}
