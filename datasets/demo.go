package datasets

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"strings"
)

// The demo web is a corpus as Open reads it from a folder (docs/datasets.md), built into the program:
// articles spread over sites, site pages around them, and in web.json the faults of a real web. Only
// its traps are made here.
var (
	//go:embed demo/pages-1.jsonl
	demoPages string
	//go:embed demo/pages-2.jsonl
	demoMore string
	//go:embed demo/links.tsv
	demoLinks string
	//go:embed demo/web.json
	demoWeb []byte
)

func openDemo(opt Options) (*Set, error) {
	web := &Web{Traps: []Trap{{calendar, calendarPage}, {threads, threadsPage}}}
	if err := json.Unmarshal(demoWeb, web); err != nil {
		return nil, fmt.Errorf("set demo: web.json: %w", err)
	}
	return &Set{name: "demo", layout: "demo", opt: opt, web: web, links: demoLinkPairs, read: readDemo}, nil
}

func readDemo(_ *passReport, yield func(*Example, error) bool) {
	for line := range strings.Lines(demoPages + demoMore) {
		e, err := parseRow([]byte(line))
		if err != nil {
			yield(nil, fmt.Errorf("set demo: pages: %w", err))
			return
		}
		e.File, e.Charset = "demo", e.Fields["charset"]
		delete(e.Fields, "charset")
		if !yield(e, nil) {
			return
		}
	}
}

func demoLinkPairs() iter.Seq2[Link, error] {
	return func(yield func(Link, error) bool) {
		for line := range strings.Lines(demoLinks) {
			l, err := parseLink(strings.TrimSuffix(line, "\n"))
			if !yield(l, err) || err != nil {
				return
			}
		}
	}
}

// trapPage is the frame of a trap's page: the title twice, around the site's, and the body.
const trapPage = `<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">
<html>
<head>
<meta http-equiv="Content-Type" content="text/html; charset=utf-8">
<title>%[1]s - %[2]s</title>
<style type="text/css">#menu a { padding: 0 1em }</style>
</head>
<body>
<div id="menu"><a href="/">Home</a></div>
<div id="content">
<h1>%[1]s</h1>
%[3]s</ul>
</div>
<div class="footer"></div>
</body>
</html>
`

const (
	calendar = "http://townhall.test/calendar/"
	threads  = "http://board.test/threads"
)

// calendarPage is a trap: every month links its neighbours and its days, and all are empty.
func calendarPage(url string) (string, bool) {
	var year, month, day int
	if n, _ := fmt.Sscanf(strings.TrimPrefix(url, calendar), "%d/%d/%d", &year, &month, &day); n < 2 {
		return "", false
	}
	if month < 1 || month > 12 || day < 0 || day > 28 || year < 1 || year > 1e6 {
		return "", false
	}
	title := fmt.Sprintf("Calendar %d/%02d", year, month)
	if day > 0 {
		title += fmt.Sprintf("/%02d", day)
	}
	at := func(months int) string { return fmt.Sprintf("/calendar/%d/%02d", months/12, months%12+1) }
	next := year*12 + month
	var b strings.Builder
	fmt.Fprintf(&b, "<p>No entries.</p>\n<p><a href=%q>Month before</a> <a href=%q>Month after</a></p>\n<ul>\n", at(next-2), at(next))
	for i := 1; i <= 28; i++ {
		fmt.Fprintf(&b, "<li><a href=\"/calendar/%d/%02d/%02d\">%[3]d</a></li>\n", year, month, i)
	}
	return fmt.Sprintf(trapPage, title, "Town Hall", b.String()), true
}

// nextVisit derives the visit number in link i of a visit's page.
func nextVisit(visit, i int) int { return (visit*48271+i)%maxVisit + 1 }

// maxVisit bounds visit numbers, beyond the length of any crawl.
const maxVisit = 1e9

// threadsPage is a trap: all links carry a new visit number, so five pages have endless URLs.
func threadsPage(url string) (string, bool) {
	path, query, _ := strings.Cut(strings.TrimPrefix(url, threads), "?")
	visit, err := strconv.Atoi(strings.TrimPrefix(query, "visit="))
	if err != nil || visit < 1 || visit > maxVisit {
		return "", false
	}
	title, body := "Threads", "<ul>\n"
	if path != "" {
		thread, err := strconv.Atoi(strings.TrimPrefix(path, "/"))
		if err != nil || thread < 1 || thread > 5 {
			return "", false
		}
		title = fmt.Sprintf("Thread %d", thread)
		body = "<p>Has anybody tried this? Yes, twice, and it works if you wait long enough.</p>\n<ul>\n"
	}
	for i := 1; i <= 5; i++ {
		body += fmt.Sprintf("<li><a href=\"/threads/%d?visit=%d\">Thread %[1]d</a></li>\n", i, nextVisit(visit, i))
	}
	return fmt.Sprintf(trapPage, title, "The Board", body), true
}
