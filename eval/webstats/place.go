package webstats

import (
	"strings"

	"fossick/internal/page"
)

// address is what stands for the top level of a host that is an IP address.
const address = "(address)"

// place is where a host's URLs are counted.
type place struct {
	top, second, site string
	labels            int // of the host's name; 0 of an address
}

// places remembers hosts, as URLs of one mostly come in a row.
type places map[string]*place

// mostPlaces bounds them.
const mostPlaces = 1 << 13

// of returns the place of a URL in normal form.
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

// DomainsOf returns under which top-level domain a URL in normal form is counted, and under
// which second level.
func DomainsOf(url string) (top, second string) {
	_, host, _ := divide(url)
	name := withoutPort(host)
	if strings.HasPrefix(name, "[") || page.EndsInNumber(name) {
		return address, address
	}
	return domains(name)
}

// domains are the last label of a host's name, and the last two.
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
