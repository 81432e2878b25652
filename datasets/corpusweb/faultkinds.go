package corpusweb

import (
	"net/http"
	"strconv"
	"strings"
)

// whole makes a fault of a page whose answer is HTTP as it should be.
func whole(name, about, states string, f func(*victim)) Fault {
	return Fault{Name: name, About: about, States: strings.Fields(states), serve: f}
}

// wire makes a fault of a page that is written on the bare connection.
func wire(name, about, states string, f func(*rawConn)) Fault {
	return whole(name, about, states, func(v *victim) { v.raw(f) })
}

// markup makes a fault of a page with an odd body.
func markup(name, about string, body func(v *victim) string) Fault {
	return whole(name, about, "ok duplicate", func(v *victim) {
		v.html([]byte("<!DOCTYPE html><title>" + name + " " + v.q.url() + "</title>" + body(v)))
	})
}

// moved makes a redirect with so many targets.
func moved(name, about string, targets func(*victim) []string) Fault {
	return whole(name, about, "redirect", func(v *victim) {
		v.rw.Header()["Location"] = targets(v)
		problem(v.rw, http.StatusFound, "moved")
	})
}

// fixed are the targets of a redirect that leads everybody to the same.
func fixed(targets ...string) func(*victim) []string {
	return func(*victim) []string { return targets }
}

// status makes a fault that has a status and no page.
func status(code int, about string, fields ...string) Fault {
	return whole("status-"+strconv.Itoa(code), about, "code", func(v *victim) {
		v.fields(fields)
		problem(v.rw, code, "no page")
	})
}

// later makes a page that asks for a rest once, then answers.
func later(name, about string, code int, after func() string) Fault {
	return whole(name, about, "ok duplicate", func(v *victim) {
		if v.tries() > 1 {
			v.honest()
			return
		}
		v.rw.Header().Set("Retry-After", after())
		problem(v.rw, code, "later")
	})
}

// rules makes a fault of a host's robots.txt.
func rules(name, about, states string, f func(*victim)) Fault {
	return Fault{Name: name, About: "robots.txt " + about, States: strings.Fields(states), scope: onRobots, serve: f}
}

// shake makes a fault of a host's handshake, which badTLS serves.
func shake(name, about, states string) Fault {
	return Fault{Name: name, About: about, States: strings.Fields(states), scope: onTLS}
}
