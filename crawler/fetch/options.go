package fetch

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"golang.org/x/net/http/httpguts"
)

// Options sets up a Fetcher. The zero value works; a zero field takes the
// default that stands beside it.
type Options struct {
	// UserAgent is sent as it is; UserAgent builds a good one. ["fossick"]
	UserAgent string
	// Proxy, when set, carries every exchange (http, https, socks5, socks5h).
	// Its own address is not guarded; names are resolved by the proxy.
	Proxy *url.URL
	// Hosts answers for names before the resolver does, and may move them to
	// another port (port 0: the URL's). ParseHosts reads it from a file. The
	// guard applies to these addresses too. Unused through a proxy.
	Hosts map[string]netip.AddrPort
	// RootCAs verifies servers; ReadCAs adds a file to the system's. [the system's]
	RootCAs *x509.CertPool
	// AllowNet names nets that the guard would refuse.
	AllowNet []netip.Prefix
	// Only, when set, has every address that may be dialled, the guard's own rules
	// apart. It cannot go with a proxy, which alone knows the addresses.
	Only *Nets
	// Signer, when set, adds to each request's header what proves who sends it. Safe for
	// concurrent use.
	Signer interface {
		Sign(h http.Header, u *url.URL)
	}
	// Cookies keeps what sites set and sends it back to them, in memory and within
	// limits, until the Fetcher is closed. Off, there are no cookies at all.
	Cookies bool

	Timeout        time.Duration // the whole exchange [60 s]
	ConnectTimeout time.Duration // name, connection, TLS [15 s]
	HeaderTimeout  time.Duration // from the connection to the header's end [20 s]
	MinRate        int64         // least mean body rate in bytes/s after RateGrace; negative: none [256]
	RateGrace      time.Duration // how long a body may be slower than MinRate [5 s]

	MaxHeaderBytes int64 // response header [256 KiB]
	MaxBodyBytes   int64 // body after decompression [4 MiB]
	MaxRatio       int64 // decompressed to compressed, beyond the first MiB [200]

	// ConnsPerHost bounds the connections to one host. The frontier allows one
	// exchange at a time; this is the belt to its braces. No limit through a
	// proxy, to which all hosts are one. [2]
	ConnsPerHost int
	MaxIdleConns int           // kept for later exchanges, all hosts [256]
	IdleTimeout  time.Duration // how long they are kept [30 s]

	// Resolver looks names up behind the fetcher's own cache. [net.DefaultResolver]
	Resolver Resolver
	DNSTTL   time.Duration // how long an answer is kept [5 min]
	DNSFail  time.Duration // how long is kept that a name is not there [30 s]
	DNSNames int           // names kept [65,536]

	Logger *slog.Logger     // a debug line an exchange; nil is silent
	Now    func() time.Time // for Start, Took, the DNS cache and Retry-After [time.Now]
}

// A Resolver finds the addresses of a name. *net.Resolver is one.
type Resolver interface {
	// LookupNetIP is net.Resolver's; network is always "ip".
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// withDefaults fills every zero field.
func (o Options) withDefaults() Options {
	def(&o.UserAgent, "fossick")
	def(&o.Timeout, 60*time.Second)
	def(&o.ConnectTimeout, 15*time.Second)
	def(&o.HeaderTimeout, 20*time.Second)
	def(&o.MinRate, 256)
	def(&o.RateGrace, 5*time.Second)
	def(&o.MaxHeaderBytes, 256<<10)
	def(&o.MaxBodyBytes, 4<<20)
	def(&o.MaxRatio, 200)
	def(&o.ConnsPerHost, 2)
	def(&o.MaxIdleConns, 256)
	def(&o.IdleTimeout, 30*time.Second)
	def(&o.DNSTTL, 5*time.Minute)
	def(&o.DNSFail, 30*time.Second)
	def(&o.DNSNames, 65536)
	if o.Resolver == nil {
		o.Resolver = net.DefaultResolver
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

func def[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// check reports settings that cannot work.
func (o *Options) check() error {
	if !httpguts.ValidHeaderFieldValue(o.UserAgent) {
		return fmt.Errorf("user agent %q has characters that a header can't carry; use printable ones", o.UserAgent)
	}
	if o.Proxy != nil {
		switch o.Proxy.Scheme {
		case "http", "https", "socks5", "socks5h":
		default:
			return fmt.Errorf("proxy %s: unknown scheme %q; use http, https, socks5 or socks5h",
				o.Proxy.Redacted(), o.Proxy.Scheme)
		}
		if o.Proxy.Hostname() == "" {
			return fmt.Errorf("proxy %s: no host; give it as http://host:port", o.Proxy.Redacted())
		}
	}
	if o.Only != nil && o.Proxy != nil {
		return errors.New("a list of networks with a proxy: only the proxy knows the hosts' addresses; leave one out")
	}
	for _, d := range []time.Duration{o.Timeout, o.ConnectTimeout, o.HeaderTimeout, o.RateGrace} {
		if d < 0 {
			return fmt.Errorf("time limit %v is negative; leave it out for the default", d)
		}
	}
	for _, n := range []int64{o.MaxHeaderBytes, o.MaxBodyBytes, o.MaxRatio} {
		if n < 0 {
			return fmt.Errorf("size limit %d is negative; leave it out for the default", n)
		}
	}
	return nil
}

// UserAgent builds the header that site owners see: who, which version, and
// where to write to. Site owners address name in robots.txt. An empty contact
// is left out (for one's own servers only).
func UserAgent(name, version, contact string) string {
	ua := name
	if version != "" {
		ua += "/" + version
	}
	if contact != "" {
		ua += " (+" + contact + ")"
	}
	return ua
}

// ReadCAs returns the system's certificate authorities and those in r, a PEM
// file called name in errors.
func ReadCAs(r io.Reader, name string) (*x509.CertPool, error) {
	pem, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("certificate authorities %s: %w", name, err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // no system store: the file's alone will do
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("certificate authorities %s: no certificate in it; give a PEM file", name)
	}
	return pool, nil
}
