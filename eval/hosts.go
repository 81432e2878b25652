package eval

import (
	"maps"
	"math"
	"slices"

	"fossick/internal/page"
)

// Capped is the harvest when only the first pages of each host count. It shows
// how much of the harvest is owed to staying at few hosts. It is not what a
// crawl with that cap would have reached, for that would have gone elsewhere
// instead.
type Capped struct {
	Cap      int      `json:"cap"` // pages a host
	Pages    int      `json:"pages"`
	Relevant int      `json:"relevant"`
	Harvest  *float64 `json:"harvest"`
}

// defaultCaps are the caps that are tried when nobody names some.
var defaultCaps = [...]int{1, 10, 100, 1000}

// Reach says over how many hosts and sites a crawl spread.
//
// An effective number is exp H, H = −Σ p ln p over the hosts' shares p of the
// pages (Hill 1973, order 1). So many hosts with equally many pages are as
// diverse. It is from 1 to the number of hosts, and nil where there is no page.
type Reach struct {
	Hosts             int      `json:"hosts"`                    // fetched from
	Relevant          int      `json:"relevant"`                 // of them, those with a page on topic
	Sites             int      `json:"sites"`                    // registrable domains fetched from
	RelevantSites     int      `json:"relevant_sites"`           // of them, those with a page on topic
	Effective         *float64 `json:"effective_hosts"`          // of the pages fetched
	EffectiveRelevant *float64 `json:"effective_relevant_hosts"` // of the pages on topic
	Largest           *float64 `json:"largest"`                  // share of the relevant pages at the host that has most
	Capped            []Capped `json:"capped"`                   // by the caps asked for, else by each that leaves something out
}

// ReachOf says how a crawl's pages spread: their URLs in the order of the crawl,
// and which of them are relevant. caps are pages a host to count by, at least 1;
// nil tries 1, 10, 100 and 1,000.
func ReachOf(urls []string, relevant []bool, caps []int) Reach {
	asked := caps != nil
	if !asked {
		caps = defaultCaps[:]
	}
	capped := make([]Capped, len(caps))
	for k, limit := range caps {
		capped[k].Cap = limit
	}
	fetched, onTopic := map[string]int{}, map[string]int{}
	sites, sitesOnTopic := map[string]struct{}{}, map[string]struct{}{}
	for i, u := range urls {
		h, site := host(u), page.Site(u)
		fetched[h]++
		sites[site] = struct{}{}
		if relevant[i] {
			onTopic[h]++
			sitesOnTopic[site] = struct{}{}
		}
		for k := range capped {
			if fetched[h] <= capped[k].Cap {
				capped[k].add(relevant[i])
			}
		}
	}
	r := Reach{
		Hosts: len(fetched), Relevant: len(onTopic), Sites: len(sites), RelevantSites: len(sitesOnTopic),
		Effective: effective(fetched), EffectiveRelevant: effective(onTopic), Largest: largest(onTopic),
	}
	for _, c := range capped {
		if asked || c.Pages < len(urls) {
			c.Harvest = share(c.Relevant, c.Pages)
			r.Capped = append(r.Capped, c)
		}
	}
	return r
}

func (c *Capped) add(relevant bool) {
	c.Pages++
	if relevant {
		c.Relevant++
	}
}

// effective is the effective number of hosts with so many pages each.
func effective(pages map[string]int) *float64 {
	counts := slices.Sorted(maps.Values(pages)) // sums of floats in one order
	all := 0
	for _, n := range counts {
		all += n
	}
	if all == 0 {
		return nil
	}
	entropy := 0.0
	for _, n := range counts {
		p := float64(n) / float64(all)
		entropy -= p * math.Log(p)
	}
	e := math.Exp(entropy)
	return &e
}

// largest is the share of the host with most pages.
func largest(pages map[string]int) *float64 {
	all, most := 0, 0
	for _, n := range pages {
		all += n
		most = max(most, n)
	}
	return share(most, all)
}
