package crawler

import (
	"fmt"
	"net/netip"
)

// acrossAddress is what agents tell each other of an address, as sites of several agents may be
// there. It goes to who has the part of the address, and from there, Shared, to who has the
// sites.
type acrossAddress struct {
	Addr   string   `cbor:"1,keyasint"`
	Parts  []uint16 `cbor:"2,keyasint"` // of sites with a host there
	Shared bool     `cbor:"3,keyasint,omitempty"`
	Site   string   `cbor:"4,keyasint,omitempty"` // that wants the address, or Shared has it, of a crawl with one site an address
}

// maxSite bounds the name of a site, in bytes: a name has 253, and some a port.
const maxSite = 300

// mostParts is how many parts of the web are told of an address at most.
const mostParts = 1024

// Part is the part of the web that has to know which sites are at an address.
func (a *acrossAddress) Part(sites Sites) uint16 { return sites.PartOf([]byte(a.Addr)) }

// Size is about how many bytes it takes.
func (a *acrossAddress) Size() int { return 64 + 3*len(a.Parts) + len(a.Site) }

// check says what is wrong with what another machine sent.
func (a *acrossAddress) check() error {
	if _, err := netip.ParseAddr(a.Addr); err != nil || len(a.Parts) == 0 || len(a.Parts) > mostParts || len(a.Site) > maxSite {
		return fmt.Errorf("a parcel that names %d parts at the address %.100q: %w", len(a.Parts), a.Addr, err)
	}
	return nil
}
