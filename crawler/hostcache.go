package crawler

// hostCache keeps the hosts that were asked for last. What it forgets is read
// again from the store; what the store does not keep of a host, failures to
// reach it in this session, begins anew.
type hostCache struct {
	young, old map[string]*host // old is given up when young is full
	limit      int              // of young
}

// hostsInMemory is how many hosts each half of the cache holds. Most have some
// hundred bytes; long robots rules, and what a trap is known by, some thousand.
const hostsInMemory = 4096

func newHostCache(limit int) hostCache {
	return hostCache{young: map[string]*host{}, old: map[string]*host{}, limit: limit}
}

func (hc *hostCache) get(name string) *host {
	if h := hc.young[name]; h != nil {
		return h
	}
	h := hc.old[name]
	if h != nil {
		hc.put(h)
	}
	return h
}

// put takes a host in. Hosts with jobs in flight stay: there must be one record
// of a host that is about to change.
func (hc *hostCache) put(h *host) {
	if len(hc.young) >= hc.limit {
		given := hc.old
		hc.old, hc.young = hc.young, map[string]*host{}
		for name, h := range given {
			if h.jobs > 0 && hc.old[name] == nil {
				hc.young[name] = h
			}
		}
	}
	hc.young[h.Name] = h
}
