// Package tables says how the pages of a web change (paper E, E6).
//
// In: pages with their visits, as a stream that is walked once, and when rounds began. Out: how
// often pages can be had, how many changed, moved, went and came back, and the probability
// and interval of change by top-level domain, second level, depth and link kind.
//
// It knows no store; pages' rates are estimated for it. Start with Count. Files: page.go what is
// counted; count.go the walk; round.go S(n), and what rounds asked for; observed.go changes of one page; groups.go
// sums by name, and the paper's interval; median.go ours; fresh.go copies that are
// current; table.go as tables; plots.go as a page, pulse.go visits by time, unit.go
// times for a person.
package tables
