package hosts

// cache keeps the hosts that were asked for last. What it forgets is read
// again from the store; what the store does not keep of a host, failures to
// reach it in this session, begins anew.
type cache struct {
	young, old map[string]*Host // old is given up when young is full
	limit      int              // of young
}

// hostsInMemory is how many hosts each half of the cache holds. Most have some
// hundred bytes; long robots rules, and what a trap is known by, some thousand.
const hostsInMemory = 4096

func newCache(limit int) cache {
	return cache{young: map[string]*Host{}, old: map[string]*Host{}, limit: limit}
}

func (hc *cache) get(name string) *Host {
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
func (hc *cache) put(h *Host) {
	if len(hc.young) >= hc.limit {
		given := hc.old
		hc.old, hc.young = hc.young, map[string]*Host{}
		for name, h := range given {
			if h.Jobs > 0 && hc.old[name] == nil {
				hc.young[name] = h
			}
		}
	}
	hc.young[h.Name] = h
}
