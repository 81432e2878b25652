package fetch

import (
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"
)

// A server that wants a certificate of ours says so after the handshake in TLS
// 1.3, in it in TLS 1.2. Both mean that no exchange with the host is possible.
func TestServerWantsCertificate(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		srv := httptest.NewUnstartedServer(http.NotFoundHandler())
		srv.Config.ErrorLog = log.New(io.Discard, "", 0)
		srv.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MinVersion: version, MaxVersion: version}
		srv.StartTLS()
		t.Cleanup(srv.Close)
		opt := limitsFor(StateTLSError)
		opt.RootCAs = srv.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
		r := newTest(t, opt).Fetch(t.Context(), Request{URL: srv.URL})
		if r.State != StateTLSError {
			t.Errorf("%s: %s, %v; want tls_error", tls.VersionName(version), r.State, r.Err)
		}
	}
}
