package webstats

import (
	"bytes"
	"iter"
	"strings"

	"fossick/internal/page"
	"fossick/store"
)

// Source is a crawl as streams, each read once; a record is valid until the next.
type Source interface {
	URLs() iter.Seq2[*URL, error]    // all known URLs
	Pages() iter.Seq2[*Page, error]  // all stored pages
	Hosts() iter.Seq2[string, error] // requested hosts as name:port, sorted
}

// URL is a URL and its outcome.
type URL struct {
	ID        uint64 // from 1, in order of discovery
	From      uint64 // ID of the URL whose link or redirect led here; 0 for none
	URL       string // normalised
	Seed      bool   // a start page
	Linked    bool   // discovered by a link
	Depth     int    // links from the nearest start page
	State     string // final state; "" while it waits
	Near      bool   // a near-duplicate, with state duplicate
	Exchanges []Exchange
	Times     []int64 // start of each exchange, Unix milliseconds; nil when unknown
	Headers   []Header
	Rendering *store.Rendering // of a page that is not kept; nil if its scripts did not run
}

// Exchange is a request and its outcome.
type Exchange struct {
	State  string
	Code   int   // 0 without an answer
	Millis int64 // until the last byte
}

// Header is the header of an answer.
type Header struct {
	Protocol string // http/1.1, h2, …
	Response []byte // status line and header lines
}

type Page struct {
	ID          uint64 // of its URL
	URL         string
	ContentType string
	Charset     string // "" when not recorded
	Lang        string // "" when unknown
	Label       string // "" without one
	Bytes       int64
	Packed      int64            // compressed size on disk; 0 when unknown
	Unseen      int64            // bytes that are neither text nor title; negative when unknown
	Links       []uint64         // distinct IDs of linked URLs
	Rendering   *store.Rendering // what its scripts did; nil if they did not run
	Kinds       []int            // number of frames, anchors, other links; nil for none, or without Charset
}

// The journal's states that matter here; the others are only counted.
const (
	stateOK        = "ok"
	stateDuplicate = "duplicate"
	stateShell     = "script_only"
	stateNone      = "none"
	stateRobots    = "robots_denied"
	stateGuard     = "guard_denied"
	stateTrap      = "trap"
)

// tried reports whether the URL has an outcome in paper E's sense: a request, or a failed look-up or connection.
func (u *URL) tried() bool {
	switch u.State {
	case stateGuard:
		return false
	case "", stateNone, stateRobots, stateTrap:
		return u.requested()
	}
	return true
}

func (u *URL) requested() bool { return len(u.Exchanges) > 0 && u.State != stateGuard }

func (u *URL) downloaded() bool {
	for _, x := range u.Exchanges {
		if x.State == stateOK {
			return true
		}
	}
	return u.State == stateOK || u.State == stateDuplicate
}

func unaskedAs(state string) string {
	switch state {
	case "":
		return "waiting"
	case stateNone:
		return "not wanted"
	}
	return state
}

const address = "(address)"

type place struct {
	top, second, site string
	labels            int // of the host's name; 0 of an address
}

type places map[string]*place

const mostPlaces = 1 << 13

func (p places) of(url string) *place {
	_, host, _ := divide(url)
	if known := p[host]; known != nil {
		return known
	}
	if len(p) >= mostPlaces {
		clear(p)
	}
	host = strings.Clone(host)
	found := placeOf(host)
	p[host] = &found
	return p[host]
}

// divide splits a normalised URL; path has no leading slash.
func divide(url string) (scheme, host, path string) {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return "", url, ""
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		return scheme, rest, ""
	}
	return scheme, rest[:end], strings.TrimPrefix(rest[end:], "/")
}

// placeOf analyses a host name. The second level is its last two labels, such as co.kr.
func placeOf(host string) place {
	name := withoutPort(host)
	if strings.HasPrefix(name, "[") || page.EndsInNumber(name) {
		return place{top: address, second: address, site: name}
	}
	p := place{labels: strings.Count(name, ".") + 1, site: page.Site("http://" + name + "/")}
	p.top, p.second = domains(name)
	return p
}

// domainsOf returns the top-level domain and the second level of a normalised URL.
func domainsOf(url string) (top, second string) {
	_, host, _ := divide(url)
	name := withoutPort(host)
	if strings.HasPrefix(name, "[") || page.EndsInNumber(name) {
		return address, address
	}
	return domains(name)
}

func domains(name string) (top, second string) {
	top, second = name, name
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
		top = name[dot+1:]
		if before := strings.LastIndexByte(name[:dot], '.'); before >= 0 {
			second = name[before+1:]
		}
	}
	return top, second
}

func withoutPort(host string) string {
	if colon := strings.LastIndexByte(host, ':'); colon > strings.LastIndexByte(host, ']') {
		return host[:colon]
	}
	return host
}

const longestServer = 60

// serverOf returns the product of the first Server line, such as Apache for "Apache/2.4.1 (Unix)"; or "".
func serverOf(lines []byte) string {
	for first := true; len(lines) > 0; first = false {
		line, rest, _ := bytes.Cut(lines, []byte("\n"))
		lines = rest
		name, value, ok := bytes.Cut(line, []byte(":"))
		if first || !ok || !bytes.EqualFold(name, []byte("server")) {
			continue // the first line is the status line
		}
		value = bytes.TrimSpace(value)
		if end := bytes.IndexAny(value, "/ (;,\t"); end >= 0 {
			value = value[:end]
		}
		return strings.ToValidUTF8(string(value[:min(len(value), longestServer)]), "")
	}
	return ""
}
