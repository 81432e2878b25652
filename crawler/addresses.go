package crawler

import (
	"cmp"
	"math"
	"slices"

	"fossick/crawler/hosts"
	"fossick/crawler/journal"
	"fossick/internal/page"
	"fossick/internal/recent"
	"fossick/store"
)

// addresses has agents share an address: sites of several of them may be on one machine. Each
// agent asks there as if it had no others, and rests so much longer that they ask together no
// more often than one would. docs/duplicates.md says what that does not promise.
type addresses struct {
	opt    *Options
	totals *running
	hosts  *hosts.Table
	claims claims // of a crawl with one site an address

	told   recent.Map[struct{}] // hosts at their addresses, by both, of which the others know
	shared recent.Map[[]uint16] // parts with sites at an address, where there are several
}

// addressesInMemory is how many are remembered at least. Of a host that was forgotten the
// others are told once more; an address that was forgotten is asked as if it were ours alone
// until a host there is looked up again.
const addressesInMemory = 1 << 14

func newAddresses(opt *Options, t *running) *addresses {
	return &addresses{opt: opt, totals: t, told: recent.New[struct{}](addressesInMemory), shared: recent.New[[]uint16](addressesInMemory)}
}

// found says at which address a host is.
func (a *addresses) found(b journal.Batch, h *hosts.Host) error {
	if a.opt.Sites == nil || h.Address == "" || !h.Resolved {
		return nil
	}
	key := page.Key(h.Name + " " + h.Address)
	if _, known := a.told.Get(key); known {
		return nil
	}
	a.told.Put(key, struct{}{})
	return a.say(b, a.of(h))
}

// of is what there is to say of a host's address.
func (a *addresses) of(h *hosts.Host) acrossAddress {
	ad := acrossAddress{Addr: h.Address, Parts: []uint16{0}}
	if a.opt.Sites != nil {
		ad.Parts[0] = a.opt.Sites.Part("http://" + h.Name + "/")
	}
	return ad
}

// say takes what is known of an address to who has its part.
func (a *addresses) say(b journal.Batch, ad acrossAddress) error {
	return a.sayTo(b, ad.Part(a.opt.Sites), ad)
}

// sayTo takes it to who has a part: that may be this agent.
func (a *addresses) sayTo(b journal.Batch, part uint16, ad acrossAddress) error {
	if a.opt.Sites.Ours(part) {
		if ad.Shared {
			return a.share(b, ad)
		}
		return a.enter(b, ad)
	}
	data := (&Parcel{Addresses: []acrossAddress{ad}}).Pack()
	return store.OutboxIn(journal.Stored(b)).Put(part, a.totals.Counts(), data)
}

// enter notes who has sites at an address. Whoever says so is told of the others. While they
// are few these are told each time, and then when there are a quarter more: else, of thousands,
// each would be told of each.
func (a *addresses) enter(b journal.Batch, ad acrossAddress) error {
	records, part := store.AddressesIn(journal.Stored(b)), uint16(0)
	if a.opt.Sites != nil {
		part = ad.Part(a.opt.Sites)
	}
	known, err := records.At(part, ad.Addr)
	if err != nil {
		return err
	}
	had, all := known.Sites, slices.Clone(known.Sites)
	for _, p := range ad.Parts {
		if at, known := slices.BinarySearch(all, p); !known && len(all) < mostParts {
			all = slices.Insert(all, at, p)
		}
	}
	if first := cmp.Or(known.First, ad.Site); len(all) > len(had) || first != known.First {
		known.Sites, known.First = all, first
		if err := records.Put(known); err != nil {
			return err
		}
	}
	if a.opt.Sites == nil {
		return a.share(b, acrossAddress{Addr: ad.Addr, Parts: all, Shared: true, Site: known.First})
	}
	if len(all) < 2 && ad.Site == "" {
		return nil
	}
	tell := ad.Parts
	if len(all) > len(had) && (len(all) <= fewSites || rung(len(all)) > rung(len(had))) {
		tell = all
	}
	for _, p := range tell {
		if err := a.sayTo(b, p, acrossAddress{Addr: ad.Addr, Parts: all, Shared: true, Site: known.First}); err != nil {
			return err
		}
	}
	return nil
}

// fewSites is how many parts are told of each further one.
const fewSites = 16

// rung rises whenever a number has grown by a quarter.
func rung(n int) int { return int(3 * math.Log2(float64(max(1, n)))) }

// share takes in who has sites at an address, and which site has it.
func (a *addresses) share(b journal.Batch, ad acrossAddress) error {
	key := page.Key(ad.Addr)
	if had, known := a.shared.Get(key); !known {
		a.shared.Put(key, ad.Parts)
	} else if len(had) <= len(ad.Parts) {
		a.shared.Set(key, ad.Parts)
	}
	if ad.Site == "" {
		return nil
	}
	return a.claims.answered(a.hosts, b, ad)
}

// fold is how many times as long an address rests as if all of its sites were this agent's.
func (a *addresses) fold(address string) float64 {
	if a.opt.Sites == nil {
		return 1
	}
	parts, known := a.shared.Peek(page.Key(address))
	if !known {
		return 1
	}
	ours := 0
	for _, p := range parts {
		if a.opt.Sites.Held(p) {
			ours++
		}
	}
	return float64(len(parts)) / float64(max(1, ours))
}
