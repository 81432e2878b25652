package crawler

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fossick/internal/page"
	"fossick/internal/testkit"
	"fossick/store"
)

// TestAddressOfSeveralAgents: agents with sites at one address together respect its pace, even if
// the address's part changes its owner. An agent with all the sites is not slowed.
func TestAddressOfSeveralAgents(t *testing.T) {
	const took, rest, hosts = 100 * time.Millisecond, time.Second, 3
	for name, c := range map[string]struct {
		agents int
		move   bool
	}{"one agent": {1, false}, "three agents": {3, false}, "three, and the address moves": {3, true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &fakeWeb{pages: map[string]string{}, addrs: map[string]string{}, took: took}
				for h := range hosts {
					w.addrs[fmt.Sprintf("h%d.test:80", h)] = "203.0.113.1"
					for p := range 60 {
						w.pages[fmt.Sprintf("http://h%d.test/%d", h, p)] = html(fmt.Sprintf("gold %d of host %d", p, h), fmt.Sprintf("/%d", p+1))
					}
				}
				w.pages["http://h0.test/4"] = html("gold that leads to the last host", "/5", "http://h2.test/0")
				x := newTeamWith(t, w, c.agents, 13, func(o *Options) { o.Delay = Delay{Fixed: true, Rest: rest} }, "http://h0.test/0", "http://h1.test/0")
				start := time.Now()
				for n := range 450 {
					time.Sleep(200 * time.Millisecond)
					x.deliver(t.Context())
					if n == 10 && c.move {
						x.handOver(x.agents[0].PartOf([]byte("203.0.113.1")), 1)
					}
				}
				x.finishAll()
				w.mu.Lock()
				defer w.mu.Unlock()
				for from := 30 * time.Second; from < 80*time.Second; from += time.Second {
					n, of := 0, map[string]bool{}
					for _, s := range w.log {
						if at := s.start.Sub(start); at >= from && at < from+10*time.Second {
							n++
							of[s.host] = true
						}
					}
					if most := int(10*time.Second/(took+rest)) + hosts; n > most || n < 5 || len(of) < hosts {
						t.Errorf("%d requests at the address within 10 s after %v, of %d hosts; one agent makes %d at most", n, from, len(of), most)
					}
				}
			})
		})
	}
}

func (x *team) finishAll() {
	for _, m := range x.alive() {
		if err := m.Finish(x.t.Context(), StopMaxTime); err != nil {
			x.t.Fatal(err)
		}
		<-m.done
		if problems, err := m.opt.Store.Verify(x.t.Context()); err != nil || len(problems) > 0 {
			x.t.Errorf("store of agent %d: %v, %v", m.number, problems, err)
		}
	}
}

// TestCrowdedAddress: with thousands of sites at an address, notices grow linearly.
func TestCrowdedAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const sites = 600
		x := newTeam(t, &fakeWeb{pages: map[string]string{}}, 2, 2, "http://h0.test/")
		a := x.agents[0]
		x.mu.Lock()
		for part := range uint16(sites) {
			x.owner[part] = 1
		}
		address := "203.0.113.1"
		for part := sites; ; part++ {
			if x.owner[uint16(part)] = 0; int(address[0])%len(x.owner) >= sites || part > 2*sites {
				break
			}
		}
		x.owner[uint16(int(address[0])%len(x.owner))] = 0
		x.mu.Unlock()
		for part := range sites {
			p := Parcel{Addresses: []addressNotice{{Addr: address, Parts: []uint16{uint16(part)}}}}
			data := p.Pack()
			if _, _, err := a.Receive(t.Context(), Delivery{Sender: "1", After: uint64(part), Parcels: []store.Parcel{{Number: uint64(part) + 1, Data: data}}}); err != nil {
				t.Fatal(err)
			}
		}
		told, largest := 0, 0
		for part := range testkit.All(t, store.OutboxOf(a.opt.Store).Parts()) {
			for p := range testkit.All(t, store.OutboxOf(a.opt.Store).Parcels(part, 0)) {
				if parcel, err := unpack(p.Data); part != store.KeeperPart && err == nil {
					told++
					largest = max(largest, len(parcel.Addresses[0].Parts))
				}
			}
		}
		if told < sites || told > 8*sites || largest != sites {
			t.Errorf("%d parcels for %d sites, of %d at most", told, sites, largest)
		}
		x.finishAll()
	})
}

// TestAddressRefused: invalid addresses, and too few or too many parts.
func TestAddressRefused(t *testing.T) {
	for _, ad := range []addressNotice{
		{Addr: "h0.test", Parts: []uint16{1}}, {Addr: "203.0.113.1"}, {Addr: "203.0.113.1", Parts: make([]uint16, mostParts+1)},
	} {
		data := (&Parcel{Addresses: []addressNotice{ad}}).Pack()
		if _, err := unpack(data); err == nil || !strings.Contains(err.Error(), page.HostName("http://"+ad.Addr)) {
			t.Errorf("%+v: %v", ad, err)
		}
	}
}
