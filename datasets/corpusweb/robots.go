package corpusweb

import (
	"bytes"
	"fmt"
	"slices"
	"sort"
	"strings"

	"fossick/datasets"
)

// maxRobotsBytes keeps below what a crawler must read (RFC 9309, 2.5: 500 KiB).
const maxRobotsBytes = 400 << 10

// writeRobots gives every host its robots.txt: what its set says, and the share
// of its pages that Options.Disallow forbids.
func (w *Web) writeRobots(sets []*datasets.Set) {
	given := map[string]string{}
	for _, set := range sets {
		if web := set.Web(); web != nil {
			for name, text := range web.Robots {
				given[hostName(name)] = text
			}
		}
	}
	for name, h := range w.hosts {
		var b bytes.Buffer
		b.WriteString(given[name])
		rules, delay := disallowed(w.draw, w.opt.Disallow, name, h.paths), w.opt.CrawlDelay > 0 && w.draw.uniform("crawl-delay", name) < slowHostShare
		if b.Len() == 0 || len(rules) > 0 || delay {
			b.WriteString("User-agent: *\n")
			if len(rules) == 0 {
				b.WriteString("Disallow:\n")
			}
		}
		if delay {
			fmt.Fprintf(&b, "Crawl-delay: %g\n", w.opt.CrawlDelay.Seconds())
		}
		for _, rule := range rules {
			fmt.Fprintf(&b, "Disallow: %s\n", rule)
		}
		if w.opt.Sitemaps {
			nameSitemap(&b, name, h)
		} else {
			h.paths = nil
		}
		h.robots = b.Bytes()
	}
}

// slowHostShare is the share of hosts that ask for Options.CrawlDelay.
const slowHostShare = 1.0 / 8

// disallowed picks path prefixes that together forbid a share of a host's pages,
// as near to it as whole folders and pages come. Folders come up as well as
// single pages, as in real robots.txt files, and keep the file short. The home
// page stays allowed. A prefix with * or $ would mean something else and is left.
func disallowed(d draw, share float64, name string, paths []string) []string {
	want := int(share*float64(len(paths)) + 0.5)
	if want == 0 {
		return nil
	}
	paths = slices.Sorted(slices.Values(paths))
	covered := make([]bool, len(paths))
	var rules []string
	size := 0
	folders := prefixes(paths)
	d.shuffle("disallow", name, folders)
	for _, prefix := range folders {
		from := sort.SearchStrings(paths, prefix)
		to, fresh := from, 0
		for ; to < len(paths) && strings.HasPrefix(paths[to], prefix); to++ {
			if !covered[to] {
				fresh++
			}
		}
		if fresh == 0 || fresh > want || size+len(prefix) > maxRobotsBytes {
			continue
		}
		for i := from; i < to; i++ {
			covered[i] = true
		}
		rules, size = append(rules, prefix), size+len(prefix)+len("Disallow: \n")
		if want -= fresh; want == 0 {
			break
		}
	}
	slices.Sort(rules)
	return rules
}

// prefixes returns the paths and their folders, the root left out, each once.
func prefixes(paths []string) []string {
	set := map[string]struct{}{}
	for _, p := range paths {
		if p == "/" || strings.ContainsAny(p, "*$#") {
			continue
		}
		set[p] = struct{}{}
		path, _, _ := strings.Cut(p, "?")
		for i := 1; i < len(path); i++ {
			if path[i] == '/' {
				set[path[:i+1]] = struct{}{}
			}
		}
	}
	all := make([]string, 0, len(set))
	for p := range set {
		all = append(all, p)
	}
	return all
}
