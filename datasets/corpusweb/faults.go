package corpusweb

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Fault is one way in which a server misbehaves.
type Fault struct {
	Name  string
	About string // what the server does
	// States that a crawler should note for the URL, in the words of cli.md. Of a
	// host's faults: for its pages. Where there is a second, either will do.
	States []string

	scope faultScope
	serve func(*victim)
}

// faultScope says what a fault befalls.
type faultScope uint8

const (
	onPage    faultScope = iota // one page
	onRobots                    // a host's robots.txt
	onSitemap                   // a host's sitemap
	onTLS                       // a host's handshakes
)

// Host says whether the fault befalls a whole host, its robots.txt, its
// sitemap or its certificate, and not one page.
func (f *Fault) Host() bool { return f.scope != onPage }

// Faults returns all that can be asked for, sorted by name.
func Faults() []Fault {
	all := slices.Concat(
		wireFaults(), headerFaults(), bodyFaults(), framingFaults(), codingFaults(), packingFaults(), charsetFaults(), contentFaults(),
		markupFaults(), redirectFaults(), movedFaults(), statusFaults(), moodFaults(), trapFaults(),
		oddFaults(), dateFaults(), linkFaults(), oddRules(), fieldFaults(), fieldMoves(), fieldRules(), robotsFaults(), rulesFaults(), sitemapFaults(), tlsFaults(), shakeFaults(),
	)
	slices.SortFunc(all, func(a, b Fault) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// FaultPlan says which part of a web misbehaves, and how. The zero value: none.
type FaultPlan struct {
	Share float64 // of all pages that get one of the page's faults, in [0,1]
	Names []string
}

// defaultFaultShare is the share of faulty pages where only names are given.
const defaultFaultShare = 1.0 / 3

// hostFaultShare is how much rarer a host's faults are than a page's, when both
// are asked for: a host without a robots.txt is lost whole.
const hostFaultShare = 0.25

// ParseFaults reads a plan: a share ("0.3": of all faults), names by comma
// ("silence,gzip-bomb": a third of all pages), or both ("0.1:silence,gzip-bomb").
// "" is none.
func ParseFaults(s string) (FaultPlan, error) {
	if s == "" {
		return FaultPlan{}, nil
	}
	plan := FaultPlan{Share: defaultFaultShare}
	head, names, both := strings.Cut(s, ":")
	share, err := strconv.ParseFloat(head, 64)
	switch {
	case err == nil && !(share >= 0 && share <= 1):
		return FaultPlan{}, fmt.Errorf("faults %q: share %s; want one from 0 to 1", s, head)
	case err == nil:
		plan.Share = share
	case both:
		return FaultPlan{}, fmt.Errorf("faults %q: %q is not a share; want SHARE:NAME,NAME", s, head)
	default:
		names = s
	}
	if names == "" {
		return plan, nil
	}
	known := Faults()
	for name := range strings.SplitSeq(names, ",") {
		name = strings.TrimSpace(name)
		if !slices.ContainsFunc(known, func(f Fault) bool { return f.Name == name }) {
			return FaultPlan{}, fmt.Errorf("faults %q: no fault %q; 'list' shows them all", s, name)
		}
		plan.Names = append(plan.Names, name)
	}
	return plan, nil
}

// faults is a plan at work. It is safe for concurrent use.
type faults struct {
	all       [onTLS + 1][]Fault // by scope
	share     float64            // of pages
	hostShare float64
	draw      draw
	spared    [2]string // the first page and its host: one start page works

	mu    sync.Mutex     // guards tried
	tried map[string]int // requests, of URLs that answer better the second time
}

// newFaults takes the URL of the page that is to be spared, with its host.
func newFaults(plan FaultPlan, d draw, first string) *faults {
	fs := &faults{share: plan.Share, hostShare: plan.Share, draw: d, spared: [2]string{first, hostOf(first)}, tried: map[string]int{}}
	for _, f := range Faults() {
		if len(plan.Names) == 0 || slices.Contains(plan.Names, f.Name) {
			fs.all[f.scope] = append(fs.all[f.scope], f)
		}
	}
	if len(fs.all[onPage]) > 0 {
		fs.hostShare *= hostFaultShare
	}
	return fs
}

// pick returns the fault of a name, nil for most. It depends on the seed and the
// name only.
func (fs *faults) pick(scope faultScope, name string) *Fault {
	from, share := fs.all[scope], fs.hostShare
	if scope == onPage {
		share = fs.share
	}
	if len(from) == 0 || slices.Contains(fs.spared[:], name) || fs.draw.uniform("faulty", name) >= share {
		return nil
	}
	return &from[int(fs.draw.uniform("fault", name)*float64(len(from)))]
}

// tries returns how often a URL was asked for, this time included.
func (fs *faults) tries(url string) int {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.tried[url]++
	return fs.tried[url]
}
