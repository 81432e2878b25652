package plan

import (
	"slices"
	"strings"

	"fossick/internal/cli"
)

// taken are the words of --also.
var taken = []string{"sitemaps", "cookies", "traps", "near-duplicates", "parameters", "none"}

// readAlso sets what --also takes in. Given once, it decides about all of its words.
func (c *Crawl) readAlso() error {
	if c.Also == nil {
		return nil
	}
	has := func(what string) bool { return slices.Contains(c.Also, what) }
	for _, word := range c.Also {
		if !slices.Contains(taken, word) {
			return cli.Usagef("--also %s: want one or more of %s, by comma", word, strings.Join(taken, ", "))
		}
	}
	if has("none") && len(c.Also) > 1 {
		return cli.Usagef("--also none takes in none of the others; leave one or the other out")
	}
	sitemaps, cookies := has("sitemaps"), has("cookies")
	c.Sitemaps, c.Cookies = &sitemaps, &cookies
	c.Traps, c.NearDuplicates = "cut", "drop"
	if has("traps") {
		c.Traps = "follow"
	}
	if has("near-duplicates") {
		c.NearDuplicates = "keep"
	}
	if has("parameters") {
		c.DropParams = "none"
	}
	return nil
}
