package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// maxDials bounds the addresses of a name that are tried.
const maxDials = 6

// dialer makes a Fetcher's connections. Hosts, literals and the DNS cache, in this order, give
// the addresses; each is tried under the guard.
type dialer struct {
	guard   guard
	dns     *dnsCache
	hosts   map[string]netip.AddrPort
	proxied bool // every dial is to the proxy, which may be anywhere
	timeout time.Duration
}

// errSpent is never reported: its exchange has already ended.
var errSpent = errors.New("the exchange has sent its request; it needs no other connection")

// DialContext implements http.Transport's hook. Its errors carry their state.
func (d *dialer) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	if ex, ok := ctx.Value(exchangeKey{}).(*exchange); ok && ex.spent.Load() {
		return nil, errSpent
	}
	// net/http lets a dial run on after its exchange when others might use it.
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

// dialFirst returns the first connection that succeeds. The addresses left share the time
// left, so that a dead one does not use it up.
func (d *dialer) dialFirst(ctx context.Context, network string, targets []netip.AddrPort) (net.Conn, error) {
	nd := net.Dialer{KeepAlive: -1} // idle connections do not live long enough to probe
	if !d.proxied {
		// This check counts: it sees the address that the kernel is about to connect to.
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

// targets returns at least one address of host that the guard permits, or an error that means
// no_ip or guard_denied. A valid only is the single candidate.
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

// isName reports whether a name fits the DNS (RFC 1035, 2.3.4). It accepts any characters:
// underscores are common.
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

// Resolve returns the address at which a host ("name:port") takes connections: the first that
// connects, of those in the DNS, and closes the connection. Names come from the exchanges'
// cache (paper E: one look-up per party). Listed addresses that do not connect may be
// anybody's. Through a proxy Resolve returns the zero Addr and no error. StateOf finds no_ip,
// guard_denied, connect_error and connect_timeout in the error.
func (f *Fetcher) Resolve(ctx context.Context, host string) (netip.Addr, error) {
	d, targets, err := f.targets(ctx, host)
	if err != nil || targets == nil {
		return netip.Addr{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, f.opt.ConnectTimeout)
	defer cancel()
	conn, err := d.dialFirst(ctx, "tcp", targets)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("host %s: %w", host, err)
	}
	defer conn.Close()
	addr, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	return addr.Addr().Unmap(), err
}

// targets returns the addresses of a host; none through a proxy.
func (f *Fetcher) targets(ctx context.Context, host string) (*dialer, []netip.AddrPort, error) {
	if err := checkPort(&url.URL{Host: host}); err != nil || f.opt.Proxy != nil {
		return nil, nil, err
	}
	name, portText, err := net.SplitHostPort(host)
	if err != nil {
		return nil, nil, fmt.Errorf("%q is not name:port: %w", host, err)
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return nil, nil, fmt.Errorf("port of %q: %w", host, err)
	}
	d := &dialer{guard: f.guard, dns: f.dns, hosts: f.opt.Hosts}
	targets, err := d.targets(ctx, strings.Trim(name, "[]"), uint16(port), netip.Addr{})
	return d, targets, err
}

// dnsCache looks up each name once in its time to live, for all concurrent callers (paper E:
// one look-up per party). It starts no goroutine: the first caller does the look-up.
type dnsCache struct {
	resolver resolver
	ttl      time.Duration // of answers
	failTTL  time.Duration // of names that do not exist
	max      int           // names
	timeout  time.Duration // of one look-up
	now      func() time.Time

	mu      sync.Mutex // guards what follows
	entries map[string]*dnsEntry
	order   []string // names in order of arrival; the first is evicted first
}

// dnsEntry is a look-up in progress (done open) or finished (done closed).
type dnsEntry struct {
	done  chan struct{}
	addrs []netip.Addr
	err   error
	until time.Time // zero: the caller gave up, ask again
}

func newDNSCache(opt Options) *dnsCache {
	return &dnsCache{
		resolver: opt.Resolver,
		ttl:      opt.DNSTTL,
		failTTL:  opt.DNSFail,
		max:      opt.DNSNames,
		timeout:  opt.ConnectTimeout,
		now:      opt.Now,
		entries:  map[string]*dnsEntry{},
	}
}

// ErrNoSuchHost marks a no_ip that the DNS answered: the name does not exist or has no
// address. A no_ip without it is a failure of the resolver and may pass.
var ErrNoSuchHost = errors.New("no such host")

// resolverFailTTL is how long a failure of the resolver is shared among concurrent callers. It
// says nothing about the name, so the next try must ask again.
const resolverFailTTL = time.Second

// lookup returns a name's addresses in the resolver's order; an error means no_ip, unless ctx
// ended.
func (c *dnsCache) lookup(ctx context.Context, name string) ([]netip.Addr, error) {
	for {
		e, mine := c.entry(name)
		if mine {
			c.resolve(ctx, name, e)
		}
		select {
		case <-e.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if !e.until.IsZero() {
			return e.addrs, e.err
		}
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
	}
}

// entry returns the entry of name, and whether the caller must fill it.
func (c *dnsCache) entry(name string) (e *dnsEntry, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, known := c.entries[name]
	if known {
		select {
		case <-e.done:
			if c.now().Before(e.until) {
				return e, false
			}
		default:
			return e, false
		}
	}
	e = &dnsEntry{done: make(chan struct{})}
	c.entries[name] = e
	if !known {
		c.order = append(c.order, name)
		if len(c.order) > c.max {
			delete(c.entries, c.order[0])
			c.order = c.order[1:]
		}
	}
	return e, true
}

// resolve fills e and releases the waiters.
func (c *dnsCache) resolve(ctx context.Context, name string, e *dnsEntry) {
	defer close(e.done)
	ask, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	addrs, err := c.resolver.LookupNetIP(ask, "ip", name)
	if err != nil && ctx.Err() != nil {
		return // cancelled: until stays zero
	}
	for i := range addrs {
		addrs[i] = addrs[i].Unmap()
	}
	ttl := c.ttl
	switch {
	case err != nil:
		var de *net.DNSError
		ttl = min(c.failTTL, resolverFailTTL)
		if errors.As(err, &de) {
			err = errors.New(de.Err) // our error already has the name
			if de.IsNotFound {
				err, ttl = ErrNoSuchHost, c.failTTL
			}
		}
		err = &stateError{StateNoIP, fmt.Errorf("no address for host %s: %w", name, err)}
	case len(addrs) == 0:
		err = &stateError{StateNoIP, fmt.Errorf("no address for host %s: an empty answer: %w", name, ErrNoSuchHost)}
		ttl = c.failTTL
	}
	e.addrs, e.err, e.until = addrs, err, c.now().Add(ttl)
}
