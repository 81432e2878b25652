package fetch

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// newTransport sets up net/http: HTTP/2 and keep-alive on, decompression off
// (ours has limits), every dial through d.
func newTransport(opt Options, d *dialer) *http.Transport {
	t := &http.Transport{
		DialContext:            d.DialContext,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxIdleConns:           opt.MaxIdleConns,
		MaxIdleConnsPerHost:    opt.ConnsPerHost,
		MaxConnsPerHost:        opt.ConnsPerHost,
		IdleConnTimeout:        opt.IdleTimeout,
		MaxResponseHeaderBytes: opt.MaxHeaderBytes,
		TLSClientConfig:        &tls.Config{RootCAs: opt.RootCAs, MinVersion: tls.VersionTLS12},
	}
	if opt.Proxy == nil {
		t.DialTLSContext = (&tlsDialer{d, t.TLSClientConfig.Clone()}).DialTLSContext
	} else {
		t.Proxy = http.ProxyURL(opt.Proxy)
		t.ProxyConnectHeader = http.Header{"User-Agent": {opt.UserAgent}} // else net/http's own goes out
		// To net/http all plain hosts behind a proxy are one host.
		t.MaxConnsPerHost, t.MaxIdleConnsPerHost = 0, opt.MaxIdleConns
		t.OnProxyConnectResponse = func(_ context.Context, _ *url.URL, req *http.Request, res *http.Response) error {
			if res.StatusCode == http.StatusOK {
				return nil
			}
			return refusedByProxy(res.Status, "CONNECT "+req.Host)
		}
	}
	return t
}

// gate is the http.RoundTripper that Colly's client calls: the last of our
// code before a request goes out and the first to see the answer.
type gate struct {
	f    *Fetcher
	next http.RoundTripper // f's transport
}

func (g *gate) RoundTrip(req *http.Request) (*http.Response, error) {
	ex := req.Context().Value(exchangeKey{}).(*exchange)
	if g.f.opt.Proxy != nil {
		// The proxy dials; all that can be judged here is what the URL says.
		if err := g.f.guard.checkHost(ex.url.Hostname()); err != nil {
			return nil, err
		}
	}
	res, err := g.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode == http.StatusProxyAuthRequired && g.f.forwards(ex.url) {
		_ = res.Body.Close() // it was not read: there is no error to tell
		return nil, refusedByProxy(res.Status, "GET "+ex.url.Host)
	}
	ex.answer.wire = ex.conn.wire(req, res)
	g.f.cookies.keep(ex.url, res)
	ex.received(res)
	return res, nil
}

// forwards says whether a request for u is answered by the proxy itself; it only
// tunnels what is for https, and SOCKS does so for all.
func (f *Fetcher) forwards(u *url.URL) bool {
	p := f.opt.Proxy
	return p != nil && (p.Scheme == "http" || p.Scheme == "https") && u.Scheme == "http"
}

// refusedByProxy is the error of a proxy that does not do as asked. It does not
// name the proxy: its URL has a password.
func refusedByProxy(status, what string) error {
	hint := ""
	if strings.HasPrefix(status, "407") {
		hint = "; it needs a user and password: http://USER:PASSWORD@HOST:PORT"
	}
	return &stateError{StateConnectError, fmt.Errorf("the proxy answers %s to %s%s", status, what, hint)}
}

// received puts our reader before the body.
func (ex *exchange) received(res *http.Response) {
	ex.clock.enter(phaseBody)
	ex.conn.allowBody(ex.req.MaxBodyBytes)
	ex.answer.withhold(res.Header)
	ex.answer.reader = newBodyReader(ex, res)
	res.Body, res.Uncompressed = ex.answer.reader, true // so that Colly unpacks nothing
}
