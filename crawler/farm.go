package crawler

import (
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"unicode"

	"fossick/fetch"
	"fossick/page"
	"fossick/store"
)

// A host farm is a trap of hosts instead of paths: a name server that knows every
// name under a site, and a server that answers each with much the same page and
// links to more such names. No host of it is ever asked often enough to be seen
// as a trap by itself. So what the first pages of hosts bring is compared across
// the hosts of a site whose names have the same pattern, and a pattern that
// hardly ever brought anything new is cut off. Hosts that did bring something new
// are none of the farm, and neither are those that others vouch for: start pages,
// and what a page of another site links to.

const (
	farmAnswers   = 8    // pages of each host that count
	farmHosts     = 2048 // patterns of hosts in memory, and as many older ones
	farmHostPages = 50   // a host with so many stored pages is no farm's
	deepNames     = 2    // labels before the site that a pattern tells apart
)

// farms is what is known of the patterns of hosts. Sites that have a name for
// each user, as of public suffixes, are sites by themselves and never come here.
type farms struct {
	young, old map[string]*pattern          // by pattern of hosts; old is given up when young is full
	cuts       map[string]map[string]string // site → pattern of hosts → why it was cut off
}

// pattern returns what came back from hosts whose names are alike.
func (f *farms) pattern(name string) *pattern {
	p := f.young[name]
	if p != nil {
		return p
	}
	if p = f.old[name]; p == nil {
		p = &pattern{}
	}
	if f.young == nil || len(f.young) >= farmHosts {
		f.old, f.young = f.young, map[string]*pattern{}
	}
	f.young[name] = p
	return p
}

func (f *farms) cut(site, name, why string) {
	if f.cuts == nil {
		f.cuts = map[string]map[string]string{}
	}
	if f.cuts[site] == nil {
		f.cuts[site] = map[string]string{}
	}
	f.cuts[site][name] = why
	delete(f.young, name)
	delete(f.old, name)
}

// watched says whether the next page of a host tells something of a farm.
func (c *Crawler) watched(h *host) bool {
	return !c.opt.FollowTraps && (h.answers < farmAnswers || !h.News) && hostPattern(h.Name, h.site) != ""
}

// observeFarm takes note of a page of a host, of its farm look, or of one with the
// content of another page (look nil). The cut is kept with the host whose page
// was once too often.
func (c *Crawler) observeFarm(h *host, look *looks) {
	if !c.watched(h) {
		return
	}
	name := hostPattern(h.Name, h.site)
	p := c.farms.pattern(name)
	news := look != nil && !p.knows(*look)
	h.News = h.News || news
	if h.answers++; h.answers > farmAnswers {
		return
	}
	if look == nil {
		p.answers++
	} else {
		p.add(*look)
	}
	why := p.verdict("hosts like " + name)
	if why == "" || c.farms.cuts[h.site][name] != "" {
		return
	}
	c.farms.cut(h.site, name, why)
	if h.Cuts == nil {
		h.Cuts = map[string]string{}
	}
	h.Cuts[name] = why
	c.opt.Log.Warn("host farm cut off", "site", h.site, "host", h.Name, "why", why)
}

// restoreFarms takes up the cuts that a host's record tells of: patterns of hosts
// have no slash in front, those of paths do.
func (c *Crawler) restoreFarms(h *host) {
	for _, name := range slices.Sorted(maps.Keys(h.Cuts)) {
		if name[0] != '/' {
			c.farms.cut(h.site, name, h.Cuts[name])
		}
	}
}

// farmed says why a host is taken for a farm's, "" when it is not, or when a page
// of the site finder vouches for it.
func (c *Crawler) farmed(h *host, finder string) string {
	cuts := c.farms.cuts[h.site]
	if len(cuts) == 0 || c.opt.FollowTraps || h.News || h.Pages >= farmHostPages {
		return ""
	}
	if finder != h.site && len(c.farms.cuts[finder]) == 0 {
		return ""
	}
	return cuts[hostPattern(h.Name, h.site)]
}

// farmTrap is farmed for a leased URL. Nobody has to vouch for a start page.
func (c *Crawler) farmTrap(j *job) (string, error) {
	if len(c.farms.cuts[j.host.site]) == 0 || j.birth.Via == store.ViaSeed {
		return "", nil
	}
	finder := j.host.site // as a sitemap is the host's own
	if j.birth.From != 0 {
		from, err := c.store.Birth(j.birth.From)
		if err != nil {
			return "", fmt.Errorf("URL %d, which led to %s: %w", j.birth.From, j.birth.URL, err)
		}
		finder = page.Site(from.URL)
	}
	return c.farmed(j.host, finder), nil
}

// skipFarm ends a leased URL that leads into a farm; false when it does not.
func (c *Crawler) skipFarm(j *job) (bool, error) {
	why, err := c.farmTrap(j)
	if err != nil || why == "" {
		return false, err
	}
	return true, c.skip(j, string(fetch.StateTrap), why)
}

// hostPattern returns what the names of a site's hosts (name:port) have in common
// that were made by the same hand: a label is * if it has no digits and 0 if it
// has some, many labels are **, and so is the port where it is none of the web's
// own. The site itself has none, "".
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

// farmLook is how a page looks beside those of its site's other hosts: its words
// without the names of hosts, its own and those that it links to, and without what
// has a digit, since these are what a farm makes up.
func farmLook(p *page.Page, seed maphash.Seed) looks {
	names := map[string]struct{}{}
	site := page.Site(p.URL)
	name := func(url string) {
		host := page.Host(url)
		host = host[:max(0, strings.LastIndexByte(host, ':'))]
		if before, of := strings.CutSuffix(host, site); of {
			for _, label := range strings.FieldsFunc(before, notInWord) {
				names[label] = struct{}{}
			}
		}
	}
	name(p.URL)
	for i := range p.Links {
		name(p.Links[i].URL)
	}
	var h maphash.Hash
	h.SetSeed(seed)
	for _, text := range [2]string{p.Title, p.Text} {
		for word := range strings.FieldsFuncSeq(text, notInWord) {
			word = strings.ToLower(word)
			if _, made := names[word]; made || strings.ContainsAny(word, "0123456789") {
				continue
			}
			_, _ = h.WriteString(word) // never fails
			_ = h.WriteByte(' ')
		}
	}
	return looks{h.Sum64(), p.Sketch}
}

func notInWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
