package fetch

import (
	"bufio"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"fossick/internal/page"

	"go4.org/netipx"
	"golang.org/x/net/idna"
)

// guard decides which addresses may be dialled. It is fixed at New, so it is safe for
// concurrent use.
type guard struct {
	allow []netip.Prefix // --allow-net: goes before page.SpecialAddr
	only  *Nets          // --cidr: all other addresses are refused; nil for no limit
}

func newGuard(allow []netip.Prefix) guard {
	g := guard{allow: make([]netip.Prefix, len(allow))}
	for i, p := range allow {
		if a := p.Addr(); a.Is4In6() && p.Bits() >= 96 {
			p = netip.PrefixFrom(a.Unmap(), p.Bits()-96) // addresses as check sees them
		}
		g.allow[i] = p.Masked()
	}
	return g
}

// check refuses a with an error that means guard_denied. It judges an IPv4 address inside an
// IPv6 one as the former. Allowing an IPv4 net does not allow its IPv6 form, which reaches a
// gateway: that needs its own net.
func (g *guard) check(a netip.Addr) error {
	a = a.WithZone("").Unmap()
	if !a.IsValid() {
		return &stateError{StateGuardDenied, fmt.Errorf("no address to check")}
	}
	allowed, inner := g.allowed(a), a
	if !allowed {
		inner = page.InnerAddr(a)
	}
	if err := g.only.check(inner); err != nil || allowed {
		return err
	}
	if what := page.SpecialAddr(inner); what != "" {
		return deniedError(a.String(), what)
	}
	return nil
}

func (g *guard) allowed(a netip.Addr) bool {
	return slices.ContainsFunc(g.allow, func(p netip.Prefix) bool { return p.Contains(a) })
}

func deniedError(who, what string) error {
	return &stateError{StateGuardDenied,
		fmt.Errorf("the egress guard refuses %s (%s); --allow-net allows it", who, what)}
}

// checkHost judges a host that a proxy will resolve: literal addresses in every notation, and
// names without a public server.
func (g *guard) checkHost(host string) error {
	addr, literal, err := parseLiteral(host)
	if err != nil {
		return &stateError{StateGuardDenied, err}
	}
	if literal {
		return g.check(addr)
	}
	name := strings.ToLower(strings.TrimRight(asciiHost(host), "."))
	if what, where := specialName(name); what != "" && !slices.ContainsFunc(where, g.opens) {
		return deniedError("host "+name, what)
	}
	return nil
}

// opens reports whether --allow-net covers a part of a net.
func (g *guard) opens(net netip.Prefix) bool {
	return slices.ContainsFunc(g.allow, net.Overlaps)
}

// asciiHost maps look-alike digits, dots and letters to ASCII as browsers do, and returns
// other hosts unchanged.
func asciiHost(host string) string {
	for i := range len(host) {
		if host[i] >= 0x80 {
			if page.NameTooLong(host) {
				break
			}
			if ascii, err := idna.Lookup.ToASCII(host); err == nil {
				return ascii
			}
			break
		}
	}
	return host
}

// parseLiteral reads a host that is an address: IPv6 with or without brackets, and IPv4 in
// every spelling that browsers accept. literal is false for a name; a host that ends in a
// number but is no address is an error.
func parseLiteral(host string) (addr netip.Addr, literal bool, err error) {
	if strings.Contains(host, ":") {
		inner, ok := strings.CutPrefix(host, "[")
		if ok {
			inner = strings.TrimSuffix(inner, "]")
		}
		addr, err = netip.ParseAddr(inner)
		if err != nil {
			return addr, false, fmt.Errorf("host %q is not an IPv6 address: %w", host, err)
		}
		return addr, true, nil
	}
	name := strings.TrimSuffix(asciiHost(host), ".")
	if !page.EndsInNumber(name) {
		return addr, false, nil
	}
	if addr, literal = page.ParseIPv4(name); !literal {
		return addr, false, fmt.Errorf("host %q ends in a number but is not an IPv4 address", host)
	}
	return addr, true, nil
}

