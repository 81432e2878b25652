package ui

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"fossick/internal/cli"
)

// access decides who may ask. A browser gets a cookie for the token in the address that the server
// prints; the page's scripts never see it.
type access struct {
	token    string
	session  string // the cookie's value: servers at other ports get the cookie, and must not get the token
	password string // "": none
	cookie   string // its name; browsers share cookies between the ports of a host

	guess chan struct{} // holds one value; taken by a failed password, so that guessing is slow
}

// guessTime is the time of a wrong password.
const guessTime = time.Second

func newAccess(password, port string) *access {
	var token [16]byte
	_, _ = rand.Read(token[:]) // it never fails
	mac := hmac.New(sha256.New, token[:])
	mac.Write([]byte("cookie"))
	a := &access{token: hex.EncodeToString(token[:]), session: hex.EncodeToString(mac.Sum(nil)), password: password, cookie: "fossick-" + port, guess: make(chan struct{}, 1)}
	a.guess <- struct{}{}
	return a
}

// checkAddr refuses an address that other machines reach, unless there is a password.
func checkAddr(addr, password string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return cli.Usagef("--addr %s: %v; give HOST:PORT, as 127.0.0.1:8080", addr, err)
	}
	ip, err := netip.ParseAddr(host)
	if password != "" || host == "" || host == "localhost" || err == nil && ip.IsLoopback() {
		return nil
	}
	return cli.Usagef("--addr %s: other machines reach this address; give --ui-password too, or leave --addr out and come by ssh -L", addr)
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// known reports whether a request comes from somebody who may ask. early refuses a password that came
// while another was found wrong, without a look at it; a right one holds the others up for a moment only.
func (a *access) known(r *http.Request) (known, early bool) {
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return same(bearer, a.token), false
	}
	if c, err := r.Cookie(a.cookie); err == nil && same(c.Value, a.session) {
		return true, false
	}
	_, password, ok := r.BasicAuth()
	if !ok || a.password == "" {
		return false, false
	}
	select {
	case <-a.guess:
	case <-time.After(guessTime / 10):
		return false, true
	case <-r.Context().Done():
		return false, true
	}
	defer func() { a.guess <- struct{}{} }()
	if same(password, a.password) {
		return true, false
	}
	select {
	case <-time.After(guessTime):
	case <-r.Context().Done():
	}
	return false, false
}

// enter gives the browser the cookie when it comes with the token, or with the password before.
func (a *access) enter(w http.ResponseWriter, r *http.Request) {
	if a.password != "" || same(r.URL.Query().Get("token"), a.token) {
		http.SetCookie(w, &http.Cookie{Name: a.cookie, Value: a.session, Path: "/api/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	}
}

// pageCSP lets the page load nothing but its own files, and run no inline script.
const pageCSP = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// answerCSP lets an answer do nothing, should a browser show it as a page.
const answerCSP = "sandbox; default-src 'none'; frame-ancestors 'none'"

// guard answers for requests that the interface must not see. The Host header was checked before.
func (a *access) guard(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range map[string]string{
			"Content-Security-Policy": pageCSP, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin", "Cache-Control": "no-store",
		} {
			w.Header().Set(name, value)
		}
		switch {
		case !strings.HasPrefix(r.URL.Path, "/api/"):
			if a.password != "" && a.refuses(w, r) {
				return
			}
			a.enter(w, r)
		case foreign(r):
			fail(w, http.StatusForbidden, "this request comes from a page of another site; use the page of this server")
			return
		case a.refuses(w, r):
			return
		}
		h.ServeHTTP(w, r)
	})
}

// refuses answers somebody who may not ask.
func (a *access) refuses(w http.ResponseWriter, r *http.Request) bool {
	known, early := a.known(r)
	switch {
	case known:
		return false
	case early:
		fail(w, http.StatusTooManyRequests, "another password was just found wrong; try again in a second")
	case a.password != "":
		w.Header().Set("WWW-Authenticate", `Basic realm="fossick", charset="UTF-8"`)
		fail(w, http.StatusUnauthorized, "give the password of --ui-password, with any name")
	default:
		fail(w, http.StatusUnauthorized, "open the address that fossick printed: it has a token; programs send it as Authorization: Bearer TOKEN")
	}
	return true
}

// foreign reports a request that a page of another site made. What changes something must come from
// our page, or from a program that shows the token itself.
func foreign(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return true
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return r.Method != http.MethodGet && r.Method != http.MethodHead && !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	u, err := url.Parse(origin)
	return err != nil || u.Host != r.Host
}
