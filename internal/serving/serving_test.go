package serving

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"fossick/internal/testkit"
)

// TestOwnNames: only addresses, localhost and the host listened on are answered.
func TestOwnNames(t *testing.T) {
	hosts := testkit.Tries(t, "Host headers")
	for _, c := range []struct {
		addr string
		held []string
		fell []string
	}{
		{"127.0.0.1:9100",
			[]string{"127.0.0.1:9100", "127.0.0.1", "localhost:9100", "LOCALHOST", "localhost.", "app.localhost:9100", "[::1]:9100", "[::1]", "192.0.2.7:9100", "[fe80::1%25eth0]:9100"},
			[]string{"evil.test", "evil.test:9100", "127.0.0.1.evil.test", "localhost.evil.test:9100", "evil-localhost", "", ":9100", "0x7f000001", "127.1", "2130706433", "xn--localhost-", "127.0.0.1@evil.test", "evil.test#127.0.0.1", " ", "a:b:c"}},
		{"crawler.example.org:9100", []string{"crawler.example.org:9100", "Crawler.Example.ORG.", "10.0.0.1:9100"}, []string{"example.org", "x.crawler.example.org", "crawler.example.org.evil.test"}},
		{":9100", []string{"localhost"}, []string{"", ":9100", "evil.test:9100"}},
	} {
		h := OwnNames(c.addr, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "secret") }))
		try := func(host string, want int) {
			r := httptest.NewRequest("GET", "/status", nil)
			r.Host = host
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			hosts.Try(w.Code == want && (want == http.StatusOK) == strings.Contains(w.Body.String(), "secret"),
				"listening on %s, Host %q: %d %q, want %d", c.addr, host, w.Code, w.Body, want)
		}
		for _, host := range c.held {
			try(host, http.StatusOK)
		}
		for _, host := range c.fell {
			try(host, http.StatusMisdirectedRequest)
		}
	}
}

// TestListenIsLoopback: an address without a host is loopback only.
func TestListenIsLoopback(t *testing.T) {
	for addr, want := range map[string]bool{":0": true, "127.0.0.1:0": true, "localhost:0": true, "0.0.0.0:0": false} {
		l := testkit.Call(Listen(addr)).Must(t)
		if got := l.Addr().(*net.TCPAddr).IP.IsLoopback(); got != want {
			t.Errorf("%s listens on %s", addr, l.Addr())
		}
		l.Close()
	}
	for _, addr := range []string{"", "nowhere:1:2", "1234", "127.0.0.1:http-of-nobody"} {
		if l, err := Listen(addr); err == nil {
			t.Errorf("%q listens on %s", addr, l.Addr())
		}
	}
}

// TestListenUnix: a socket never has wider permissions, for any umask or remains.
func TestListenUnix(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.sock")
	testkit.Must(t, os.WriteFile(path, nil, 0o666))
	testkit.Must(t, os.MkdirAll(filepath.Join(dir, nursery, "s"), 0o777))
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	stop := make(chan struct{})
	seen := make(chan os.FileMode)
	go func() { // watches for a moment of open permissions
		var open os.FileMode
		for {
			select {
			case <-stop:
				seen <- open
				return
			default:
			}
			if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSocket != 0 {
				open |= info.Mode().Perm() & 0o077
			}
		}
	}()
	for range 50 {
		l := testkit.Call(ListenUnix(path)).Must(t)
		c := testkit.Call(net.Dial("unix", path)).Must(t)
		c.Close()
		testkit.Must(t, l.Close())
		if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Fatalf("%v, %v are left", left, err)
		}
	}
	close(stop)
	if open := <-seen; open != 0 {
		t.Errorf("a socket was %04o to others", open)
	}
}

// TestStop: whatever clients do, the server ends without an error, and no handler is left running.
func TestStop(t *testing.T) {
	for name, try := range map[string]string{
		"says nothing":   "",
		"half a header":  "GET / HTTP/1.1\r\nHost: x\r\n",
		"kept alive":     "GET /quick HTTP/1.1\r\nHost: x\r\n\r\n",
		"runs long":      "GET /long HTTP/1.1\r\nHost: x\r\n\r\n",
		"half a body":    "POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345",
		"reads nothing":  "GET /much HTTP/1.1\r\nHost: x\r\n\r\n",
		"no HTTP at all": "\x16\x03\x01\x02\x00\x01",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begun, ended := make(chan struct{}), make(chan struct{})
			mux := http.NewServeMux()
			handle := func(path string, f func(w http.ResponseWriter, r *http.Request)) {
				mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
					close(begun)
					defer close(ended)
					f(w, r)
				})
			}
			handle("/quick", func(http.ResponseWriter, *http.Request) {})
			handle("/long", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
			handle("/body", func(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) })
			handle("/much", func(w http.ResponseWriter, _ *http.Request) {
				for err := error(nil); err == nil; {
					_, err = w.Write(make([]byte, 1<<20))
				}
			})
			l := testkit.Call(Listen(":0")).Must(t)
			s := Start(l, mux, Options{Grace: 20 * time.Millisecond})
			c := testkit.Call(net.Dial("tcp", l.Addr().String())).Must(t)
			defer c.Close()
			io.WriteString(c, try)
			if strings.Contains(try, "/") && strings.Contains(try, "\r\n\r\n") {
				<-begun
			}
			if err := s.Stop(); err != nil {
				t.Error(err)
			}
			select {
			case <-begun:
				<-ended
			default:
			}
		})
	}
}

// TestStopIsBounded: a handler that never returns does not block Stop.
func TestStopIsBounded(t *testing.T) {
	l := testkit.Call(Listen(":0")).Must(t)
	begun, free := make(chan struct{}), make(chan struct{})
	defer close(free)
	s := Start(l, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { close(begun); <-free }), Options{Grace: time.Millisecond})
	c := testkit.Call(net.Dial("tcp", l.Addr().String())).Must(t)
	defer c.Close()
	io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	<-begun
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
}

// TestConnections: no more connections are served than allowed; the next is answered when one ends.
func TestConnections(t *testing.T) {
	l, err := Listen(":0")
	if err != nil {
		t.Fatal(err)
	}
	counted := &counting{Listener: l, accepted: make(chan struct{}, 100)}
	s := Start(counted, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "here") }), Options{Connections: 3, Grace: time.Millisecond})
	defer s.Stop()
	var idle []net.Conn
	for range 20 {
		c := testkit.Call(net.Dial("tcp", l.Addr().String())).Must(t)
		defer c.Close()
		idle = append(idle, c)
	}
	for range 3 {
		<-counted.accepted
	}
	last := idle[len(idle)-1]
	fmt.Fprint(last, "GET / HTTP/1.0\r\nHost: x\r\n\r\n")
	if n := len(counted.accepted); n != 0 {
		t.Errorf("%d connections too many were accepted", n)
	}
	for _, c := range idle[:len(idle)-1] {
		c.Close()
	}
	answer, err := http.ReadResponse(bufio.NewReader(last), nil)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Errorf("%v, %v", answer, err)
	}
}

type counting struct {
	net.Listener
	accepted chan struct{}
}

func (c *counting) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err == nil {
		c.accepted <- struct{}{}
	}
	return conn, err
}
