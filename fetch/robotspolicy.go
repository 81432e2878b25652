package fetch

import (
	"fmt"
	"net/http"
	"time"
)

const (
	// RobotsTTL is how long rules may be used (RFC 9309, 2.4).
	RobotsTTL = 24 * time.Hour
	// MaxRobotsRedirects is how many redirects of a robots.txt are followed;
	// beyond them it counts as unavailable: AllowAll (RFC 9309, 2.3.1.2).
	MaxRobotsRedirects = 5
)

// RobotsRequest asks for the robots.txt at url (the host's, or where it was
// redirected to): any type, any 2xx (RFC 9309, 2.3.1.1), cut at MaxRobotsBytes
// rather than refused.
func RobotsRequest(url string) Request {
	return Request{URL: url, Accept: []string{"*/*"}, MaxBodyBytes: maxRobotsBytes, Truncate: true, AnySuccess: true}
}

// AllowAll returns rules that allow everything, and why.
func AllowAll(why string) *Robots {
	return &Robots{index: map[string]int{}, why: why}
}

// disallowAll returns rules that refuse everything but robots.txt, and why.
func disallowAll(why string) *Robots {
	r := parseRobots([]byte("User-agent: *\nDisallow: /\n"))
	r.why = why
	return r
}

// RobotsFrom turns the answer to a RobotsRequest into rules (RFC 9309, 2.3.1).
// A file is parsed; 4xx means that there is none, and all is allowed. On 5xx,
// 429 and every failure to reach it all is refused until it is asked again. So
// it is on a 304 that nobody asked for: there are rules, and we don't know
// them. final is false, and r nil, when the answer settles nothing: a redirect
// to follow, 304 (the rules at hand hold on), an exchange broken off.
func RobotsFrom(resp *Response) (r *Robots, final bool) {
	switch resp.State {
	case StateOK:
		return parseRobots(resp.Body), true
	case StateRedirect, StateNotModified, StateNone:
		return nil, false
	case StateCode:
		if c := resp.Code; c < 500 && c != http.StatusTooManyRequests && c != http.StatusNotModified {
			return AllowAll(fmt.Sprintf("robots.txt: code %d, all is allowed", c)), true
		}
		return disallowAll(fmt.Sprintf("robots.txt: code %d, all is refused", resp.Code)), true
	}
	return disallowAll(fmt.Sprintf("robots.txt: %s, all is refused", resp.State)), true
}
