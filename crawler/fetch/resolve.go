package fetch

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Resolve returns the address at which a host ("name:port") takes connections.
// It is the first of those that the name system gives to which a connection
// comes about. Names come out of the same cache as for exchanges (paper E: one
// look-up a party). It is hung up at once. What is named and takes none may be
// anybody's. Through a proxy it is the zero Addr and no error. StateOf tells
// no_ip, guard_denied, connect_error and connect_timeout in the error.
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

// targets returns where a host may be reached; none through a proxy.
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
