package serving

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
)

// Listen listens on HOST:PORT, without HOST on 127.0.0.1; 0.0.0.0 or [::] means all addresses.
func Listen(addr string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.Listen("tcp", net.JoinHostPort(host, port))
}

// nursery is the folder, short since paths are limited, in which a socket is created.
const nursery = ".sock"

// ListenUnix listens on a Unix socket, replacing what is at path. At no moment can anybody but its
// owner connect: it is created in a closed folder and moved once its permissions are set. Closing
// the listener removes it.
func ListenUnix(path string) (net.Listener, error) {
	dir := filepath.Join(filepath.Dir(path), nursery)
	if err := os.RemoveAll(dir); err != nil { // left by a killed process
		return nil, err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	defer os.Remove(dir) // empty by now; otherwise the next process removes it
	at := filepath.Join(dir, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: at, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // it would remove the original name
	if err := errors.Join(os.Chmod(at, 0o600), os.Rename(at, path)); err != nil {
		return nil, errors.Join(err, l.Close(), os.RemoveAll(dir))
	}
	return &socket{l, path}, nil
}

type socket struct {
	*net.UnixListener
	path string
}

func (s *socket) Close() error {
	err := s.UnixListener.Close()
	if gone := os.Remove(s.path); gone != nil && err == nil && !errors.Is(gone, fs.ErrNotExist) {
		err = gone
	}
	return err
}

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
