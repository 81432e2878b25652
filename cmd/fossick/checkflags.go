package main

import (
	"math"
	"strings"

	"fossick/crawler"
	"fossick/internal/printable"
)

// maxWorkers bounds --workers: each may hold a body of 4 MiB and a connection, and
// what more of them wait for is hosts.
const maxWorkers = 4096

// check refuses values that no crawl can have, before anything is made. A zero is
// "not given", so of most numbers only those below are left to refuse.
func (s *crawlSettings) check() error {
	switch {
	case s.Workers < 0 || s.Workers > maxWorkers:
		return usagef("--workers %d: give a number from 1 to %d", s.Workers, maxWorkers)
	case s.Threshold != nil && (math.IsNaN(*s.Threshold) || math.IsInf(*s.Threshold, 0)):
		return usagef("--threshold %g: give a number, such as 0.2", *s.Threshold)
	case s.MaxDepth < 0:
		return usagef("--max-depth %d: give a number of links, 1 or more", s.MaxDepth)
	case s.SitemapURLs < 0:
		return usagef("--sitemap-urls %d: give a number of URLs, 1 or more", s.SitemapURLs)
	}
	for _, tld := range s.TLD {
		if name := strings.TrimPrefix(tld, "."); name == "" || strings.ContainsAny(name, "/: \t") {
			return usagef("--tld %q: give top-level domains by comma, as org,de", tld)
		}
	}
	return nil
}

// seedsInScope refuses start pages that the crawl's own scope keeps out.
func seedsInScope(opt *crawler.Options) error {
	for _, seed := range opt.Seeds {
		if why := opt.Scope.Excludes(seed); why != "" {
			return usagef("start page %s: %s; change the flag, or name another start page", printable.Cut(seed, 200), why)
		}
	}
	return nil
}
