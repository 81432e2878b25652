package eval

// Capped is the harvest when only the first pages of each host count. It shows
// how much of the harvest is owed to staying at few hosts; it is not what a crawl
// with that cap would have reached, which would have gone elsewhere instead.
type Capped struct {
	Cap      int      `json:"cap"` // pages a host
	Pages    int      `json:"pages"`
	Relevant int      `json:"relevant"`
	Harvest  *float64 `json:"harvest"`
}

// caps are the caps that the report tries.
var caps = [...]int{1, 10, 100, 1000}

// Reach says over how many hosts a crawl spread.
type Reach struct {
	Hosts    int      `json:"hosts"`    // fetched from
	Relevant int      `json:"relevant"` // of them, those with a page on topic
	Largest  *float64 `json:"largest"`  // share of the relevant pages at the host that has most
	Capped   []Capped `json:"capped"`   // by every cap that leaves something out
}

// reach counts hosts and harvest under caps; pages are in the order of the crawl.
func reach(pages []Page) Reach {
	capped := make([]Capped, len(caps))
	fetched, relevant := map[string]int{}, map[string]int{}
	all, most := 0, 0
	for i := range pages {
		h := host(pages[i].URL)
		fetched[h]++
		if pages[i].Relevant {
			all++
			relevant[h]++
			most = max(most, relevant[h])
		}
		for k, limit := range caps {
			if fetched[h] > limit {
				continue
			}
			capped[k].Pages++
			if pages[i].Relevant {
				capped[k].Relevant++
			}
		}
	}
	r := Reach{Hosts: len(fetched), Relevant: len(relevant), Largest: share(most, all)}
	for k, c := range capped {
		if c.Pages < len(pages) {
			c.Cap, c.Harvest = caps[k], share(c.Relevant, c.Pages)
			r.Capped = append(r.Capped, c)
		}
	}
	return r
}
