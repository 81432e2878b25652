package corpusweb

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// Traps live under these paths on every host of a web with faults; a faulty page
// leads into them, and there is no end.
const (
	calendarPath = "/~calendar"
	sessionPath  = "/~session"
	depthPath    = "/~deep/"
	cyclePath    = "/~cycle/"
	similarPath  = "/~similar/"
	softPath     = "/~soft/"
	refreshPath  = "/~refresh/"
)

// trapFaults are pages that lead into endless spaces of URLs.
func trapFaults() []Fault {
	entry := func(name, about string, targets ...string) Fault {
		return whole(name, about, "ok", func(v *victim) { v.html(links("Way to "+name+" from "+v.q.url(), targets)) })
	}
	return []Fault{
		entry("calendar", "leads to a calendar in which each month links to the next, for ever", calendarPath+"?year=2026&month=1"),
		entry("sessions", "leads to pages whose links carry a new session each time", sessionPath+"?sid=0"),
		entry("depth", "leads to folders within folders", depthPath),
		entry("cycle", "leads to relative links that repeat their folders", cyclePath+"a/b/"),
		entry("similar", "leads to thousands of pages that differ only in a number", similarPath+"1"),
		entry("host-farm", "leads to a site that answers to every host name and links to more names", "http://a"+farmSuffix+"/", "http://b"+farmSuffix+"/"),
		entry("refresh-chain", "leads to pages that refresh themselves to the next", refreshPath+"1"),
		entry("soft-404", "leads to missing pages that answer 200", softPath+"1", softPath+"2", softPath+"3"),
	}
}

// trap serves what is under a trap's path; false when nothing is.
func (v *victim) trap() bool {
	path, query, _ := strings.Cut(v.q.path, "?")
	switch {
	case strings.HasPrefix(path, chainPrefix):
		n, err := strconv.ParseUint(path[len(chainPrefix):], 10, 32)
		if err != nil {
			return false
		}
		v.mark("redirect-chain")
		redirect(v.rw, v.root()+chainPrefix+strconv.FormatUint(n+1, 10), http.StatusFound)
	case path == calendarPath:
		v.mark("calendar")
		v.calendar()
	case path == sessionPath:
		v.mark("sessions")
		v.sessions(query)
	case strings.HasPrefix(path, depthPath):
		v.mark("depth")
		n := strings.Count(path, "/")
		v.html(links(fmt.Sprintf("Folder number %d", n), []string{fmt.Sprintf("%s%d/", path, n), fmt.Sprintf("%s%d/", path, n+1)}))
	case strings.HasPrefix(path, cyclePath):
		v.mark("cycle")
		v.html(links("Round "+strconv.Itoa(len(path)), []string{"a/b/", "b/a/", "../b/a/"}))
	case strings.HasPrefix(path, similarPath):
		v.mark("similar")
		n, _ := strconv.Atoi(path[len(similarPath):]) // 0 for nonsense
		v.html(append(links(fmt.Sprintf("Item %d", n), []string{similarPath + strconv.Itoa(2*n+1), similarPath + strconv.Itoa(2*n+2)}),
			fmt.Sprintf("<p>%s This is the item with the number %d.\n", strings.Repeat("Everything on this page is as on all the others of its kind. ", 20), n)...))
	case strings.HasPrefix(path, refreshPath):
		v.mark("refresh-chain")
		n, _ := strconv.Atoi(path[len(refreshPath):])
		v.html(fmt.Appendf(nil, "<!DOCTYPE html><title>Wait</title><meta http-equiv=refresh content=\"0;url=%s%d\"><p>You will be taken there in %d moments.", refreshPath, n+1, n))
	case strings.HasPrefix(path, softPath):
		v.mark("soft-404")
		n, _ := strconv.Atoi(path[len(softPath):])
		v.html(append(links("Page not found", []string{softPath + strconv.Itoa(3*n+1), softPath + strconv.Itoa(3*n+2)}),
			"<p>We are sorry: the page you asked for could not be found. Try these instead.\n"...))
	default:
		return false
	}
	return true
}

// calendar serves a month with links to its days, the one before and the next.
func (v *victim) calendar() {
	q := v.r.URL.Query()
	year, _ := strconv.Atoi(q.Get("year")) // 0 will do
	month, _ := strconv.Atoi(q.Get("month"))
	at := func(m int) string {
		y := year + (m-1)/12
		if m < 1 {
			y, m = y-1, m+12
		}
		return fmt.Sprintf("%s?year=%d&month=%d", calendarPath, y, (m-1)%12+1)
	}
	targets := []string{at(month - 1), at(month + 1), at(month + 12)}
	for day := 1; day <= 28; day++ {
		targets = append(targets, fmt.Sprintf("%s?year=%d&month=%d&day=%d", calendarPath, year, month, day))
	}
	v.html(links(fmt.Sprintf("Calendar %d-%d %s", year, month, q.Get("day")), targets))
}

// sessions serves one of ten pages, whose links carry a session that is new.
func (v *victim) sessions(query string) {
	n := int(v.web.draw.uniform("session", query) * 1e9)
	targets := make([]string, 5)
	for i := range targets {
		targets[i] = fmt.Sprintf("%s?sid=%08x&page=%d", sessionPath, n+i, i)
	}
	v.html(links("Shop, page "+v.r.URL.Query().Get("page"), targets))
}
