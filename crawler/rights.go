package crawler

import (
	"fmt"
	"maps"
	"slices"

	"fossick/crawler/hosts"
	"fossick/internal/page"
	"fossick/internal/rights"
)

// uses are the tokens by which robots.txt speaks to uses of pages.
var uses = slices.Sorted(maps.Keys(rights.Uses))

// said is what robots.txt and tdmrep.json of a host say of the use of a page.
func said(h *hosts.Host, agent, url string) (all []rights.Statement) {
	rules, path := h.Rules, page.Path(url)
	if rules == nil {
		return nil
	}
	for _, line := range rules.Usage(agent, path) {
		all = append(all, rights.Said("robots.txt", line[0], line[1]))
	}
	for _, token := range uses {
		if rules.Speaks(token) && !rules.Allowed(token, path) {
			all = append(all, rights.Said("robots.txt", "user-agent", token))
		}
	}
	for _, line := range h.Reserved.Said(path) {
		all = append(all, rights.Said("tdmrep.json", line[0], line[1]))
	}
	return all
}

// refusal says why a host's files refuse a page for the crawl's purpose, "" when they do not.
func refusal(opt *Options, h *hosts.Host, url string) string {
	if opt.Purpose == "" {
		return ""
	}
	if s := rights.Refusal(said(h, opt.Agent, url), opt.Purpose); s != "" {
		return fmt.Sprintf("%s, and the crawl is for %s", s, opt.Purpose)
	}
	return ""
}

// rights is all that the owner says of the use of a page that has come.
func (a *arrivals) rights(o *outcome) (all []string) {
	for _, s := range said(o.Host, a.opt.Agent, o.Birth.URL) {
		all = append(all, string(s))
	}
	for _, s := range rights.OfHeader(o.Resp.Header) {
		all = append(all, string(s))
	}
	return append(all, o.Read.Page.Rights...)
}
