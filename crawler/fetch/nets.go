package fetch

import (
	"bufio"
	"fmt"
	"io"
	"net/netip"
	"strings"

	"go4.org/netipx"
)

// Nets is a set of addresses, as of a country's networks (paper E7). It does not
// change and is safe for concurrent use; a look-up is a binary search.
type Nets struct {
	set  *netipx.IPSet
	name string // of the file, for reasons
}

// ParseNets reads a list, one a line: a net (192.0.2.0/24), an address, or the first
// and the last address of a range (192.0.2.0-192.0.2.9). Empty lines and # comments are
// skipped. filename and the line stand in errors; a list without any net is one, for no
// host would be left.
func ParseNets(r io.Reader, filename string) (*Nets, error) {
	var all netipx.IPSetBuilder
	lines := bufio.NewScanner(r)
	n, nets := 0, 0
	for lines.Scan() {
		n++
		text, _, _ := strings.Cut(lines.Text(), "#")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		span, err := parseNet(text)
		if err != nil {
			return nil, fmt.Errorf("list of networks %s:%d: %q is not a network; write 192.0.2.0/24, 2001:db8::/32, an address or FIRST-LAST", filename, n, text)
		}
		all.AddRange(span)
		nets++
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("list of networks %s:%d: %w", filename, n+1, err)
	}
	if nets == 0 {
		return nil, fmt.Errorf("list of networks %s: it has no network; write one a line, as 192.0.2.0/24", filename)
	}
	set, err := all.IPSet()
	if err != nil {
		return nil, fmt.Errorf("list of networks %s: %w", filename, err)
	}
	return &Nets{set, filename}, nil
}

// parseNet reads a net, an address or a range of addresses.
func parseNet(s string) (netipx.IPRange, error) {
	if first, last, ok := strings.Cut(s, "-"); ok {
		from, err := netip.ParseAddr(strings.TrimSpace(first))
		if err != nil {
			return netipx.IPRange{}, err
		}
		to, err := netip.ParseAddr(strings.TrimSpace(last))
		if err != nil {
			return netipx.IPRange{}, err
		}
		return rangeOf(from, to)
	}
	if prefix, err := netip.ParsePrefix(s); err == nil {
		span := netipx.RangeOfPrefix(prefix.Masked())
		return rangeOf(span.From(), span.To())
	}
	addr, err := netip.ParseAddr(s)
	if err != nil {
		return netipx.IPRange{}, err
	}
	return rangeOf(addr, addr)
}

// rangeOf makes a range of addresses as the guard sees them: IPv4 inside IPv6 is IPv4.
func rangeOf(from, to netip.Addr) (netipx.IPRange, error) {
	if from.Zone() != "" || to.Zone() != "" {
		return netipx.IPRange{}, fmt.Errorf("an address with a zone is not allowed in a list of networks")
	}
	if from.Is4In6() && to.Is4In6() {
		from, to = from.Unmap(), to.Unmap()
	}
	span := netipx.IPRangeFrom(from, to)
	if !span.IsValid() {
		return netipx.IPRange{}, fmt.Errorf("the ends of the range are of different kinds, or in the wrong order")
	}
	return span, nil
}

// check refuses an address outside the nets; a nil list has all.
func (n *Nets) check(a netip.Addr) error {
	if n == nil || n.set.Contains(a) {
		return nil
	}
	return &stateError{StateGuardDenied, fmt.Errorf("%s is in none of the networks of %s", a, n.name)}
}
