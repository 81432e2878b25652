package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// maxDials bounds how many of a name's addresses are tried.
const maxDials = 6

// dialer makes the connections of a Fetcher: Hosts, literals, then the DNS
// cache give the addresses, which are tried in order, each under the guard.
type dialer struct {
	guard   guard
	dns     *dnsCache
	hosts   map[string]netip.AddrPort
	proxied bool // every dial is to the proxy, which may stand anywhere
	timeout time.Duration
}

// errSpent is seen by nobody: its exchange has ended by then.
var errSpent = errors.New("the exchange has sent its request; it needs no other connection")

// DialContext is http.Transport's. Its errors know their state.
func (d *dialer) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	if ex, ok := ctx.Value(exchangeKey{}).(*exchange); ok && ex.spent.Load() {
		return nil, errSpent
	}
	// net/http lets a dial outlive its exchange when others might use it.
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	host, portText, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, &stateError{StateConnectError, err}
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil || port == 0 {
		return nil, &stateError{StateConnectError, fmt.Errorf("port %q of %s is not between 1 and 65535", portText, host)}
	}
	var only netip.Addr
	if ex, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		only = ex.req.Addr
	}
	targets, err := d.targets(ctx, host, uint16(port), only)
	if err != nil {
		return nil, err
	}
	return d.dialFirst(ctx, network, targets)
}

// dialFirst returns the first connection that comes about. The time left is
// shared among the addresses left, so that a dead one doesn't eat it all.
func (d *dialer) dialFirst(ctx context.Context, network string, targets []netip.AddrPort) (net.Conn, error) {
	nd := net.Dialer{KeepAlive: -1} // idle connections don't live long enough to probe
	if !d.proxied {
		// targets has been filtered; this is the check that counts, on the
		// address that the kernel is about to connect to.
		nd.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
			ap, err := netip.ParseAddrPort(address)
			if err != nil {
				return &stateError{StateGuardDenied, fmt.Errorf("the guard cannot read the address %q: %w", address, err)}
			}
			return d.guard.check(ap.Addr())
		}
	}
	var first error
	for i, target := range targets {
		share := ctx
		cancel := context.CancelFunc(func() {})
		if deadline, ok := ctx.Deadline(); ok && i < len(targets)-1 {
			share, cancel = context.WithTimeout(ctx, time.Until(deadline)/time.Duration(len(targets)-i))
		}
		conn, err := nd.DialContext(share, network, target.String())
		cancel()
		if err == nil {
			return watch(conn), nil
		}
		if first == nil {
			first = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	if StateOf(first) == StateGuardDenied {
		return nil, first
	}
	if isTimeout(first) {
		return nil, &stateError{StateConnectTimeout, first}
	}
	return nil, &stateError{StateConnectError, first}
}

// targets returns where host may be reached, guarded addresses left out; at
// least one, or an error that means no_ip or guard_denied. Where only is an address,
// no other is looked for.
func (d *dialer) targets(ctx context.Context, host string, port uint16, only netip.Addr) ([]netip.AddrPort, error) {
	addrs, port, err := d.lookup(ctx, host, port, only)
	if err != nil {
		return nil, err
	}
	var out []netip.AddrPort
	var denied error
	for _, a := range addrs {
		if !d.proxied {
			if err := d.guard.check(a); err != nil {
				denied = err
				continue
			}
		}
		if out = append(out, netip.AddrPortFrom(a, port)); len(out) == maxDials {
			break
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("host %s: %w", host, denied)
	}
	return out, nil
}

func (d *dialer) lookup(ctx context.Context, host string, port uint16, only netip.Addr) ([]netip.Addr, uint16, error) {
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if ap, ok := d.hosts[name]; ok && !d.proxied {
		if ap.Port() != 0 {
			port = ap.Port()
		}
		return []netip.Addr{ap.Addr().Unmap()}, port, nil
	}
	if only.IsValid() && !d.proxied {
		return []netip.Addr{only.Unmap()}, port, nil
	}
	addr, literal, err := parseLiteral(host)
	if err != nil {
		return nil, 0, &stateError{StateNoIP, fmt.Errorf("%w: %w", ErrNoSuchHost, err)}
	}
	if literal {
		return []netip.Addr{addr.Unmap()}, port, nil
	}
	if !isName(name) {
		return nil, 0, &stateError{StateNoIP, notAName(host)}
	}
	addrs, err := d.dns.lookup(ctx, name)
	return addrs, port, err
}

func notAName(host string) error {
	return fmt.Errorf("%.100q is not a host name: it has an empty part, a part over 63 letters, or more than 253 letters", host)
}

// isName says whether a name server can know a name (RFC 1035, 2.3.4). Which
// characters it has is the server's affair: underscores are common.
func isName(name string) bool {
	if len(name) == 0 || len(name) > 253 {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if len(label) == 0 || len(label) > 63 {
			return false
		}
	}
	return true
}
