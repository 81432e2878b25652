package hosts

import (
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"fossick/internal/page"
)

// A host farm is a trap made of hosts instead of paths: a name server knows every name under a
// site, and a server answers each with much the same page and links to more names. No single
// host is asked often enough to look like a trap. So the first pages of hosts are compared
// across the hosts of a site whose names share a pattern. A pattern that hardly ever brought
// anything new is cut off. Exempt are hosts that brought something new, start pages,
// and hosts that another site links to.

const (
	farmAnswers   = 8    // pages of each host that count
	farmPatterns  = 2048 // in memory, and as many older ones
	farmHostPages = 50   // a host with so many stored pages belongs to no farm
	deepNames     = 2    // labels before the site that a pattern distinguishes
)

// farms holds the patterns of hosts. Sites under public suffixes, with a name for each user,
// count as sites of their own.
type farms struct {
	patterns page.Cache[string, *pattern]
	cuts     map[string]map[string]string // site → pattern of hosts → reason for the cut
}

func (f *farms) cut(site, name, why string) {
	if f.cuts[site] == nil {
		f.cuts[site] = map[string]string{}
	}
	f.cuts[site][name] = why
	f.patterns.Remove(name)
}

// Watched reports whether the next page of a host is compared across hosts.
func (d *TrapDetector) Watched(h *trapState) bool {
	return !d.off && (h.answers < farmAnswers || !h.News) && hostPattern(h.Name, h.Site) != ""
}

// observeHost records a page of a host, or a duplicate (f nil). The host whose page led to the
// cut keeps it.
func (d *TrapDetector) observeHost(h *trapState, f *Fingerprint) {
	if !d.Watched(h) {
		return
	}
	name := hostPattern(h.Name, h.Site)
	p := page.Entry(&d.farms.patterns, name)
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

// restoreFarms restores the cuts in a host's record: patterns of hosts have no leading slash,
// patterns of paths do.
func (d *TrapDetector) restoreFarms(h *trapState) {
	for _, name := range slices.Sorted(maps.Keys(h.Cuts)) {
		if name[0] != '/' {
			d.farms.cut(h.Site, name, h.Cuts[name])
		}
	}
}

// HasFarms reports whether hosts of a site were cut off.
func (d *TrapDetector) HasFarms(site string) bool { return len(d.farms.cuts[site]) > 0 }

// Farmed says why a host with so many stored pages belongs to a farm. It returns "" when the
// host does not, or when the linking page's site, finder, vouches for it.
func (d *TrapDetector) Farmed(h *trapState, pages uint64, finder string) string {
	cuts := d.farms.cuts[h.Site]
	if len(cuts) == 0 || d.off || h.News || pages >= farmHostPages {
		return ""
	}
	if finder != h.Site && len(d.farms.cuts[finder]) == 0 {
		return ""
	}
	return cuts[hostPattern(h.Name, h.Site)]
}

// hostPattern returns the pattern of a host's name (name:port) within its site. A label is *
// without digits and 0 with some; many labels are **. A port is 0 unless it is one of the
// web's own. The site itself has the pattern "".
//
// shop17.example.com:80 → 0.example.com    a.b.c.example.com:8080 → **.example.com:0
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

// A Fingerprint identifies a page for comparison.
type Fingerprint struct {
	letters uint64 // of title and text; a counter or a date does not change it
	sketch  uint64
}

// A Fingerprinter takes fingerprints that are comparable among themselves. Safe for concurrent
// use.
type Fingerprinter struct{ seed maphash.Seed }

func NewFingerprinter() Fingerprinter { return Fingerprinter{maphash.MakeSeed()} }

// Of returns a page's fingerprint. It hashes letters only, with case.
func (f Fingerprinter) Of(p *page.Page) Fingerprint {
	var h maphash.Hash
	h.SetSeed(f.seed)
	var letters [512]byte
	n := 0
	for _, text := range [2]string{p.Title, p.Text} {
		for i := 0; i < len(text); {
			if n > len(letters)-utf8.UTFMax {
				_, _ = h.Write(letters[:n]) // never fails
				n = 0
			}
			if c := text[i]; c < utf8.RuneSelf {
				letters[n] = c // without a branch, which the processor could not predict
				lower := (c | 0x20) - 'a'
				n += int((lower - 26) >> 7 &^ (lower >> 7))
				i++
				continue
			}
			r, size := utf8.DecodeRuneInString(text[i:])
			if unicode.IsLetter(r) {
				n += copy(letters[n:], text[i:i+size])
			}
			i += size
		}
	}
	_, _ = h.Write(letters[:n])
	return Fingerprint{h.Sum64(), p.Sketch}
}

// AcrossHosts returns a page's fingerprint for comparison with other hosts of its site. It
// leaves out the names of hosts and words with digits, which a farm makes up.
func (f Fingerprinter) AcrossHosts(p *page.Page) Fingerprint {
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
	h.SetSeed(f.seed)
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
	return Fingerprint{h.Sum64(), p.Sketch}
}

func notInWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