// Where names without a public server lead: --allow-net must cover a part of these.
var (
	loopbackNets = nets("127.0.0.0/8", "::1/128")
	metadataNets = nets("169.254.169.254/32", "100.100.100.200/32", "192.0.0.192/32", "168.63.129.16/32", "fd00:ec2::254/128")
	privateNets  = nets("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "169.254.0.0/16", "fc00::/7", "fe80::/10")
)

func nets(all ...string) []netip.Prefix {
	parsed := make([]netip.Prefix, len(all))
	for i, s := range all {
		parsed[i] = netip.MustParsePrefix(s)
	}
	return parsed
}

// metadataNames belong to clouds' metadata services, with all names below them.
var metadataNames = []string{
	"metadata.google.internal", "metadata.goog", "metadata", // Google
	"instance-data", "instance-data.ec2.internal", // Amazon
	"metadata.azure.internal", "metadata.tencentyun.com", "metadata.packet.net", "metadata.platformequinix.com", "rancher-metadata",
}

// loopbackNames lead to this machine by resolvers or hosts files.
var loopbackNames = []string{
	"localhost", "localhost.localdomain", "localhost6", "localhost6.localdomain6", "ip6-localhost", "ip6-loopback",
}

// privateNames are domains of private networks: reserved by ICANN or an RFC (internal, local,
// home.arpa), never assigned (RFC 6762, appendix G), or a cluster's own (svc, cluster.local).
var privateNames = []string{
	"internal", "svc", "cluster.local", "local", "localdomain", "home.arpa",
	"intranet", "private", "corp", "home", "lan", "kubernetes.default",
}

// specialName says what a lower-case ASCII name is reserved for, and where it leads; "" for a
// public one.
func specialName(name string) (what string, where []netip.Prefix) {
	is := func(domain string) bool {
		rest, ok := strings.CutSuffix(name, domain)
		return ok && (rest == "" || strings.HasSuffix(rest, "."))
	}
	switch {
	case slices.ContainsFunc(metadataNames, is):
		return "cloud metadata", metadataNets
	case slices.ContainsFunc(loopbackNames, is):
		return "this machine's own name", loopbackNets
	case slices.ContainsFunc(privateNames, is):
		return "a name of private networks", privateNets
	case !strings.Contains(name, "."):
		return "a name without a dot, which exists only on a private network", privateNets
	}
	return "", nil
}

// Nets is a set of addresses, such as a country's networks (paper E7). It is immutable and
// safe for concurrent use; a look-up is a binary search.
type Nets struct {
	set  *netipx.IPSet
	name string // of the file, for errors
}

// ParseNets reads one net (192.0.2.0/24), address, or range (192.0.2.0-192.0.2.9) per line,
// and skips empty lines and # comments. Errors name filename and line; an empty list is an
// error, since it excludes every host.
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

// checkPort refuses ports of other protocols, as browsers do: a mail server or a cache may
// take a request's lines for commands. The error means guard_denied.
func checkPort(u *url.URL) error {
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil || !blockedPort(uint16(port)) {
		return nil // none, or one that the dialer refuses
	}
	return &stateError{StateGuardDenied, fmt.Errorf("port %d of %s is not a web port; it belongs to another protocol", port, u.Hostname())}
}

// blockedPort reports the ports of the Fetch standard (section "port blocking", except 0), and
// those of Redis and memcached.
func blockedPort(port uint16) bool {
	switch port {
	case 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95,
		101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179,
		389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587,
		601, 636, 989, 990, 993, 995,
		1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566,
		6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
		6379, 11211:
		return true
	}
	return false
}

// ParseHosts reads a hosts file. A line is a name, a tab or blanks, and an address with or
// without a port (192.0.2.1:8080, [2001:db8::1]:8080); port 0 is the URL's. Empty lines and #
// comments are skipped. Errors name filename and line.
func ParseHosts(r io.Reader, filename string) (map[string]netip.AddrPort, error) {
	hosts := map[string]netip.AddrPort{}
	lines := bufio.NewScanner(r)
	n := 0
	for lines.Scan() {
		n++
		text, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		if len(fields) != 2 {
			return nil, fmt.Errorf("hosts file %s:%d: %d fields; a line is a name, a tab and ip or ip:port", filename, n, len(fields))
		}
		target, err := parseTarget(fields[1])
		if err != nil {
			return nil, fmt.Errorf("hosts file %s:%d: %q is not an address; write ip or ip:port", filename, n, fields[1])
		}
		hosts[strings.ToLower(strings.TrimSuffix(fields[0], "."))] = target
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("hosts file %s:%d: %w", filename, n+1, err)
	}
	return hosts, nil
}

func parseTarget(s string) (netip.AddrPort, error) {
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap, nil
	}
	a, err := netip.ParseAddr(strings.Trim(s, "[]"))
	return netip.AddrPortFrom(a, 0), err
}
