package crawler

import (
	"fmt"
	"maps"
	"slices"

	"fossick/crawler/work"
	"fossick/fetch"
	"fossick/page"
	"fossick/rights"
)

// uses are the tokens by which robots.txt speaks to uses of pages.
var uses = slices.Sorted(maps.Keys(rights.Uses))

// said is what robots.txt says of the use of a page.
func said(rules *fetch.Robots, agent, url string) (all []rights.Statement) {
	path := page.Path(url)
	for _, line := range rules.Usage(agent, path) {
		all = append(all, rights.Said("robots.txt", line[0], line[1]))
	}
	for _, token := range uses {
		if rules.Speaks(token) && !rules.Allowed(token, path) {
			all = append(all, rights.Said("robots.txt", "user-agent", token))
		}
	}
	return all
}

// refusal says why robots.txt refuses a page for the crawl's purpose, "" when it does not.
func refusal(opt *Options, rules *fetch.Robots, url string) string {
	if opt.Purpose == "" {
		return ""
	}
	if s := rights.Refusal(said(rules, opt.Agent, url), opt.Purpose); s != "" {
		return fmt.Sprintf("%s, and the crawl is for %s", s, opt.Purpose)
	}
	return ""
}

// rights is all that the owner says of the use of a page that has come.
func (a *arrivals) rights(o *work.Outcome) (all []string) {
	if o.Host.Rules != nil {
		for _, s := range said(o.Host.Rules, a.opt.Agent, o.Birth.URL) {
			all = append(all, string(s))
		}
	}
	for _, s := range rights.OfHeader(o.Resp.Header) {
		all = append(all, string(s))
	}
	return append(all, o.Read.Page.Rights...)
}
