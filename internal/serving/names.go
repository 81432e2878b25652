package serving

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// OwnNames passes on requests to an IP address, to localhost or to the host of addr (HOST:PORT as
// for Listen), and answers 421 to others. A stranger's domain may resolve to this machine (DNS
// rebinding); then scripts of his page would be of the same origin and could read the answers.
func OwnNames(addr string, h http.Handler) http.Handler {
	own := ""
	if host, _, err := net.SplitHostPort(addr); err == nil {
		own = canonical(host)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := canonical(withoutPort(r.Host))
		_, notAddress := netip.ParseAddr(name)
		if name == "" || notAddress != nil && name != own && name != "localhost" && !strings.HasSuffix(name, ".localhost") {
			http.Error(w, fmt.Sprintf("this server is not %q; use its address, as http://127.0.0.1:PORT/, or start it with that name as its address", name), http.StatusMisdirectedRequest)
			return
		}
		h.ServeHTTP(w, r)
	})
}

func withoutPort(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

func canonical(name string) string {
	return strings.TrimSuffix(strings.ToLower(name), ".")
}
