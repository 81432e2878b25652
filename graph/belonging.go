package graph

// belonging numbers hosts and sites in the order of keys.
type belonging struct {
	site               func(url string) string
	sites              map[string]uint32
	hosts, siteCount   uint32
	last               []byte // the host of the key before, with its port
	lastSite           uint32
	hostRuns, siteRuns []byte
}

// add takes the key of node v; keys come sorted.
func (b *belonging) add(v uint32, key []byte) {
	host, port, _, ok := splitKey(key)
	if !ok {
		b.hostRuns, b.siteRuns = appendRun(b.hostRuns, v, None), appendRun(b.siteRuns, v, None)
		return
	}
	full := key[:len(host)+1+len(port)]
	sameHost := b.hosts > 0 && string(full) == string(b.last)
	if !sameHost {
		b.hosts++
		b.last = append(b.last[:0], full...)
	}
	b.hostRuns = appendRun(b.hostRuns, v, b.hosts-1)
	if !sameHost || b.site != nil {
		b.lastSite = b.numberOf(b.siteName(host, key))
	}
	b.siteRuns = appendRun(b.siteRuns, v, b.lastSite)
}

func (b *belonging) siteName(host, key []byte) string {
	if b.site != nil {
		if url, ok := nameOfKey(key); ok {
			if site := b.site(url); site != "" {
				return site
			}
		}
	}
	return siteOfHost(hostName(host))
}

func (b *belonging) numberOf(site string) uint32 {
	n, ok := b.sites[site]
	if !ok {
		n = b.siteCount
		b.sites[site] = n
		b.siteCount++
	}
	return n
}
