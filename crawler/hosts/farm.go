package hosts

import (
	"maps"
	"slices"
	"strings"
)

// A host farm is a trap of hosts instead of paths. A name server knows every
// name under a site, and a server answers each with much the same page and
// links to more such names. No host of it is ever asked often enough to be seen
// as a trap by itself. So what the first pages of hosts bring is compared
// across the hosts of a site whose names have the same pattern. A pattern that
// hardly ever brought anything new is cut off. Hosts that did bring something
// new are none of the farm, and neither are those that others vouch for: start
// pages, and what a page of another site links to.

const (
	farmAnswers   = 8    // pages of each host that count
	farmPatterns  = 2048 // in memory, and as many older ones
	farmHostPages = 50   // a host with so many stored pages is no farm's
	deepNames     = 2    // labels before the site that a pattern tells apart
)

// farms is what is known of the patterns of hosts. Sites that have a name for
// each user, as of public suffixes, are sites by themselves and never come here.
type farms struct {
	patterns trapsRecent[pattern]
	cuts     map[string]map[string]string // site → pattern of hosts → why it was cut off
}

func (f *farms) cut(site, name, why string) {
	if f.cuts[site] == nil {
		f.cuts[site] = map[string]string{}
	}
	f.cuts[site][name] = why
	f.patterns.drop(name)
}

// Watched says whether the next page of a host tells something of a farm.
func (d *Detector) Watched(h *trapsHost) bool {
	return !d.off && (h.answers < farmAnswers || !h.News) && hostPattern(h.Name, h.Site) != ""
}

// observeHost takes note of a page of a host, or of one with the content of another
// page (f nil). The cut is kept with the host whose page was once too often.
func (d *Detector) observeHost(h *trapsHost, f *Fingerprint) {
	if !d.Watched(h) {
		return
	}
	name := hostPattern(h.Name, h.Site)
	p := d.farms.patterns.of(name)
	h.News = h.News || f != nil && !p.knows(*f)
	if h.answers++; h.answers > farmAnswers {
		return
	}
	p.count(f)
	why := p.verdict("hosts like " + name)
	if why == "" || d.farms.cuts[h.Site][name] != "" {
		return
	}
	d.farms.cut(h.Site, name, why)
	h.cut(name, why)
	d.log.Warn("host farm cut off", "site", h.Site, "host", h.Name, "why", why)
}

// restoreFarms takes up the cuts that a host's record tells of: patterns of hosts
// have no slash in front, those of paths do.
func (d *Detector) restoreFarms(h *trapsHost) {
	for _, name := range slices.Sorted(maps.Keys(h.Cuts)) {
		if name[0] != '/' {
			d.farms.cut(h.Site, name, h.Cuts[name])
		}
	}
}

// HasFarms says whether hosts of a site were cut off. Of other sites, Farmed need not be
// asked.
func (d *Detector) HasFarms(site string) bool { return len(d.farms.cuts[site]) > 0 }

// Farmed says why a host with so many stored pages is taken for a farm's. It
// says "" when it is not, or when the site finder, on which a page links to it,
// vouches for it.
func (d *Detector) Farmed(h *trapsHost, pages uint64, finder string) string {
	cuts := d.farms.cuts[h.Site]
	if len(cuts) == 0 || d.off || h.News || pages >= farmHostPages {
		return ""
	}
	if finder != h.Site && len(d.farms.cuts[finder]) == 0 {
		return ""
	}
	return cuts[hostPattern(h.Name, h.Site)]
}

// hostPattern returns what the names of a site's hosts (name:port) have in
// common that were made by the same hand. A label is * if it has no digits and
// 0 if it has some; many labels are **. A port is 0 where it is none of the
// web's own. The site itself has none, "".
//
//	shop17.example.com:80 → 0.example.com    a.b.c.example.com:8080 → **.example.com:0
func hostPattern(host, site string) string {
	colon := strings.LastIndexByte(host, ':')
	name, port := host[:max(0, colon)], host[colon+1:]
	before := strings.TrimSuffix(strings.TrimSuffix(name, site), ".")
	ordinary := port == "80" || port == "443"
	if before == "" && ordinary {
		return ""
	}
	var b strings.Builder
	if strings.Count(before, ".") >= deepNames {
		b.WriteString("**.")
	} else if before != "" {
		for label := range strings.SplitSeq(before, ".") {
			if strings.ContainsAny(label, "0123456789") {
				b.WriteString("0.")
			} else {
				b.WriteString("*.")
			}
		}
	}
	b.WriteString(site)
	if !ordinary {
		b.WriteString(":0")
	}
	return b.String()
}
