package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"
)

// dnsCache looks each name up once in its time to live, however many ask at
// once (paper E: one look-up a party). It starts no goroutine: the first who
// asks does the look-up for all.
type dnsCache struct {
	resolver Resolver
	ttl      time.Duration // of answers
	failTTL  time.Duration // of names that are not there
	max      int           // names
	timeout  time.Duration // of one look-up
	now      func() time.Time

	mu      sync.Mutex // guards what follows
	entries map[string]*dnsEntry
	order   []string // names in the order they came in; the first leaves first
}

// dnsEntry is a look-up under way (done open) or over (done closed).
type dnsEntry struct {
	done  chan struct{}
	addrs []netip.Addr
	err   error
	until time.Time // zero: the asker gave up, ask again
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

// ErrNoSuchHost is in the error of a no_ip that is an answer of the name system:
// the name is not there, or has no address. A no_ip without it says that the
// resolver could not be asked or did not know; that may pass.
var ErrNoSuchHost = errors.New("no such host")

// resolverFailTTL is how long a failure of the resolver is kept, for all who ask at
// once. It says nothing of the name, so the next try must ask anew.
const resolverFailTTL = time.Second

// lookup returns the addresses of name in the resolver's order; an error means
// no_ip, unless ctx ended.
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

// entry returns the entry of name, and whether the caller has to fill it.
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

// resolve fills e and lets the waiters go.
func (c *dnsCache) resolve(ctx context.Context, name string, e *dnsEntry) {
	defer close(e.done)
	ask, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	addrs, err := c.resolver.LookupNetIP(ask, "ip", name)
	if err != nil && ctx.Err() != nil {
		return // broken off: no news of the name; until stays zero
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
			err = errors.New(de.Err) // the name stands in ours already
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
