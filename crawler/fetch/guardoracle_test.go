package fetch

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"code.dny.dev/ssrf"

	"fossick/internal/page"
	"fossick/internal/tries"
)

// differences are where the guard and its oracle part, and why.
var differences = []struct {
	net    string
	denied bool // by the guard, and not by the oracle
	why    string
}{
	{"::ffff:0:0/96", false, "IPv4-mapped: the kernel dials the IPv4 address inside, so that is judged"},
	{"64:ff9b::/96", false, "NAT64: where there is no IPv4, real servers are reached by it; the address inside is judged"},
	{"168.63.129.16/32", true, "Azure's metadata, in public space"},
}

// TestGuardAgainstOracle compares the guard with code.dny.dev/ssrf at the edges
// of all nets that either has, inside and outside, and at random addresses.
// Each of these is tried too inside the forms of IPv6 that carry IPv4.
func TestGuardAgainstOracle(t *testing.T) {
	g, oracle := newGuard(nil), ssrf.New()
	met, addresses := make([]int, len(differences)), tries.Of(t, "addresses")
	for _, a := range guardAddresses() {
		got, want := g.check(a) != nil, oracle.SafeAddr(a) != nil
		listed := got == want
		for i, d := range differences {
			if got != want && d.denied == got && netip.MustParsePrefix(d.net).Contains(a) {
				listed = true
				met[i]++
			}
		}
		addresses.Try(listed, "%v: the guard refuses it %v, the oracle %v", a, got, want)
	}
	for i, d := range differences {
		if met[i] == 0 {
			t.Errorf("%s (%s) is listed as a difference, and none was met", d.net, d.why)
		}
	}
}

// TestGuardJudgesInside: what is mapped, or in NAT64's prefix, is refused just when the
// IPv4 address inside is.
func TestGuardJudgesInside(t *testing.T) {
	g := newGuard(nil)
	for _, a := range guardAddresses() {
		if !a.Is4() {
			continue
		}
		for _, prefix := range []string{"::ffff:0:0", "64:ff9b::"} {
			if in := embed(prefix, 12, a); (g.check(in) == nil) != (g.check(a) == nil) {
				t.Errorf("%v: %v, but %v: %v", in, g.check(in), a, g.check(a))
			}
		}
	}
}

// guardAddresses has edges and random addresses, plain and embedded.
func guardAddresses() (all []netip.Addr) {
	nets := slices.Concat(ssrf.IPv4DeniedPrefixes, ssrf.IPv6DeniedPrefixes, []netip.Prefix{ssrf.IPv6GlobalUnicast, ssrf.IPv6NAT64Prefix})
	for _, n := range page.SpecialNets() {
		nets = append(nets, n.Prefix)
	}
	for _, d := range differences {
		nets = append(nets, netip.MustParsePrefix(d.net))
	}
	for _, n := range nets {
		first, last := n.Masked().Addr(), lastOf(n)
		all = append(all, first, last, first.Next(), last.Prev(), first.Prev(), last.Next())
	}
	rng := rand.New(rand.NewPCG(1, 14))
	for range 20_000 {
		var b [16]byte
		binary.LittleEndian.PutUint64(b[:], rng.Uint64())
		binary.LittleEndian.PutUint64(b[8:], rng.Uint64())
		four := netip.AddrFrom4([4]byte(b[:4]))
		six := netip.AddrFrom16(b)
		b[0] = 0x20 | b[0]&0x1f // of what IANA has given out
		all = append(all, four, six, netip.AddrFrom16(b))
	}
	all = slices.DeleteFunc(all, func(a netip.Addr) bool { return !a.IsValid() }) // before 0.0.0.0, after ffff:…
	for _, a := range slices.Clone(all) {
		if a.Is4() { // mapped, NAT64, local NAT64, 6to4, Teredo's server, IPv4-compatible, -translated
			all = append(all, embed("::ffff:0:0", 12, a), embed("64:ff9b::", 12, a), embed("64:ff9b:1::", 12, a),
				embed("2002::", 2, a), embed("2001::", 4, a), embed("::", 12, a), embed("::ffff:0:0:0", 12, a))
		}
	}
	return all
}

func lastOf(n netip.Prefix) netip.Addr {
	b := n.Masked().Addr().AsSlice()
	for bit := n.Bits(); bit < 8*len(b); bit++ {
		b[bit/8] |= 0x80 >> (bit % 8)
	}
	last, _ := netip.AddrFromSlice(b)
	return last
}

func embed(prefix string, at int, a netip.Addr) netip.Addr {
	b, four := netip.MustParseAddr(prefix).As16(), a.As4()
	copy(b[at:], four[:])
	return netip.AddrFrom16(b)
}
