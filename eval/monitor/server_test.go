package monitor

import (
	"net"
	"net/http"
	"strings"
	"testing"
)

// TestServerCostsNothing: idle connections do not make a crawl fail; profiles are served on request only.
func TestServerCostsNothing(t *testing.T) {
	for _, profiles := range []bool{false, true} {
		m, err := Listen(":0", profiles, Session{Topic: "x", Store: "s"})
		if err != nil {
			t.Fatal(err)
		}
		addr := m.Addr().String()
		if !strings.HasPrefix(addr, "127.0.0.1:") {
			t.Fatalf(":0 listens at %q", addr)
		}
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for path, want := range map[string]int{"/status": http.StatusOK, "/metrics": http.StatusOK, "/debug/pprof/": profileCode(profiles)} {
			resp, err := http.Get("http://" + addr + path)
			if err != nil {
				t.Fatal(err)
			}
			if resp.Body.Close(); resp.StatusCode != want {
				t.Errorf("%s with profiles %v: %d, want %d", path, profiles, resp.StatusCode, want)
			}
		}
		if err := m.Stop(); err != nil {
			t.Errorf("a connection that said nothing made an error: %v", err)
		}
	}
}

func profileCode(profiles bool) int {
	if profiles {
		return http.StatusOK
	}
	return http.StatusNotFound
}
