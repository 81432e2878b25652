package webstats

import (
	"bytes"
	"iter"
	"strings"

	"fossick/internal/page"
)

// Source is a crawl as streams, each walked once. What one yields is valid until its next.
type Source interface {
	URLs() iter.Seq2[*URL, error]    // all that are known
	Pages() iter.Seq2[*Page, error]  // all that are stored
	Hosts() iter.Seq2[string, error] // name:port of those asked, by name
}

// URL is a URL and what became of it.
type URL struct {
	ID        uint64 // from 1, in the order of discovery
	From      uint64 // ID of the URL whose link or redirect led to it; 0 where none did
	URL       string // in normal form
	Seed      bool   // a start page
	Linked    bool   // a link of a page named it first
	Depth     int    // links from a start page
	State     string // in which it ended; "" while it waits
	Near      bool   // it is a duplicate whose content is only nearly the same
	Exchanges []Exchange
	Times     []int64 // when each exchange began, Unix milliseconds; nil where that is not known
	Headers   []Header
}

// Exchange is a request and what came of it.
type Exchange struct {
	State  string
	Code   int   // 0 where no answer came
	Millis int64 // until the last byte
}

// Header is what an answer said before its body.
type Header struct {
	Protocol string // http/1.1, h2, …
	Response []byte // lines
}

// Page is a stored page.
type Page struct {
	ID          uint64 // of its URL
	URL         string
	ContentType string
	Charset     string // "" where it was not noted
	Lang        string // "" where it is not known
	Label       string // "" where it has none
	Bytes       int64
	Packed      int64    // bytes on disk; 0 where they are not known
	Unseen      int64    // bytes that are neither text nor title; below 0 where they are not known
	Links       []uint64 // IDs of the URLs that it links to, each once
	Kinds       []int    // links on it: frames, anchors, others; nil where there are none, or no Charset
}

// The states of URLs that mean something here; the others are only counted. Their names are
// those of the journal.
const (
	stateOK        = "ok"
	stateDuplicate = "duplicate"
	stateShell     = "script_only"
	stateNone      = "none"
	stateRobots    = "robots_denied"
	stateGuard     = "guard_denied"
	stateTrap      = "trap"
)

// tried says whether the URL has an outcome as paper E counts it: a request for it was made,
// or none could be, since its host was not found or did not answer.
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

// divide takes a URL in normal form apart; path is without the slash that begins it.
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

// placeOf takes a host's name apart. The second level is the last two labels of the name, as
// co.kr; of a name of one label it is that.
func placeOf(host string) place {
	name := withoutPort(host)
	if strings.HasPrefix(name, "[") || page.EndsInNumber(name) {
		return place{top: address, second: address, site: name}
	}
	p := place{labels: strings.Count(name, ".") + 1, site: page.Site("http://" + name + "/")}
	p.top, p.second = domains(name)
	return p
}

// domainsOf returns under which top-level domain a URL in normal form is counted, and under
// which second level.
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

// serverOf returns the product that a header's first Server line begins with, without its
// version: Apache of "Apache/2.4.1 (Unix)". It is "" where there is no such line.
func serverOf(lines []byte) string {
	for first := true; len(lines) > 0; first = false {
		line, rest, _ := bytes.Cut(lines, []byte("\n"))
		lines = rest
		name, value, ok := bytes.Cut(line, []byte(":"))
		if first || !ok || !bytes.EqualFold(name, []byte("server")) {
			continue // the first line is the status
		}
		value = bytes.TrimSpace(value)
		if end := bytes.IndexAny(value, "/ (;,\t"); end >= 0 {
			value = value[:end]
		}
		return strings.ToValidUTF8(string(value[:min(len(value), longestServer)]), "")
	}
	return ""
}
