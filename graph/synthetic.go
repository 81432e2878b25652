package graph

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// syntheticWeb is a synthetic web with hosts, power laws and copied links. Each page's links depend only on the seed
// and the page, so a web of 100 million pages needs memory only for its hosts.
//
// Hosts are ranges of pages, with power-law sizes (density exponent 2.1, at least 4 pages, at most a
// twentieth of the web). A host belongs to the previous host's site with probability 0.2. 12 % of the pages
// have no links; the others have a power-law number (exponent 2.7, 6 to 1000), made by copying (Kumar et
// al., FOCS 2000). Link j of page v is internal with probability 0.85. With probability 0.85 an internal
// link then copies link j of v's model, one of the 8 preceding pages; otherwise it leads near v, or to a page
// of the host, preferably an early one. An external link copies, with probability 0.85, external link j
// of a random earlier page, which gives in-degrees a long tail (exponent 3.1); otherwise it leads to the
// first page of a random host or to any page. Repeated links and self-links are dropped.
//
// The parameters were chosen by hand and not fitted to data.
type syntheticWeb struct {
	pages int
	seed  uint64
	hosts []uint32 // first page of each
	sites []uint32 // site of each host
}

const (
	hostExponent    = 1.1 // of the tail, which is that of the density less one
	minHostPages    = 4
	hostOfSite      = 0.2
	leafShare       = 0.12
	degreeExponent  = 1.7 // of the tail
	minDegree       = 6
	maxDegree       = 1000
	internalShare   = 0.85
	internalCopy    = 0.85
	externalCopy    = 0.85
	copyReach       = 8  // preceding pages
	nearReach       = 16 // pages before or after
	nearShare       = 0.3
	homeShare       = 0.7
	maxCopiesOfLink = 64 // copies in a row
)

func NewWeb(pages int, seed uint64) (*syntheticWeb, error) {
	if pages < 1 || pages > math.MaxUint32 {
		return nil, fmt.Errorf("a synthetic web of %d pages; want 1 to %d", pages, math.MaxUint32)
	}
	w := &syntheticWeb{pages: pages, seed: seed}
	site := uint32(0)
	for at := 0; at < pages; {
		h := draw{w.hash(uint64(len(w.hosts)), 0, 'h')}
		if len(w.hosts) > 0 && h.float() >= hostOfSite {
			site++
		}
		w.hosts, w.sites = append(w.hosts, uint32(at)), append(w.sites, site)
		size := powerLaw(h.float(), minHostPages, hostExponent, max(minHostPages, pages/20))
		at += size
	}
	return w, nil
}

// powerLaw maps a uniform number to one in [low, high] with P(> x) ~ x^-exponent.
func powerLaw(u float64, low, exponent float64, high int) int {
	return int(min(low*math.Pow(1-u, -1/exponent), float64(high)))
}

func (w *syntheticWeb) Write(ctx context.Context, path string) error {
	out, err := createFile(path, w.pages)
	if err != nil {
		return err
	}
	for h, first := range w.hosts {
		out.belong(first, uint32(h), w.sites[h])
	}
	if err := w.each(ctx, func(_ uint32, links []uint32) error { return out.Add(links) }); err != nil {
		return errors.Join(err, out.Close())
	}
	return out.Finish(nil)
}

func (w *syntheticWeb) each(ctx context.Context, do func(v uint32, links []uint32) error) error {
	var links []uint32
	for h, first := range w.hosts {
		end := uint32(w.pages)
		if h+1 < len(w.hosts) {
			end = w.hosts[h+1]
		}
		for v := first; v < end; v++ {
			if v%4096 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			links = w.links(links[:0], v, first, end)
			if err := do(v, links); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *syntheticWeb) links(dst []uint32, v, first, end uint32) []uint32 {
	d := draw{w.hash(uint64(v), 0, 'd')}
	if d.float() < leafShare {
		return dst
	}
	n := powerLaw(d.float(), minDegree, degreeExponent, maxDegree)
	from := len(dst)
	for j := range n {
		var t uint32
		if d.float() < internalShare {
			t = w.internal(v, uint64(j), first, end)
		} else {
			t = w.external(v, uint64(j))
		}
		if t != v {
			dst = append(dst, t)
		}
	}
	slices.Sort(dst[from:])
	return dst[:from+len(slices.Compact(dst[from:]))]
}

func (w *syntheticWeb) internal(v uint32, j uint64, first, end uint32) uint32 {
	for range maxCopiesOfLink {
		d := draw{w.hash(uint64(v), j, 'i')}
		if v == first || d.float() >= internalCopy {
			if d.float() < nearShare {
				t := int64(v) + int64(d.below(2*nearReach+1)) - nearReach
				return uint32(min(max(t, int64(first)), int64(end)-1))
			}
			u := d.float()
			return first + uint32(float64(end-first)*u*u*u)
		}
		model := draw{w.hash(uint64(v), 0, 'm')} // one model for all links of v
		v -= 1 + uint32(model.below(uint64(min(copyReach, v-first))))
	}
	return first
}

func (w *syntheticWeb) external(v uint32, j uint64) uint32 {
	for range maxCopiesOfLink {
		d := draw{w.hash(uint64(v), j, 'e')}
		if v == 0 || d.float() >= externalCopy {
			if d.float() < homeShare {
				return w.hosts[d.below(uint64(len(w.hosts)))]
			}
			return uint32(d.below(uint64(w.pages)))
		}
		v = uint32(d.below(uint64(v)))
	}
	return 0
}

func (w *syntheticWeb) hash(a, b uint64, what byte) uint64 {
	return mix(mix(mix(w.seed^uint64(what)<<56)^a) ^ b)
}

// draw is a generator seeded by a hash (splitmix64, Steele et al. 2014).
type draw struct{ state uint64 }

func (d *draw) next() uint64 {
	d.state += 0x9e3779b97f4a7c15
	return mix(d.state)
}

func (d *draw) float() float64 { return float64(d.next()>>11) / (1 << 53) }

// below returns a number below n > 0, with negligible bias.
func (d *draw) below(n uint64) uint64 { return uint64(d.float() * float64(n)) }

func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}
