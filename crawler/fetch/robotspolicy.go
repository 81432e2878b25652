package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

const (
	// RobotsTTL is how long rules may be used (RFC 9309, 2.4).
	RobotsTTL = 24 * time.Hour
	// MaxRobotsRedirects is how many redirects of a robots.txt are followed;
	// beyond them it counts as unavailable: AllowAll (RFC 9309, 2.3.1.2).
	MaxRobotsRedirects = 5
)

// RobotsRequest asks for the robots.txt at url, the host's or where it was redirected
// to. Any type and any 2xx will do (RFC 9309, 2.3.1.1); a long one is cut at
// MaxRobotsBytes.
func RobotsRequest(url string) Request {
	return Request{URL: url, Accept: []string{"*/*"}, MaxBodyBytes: maxRobotsBytes, Truncate: true, AnySuccess: true}
}

// AllowAll returns rules that allow everything, and why.
func AllowAll(why string) *Robots {
	return &Robots{index: map[string]int{}, why: why}
}

// DisallowAll returns rules that refuse everything but robots.txt, and why.
func DisallowAll(why string) *Robots {
	r := parseRobots([]byte("User-agent: *\nDisallow: /\n"))
	r.why = why
	return r
}

// RobotsFrom turns the answer to a RobotsRequest into rules (RFC 9309, 2.3.1). A file
// is parsed; 4xx means that there is none, and all is allowed. On 5xx, 429 and every
// failure to reach it all is refused until it is asked again. So it is on a 304 that
// nobody asked for: there are rules, and we don't know them. final is false, and r nil,
// when the answer settles nothing: a redirect, 304 (the rules at hand hold on), an
// exchange broken off.
func RobotsFrom(resp *Response) (r *Robots, final bool) {
	switch resp.State {
	case StateOK:
		return parseRobots(resp.Body), true
	case StateRedirect, StateNotModified, StateNone:
		return nil, false
	case StateCode:
		if c := resp.Code; c < 500 && c != http.StatusTooManyRequests && c != http.StatusNotModified {
			return AllowAll(fmt.Sprintf("robots.txt: code %d, so everything is allowed", c)), true
		}
		return DisallowAll(fmt.Sprintf("robots.txt: code %d, so everything is refused", resp.Code)), true
	}
	return DisallowAll(fmt.Sprintf("robots.txt: %s, so everything is refused", resp.State)), true
}

// ErrNoPage stands for the error of an exchange that has none and brought no page.
var ErrNoPage = errors.New("no page")

// Allowed asks robots.txt of a URL's host, as a crawl would; an error says why the URL may
// not be asked for.
func (f *Fetcher) Allowed(ctx context.Context, u *url.URL, agent string) error {
	target := u.Scheme + "://" + u.Host + "/robots.txt"
	for range MaxRobotsRedirects + 1 {
		resp := f.Fetch(ctx, RobotsRequest(target))
		rules, final := RobotsFrom(resp)
		switch {
		case final && rules.Allowed(agent, u.RequestURI()):
			return nil
		case final:
			return fmt.Errorf("URL %s: robots.txt of %s does not allow it %s", u, u.Host, rules.Why())
		case resp.State != StateRedirect:
			return fmt.Errorf("URL %s: robots.txt: %s (%w)", u, resp.State, cmp.Or(resp.Err, ErrNoPage))
		}
		target = resp.Location
	}
	return nil // a redirect that leads nowhere is no robots.txt (RFC 9309 section 2.3.1.2)
}
