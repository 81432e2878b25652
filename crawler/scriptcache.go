package crawler

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"fossick/crawler/fetch"
)

// scriptCache keeps what the scripts of pages were answered, for the pages that ask for the same: a
// host is asked once while an answer is fresh, and its rest is not spent again and again. It is
// private, as a browser's cache, and bounded by its bytes: of two halves the older is dropped when
// the younger is full. It is safe for concurrent use.
type scriptCache struct {
	mu         sync.Mutex
	young, old map[string]freshAnswer
	bytes      int // of young
}

type freshAnswer struct {
	resp  *fetch.Response
	until time.Time
}

const (
	halfCacheBytes = 16 << 20 // most of each half
	answerBytes    = 512      // of an answer beside its body and URL
)

// get returns the answer of an earlier request, nil if there is none that is fresh.
func (c *scriptCache) get(url string, now time.Time) *fetch.Response {
	c.mu.Lock()
	defer c.mu.Unlock()
	a, ok := c.young[url]
	if !ok {
		if a, ok = c.old[url]; ok && now.Before(a.until) {
			delete(c.old, url)
			c.add(url, a)
		}
	}
	if !ok || !now.Before(a.until) {
		return nil
	}
	return a.resp
}

// put keeps an answer while it is fresh.
func (c *scriptCache) put(r *fetch.Response, now time.Time) {
	fresh := freshness(r.Header, now)
	if r.State != fetch.StateOK || fresh <= 0 || len(r.Body) > halfCacheBytes/4 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := &fetch.Response{URL: r.URL, State: r.State, Code: r.Code, ContentType: r.ContentType, Body: r.Body}
	c.add(r.URL, freshAnswer{kept, now.Add(fresh)})
}

// add adds an answer to the younger half; mu is held.
func (c *scriptCache) add(url string, a freshAnswer) {
	size := len(a.resp.Body) + len(url) + answerBytes
	if c.bytes += size; c.young == nil || c.bytes > halfCacheBytes {
		c.old, c.young, c.bytes = c.young, map[string]freshAnswer{}, size
	}
	c.young[url] = a
}

// freshness is how long an answer may be used without another request (RFC 9111, section 4.2): what
// Cache-Control and Expires say, else a tenth of its age since Last-Modified; 0 for never.
func freshness(h http.Header, now time.Time) time.Duration {
	most, told := time.Duration(0), false
	for directive := range strings.SplitSeq(strings.ToLower(strings.Join(h.Values("Cache-Control"), ",")), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		switch name {
		case "no-store", "no-cache":
			return 0
		case "max-age":
			seconds, err := strconv.ParseUint(strings.Trim(value, `"`), 10, 31)
			if err != nil {
				return 0
			}
			most, told = time.Duration(seconds)*time.Second, true
		}
	}
	if strings.Contains(strings.Join(h.Values("Vary"), ","), "*") {
		return 0
	}
	date := dateIn(h, "Date")
	if date.IsZero() {
		date = now
	}
	modified := dateIn(h, "Last-Modified")
	switch {
	case told:
	case h.Get("Expires") != "": // one that is no date is in the past
		most = dateIn(h, "Expires").Sub(date)
	case !modified.IsZero():
		most = date.Sub(modified) / 10
	}
	age, _ := strconv.ParseUint(h.Get("Age"), 10, 31) // 0 for none
	return most - time.Duration(age)*time.Second
}

func dateIn(h http.Header, field string) time.Time {
	t, _ := http.ParseTime(h.Get(field)) // zero for none
	return t
}
