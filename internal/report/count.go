package report

import "fmt"

// Count writes a number of things: 1 host, 2 hosts.
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%s %ss", Number(n), thing)
}

// StartPages counts start pages.
func StartPages(n int) string { return Count(n, "start page") }

// Interval writes an interval of a share as numbers, – when there is none.
func Interval(ci *[2]float64) string {
	if ci == nil {
		return "–"
	}
	return fmt.Sprintf("%.3f–%.3f", ci[0], ci[1])
}

// ScriptOnly says how many pages of a crawl scripts make. A sentence without its full stop.
func ScriptOnly(n int) string {
	verb := "are"
	if n == 1 {
		verb = "is"
	}
	return Pages(n) + " " + verb + " made by script; fossick does not run scripts"
}
