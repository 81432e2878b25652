// Package report gives fossick's HTML reports one look.
//
// In: what a report shows, as a room's own template and the figures it is filled
// with. Out: one self-contained HTML page without script, font or picture from
// elsewhere, in light and dark, that reads on a phone and prints.
//
// Everything that came from the web or a file goes through html/template's
// escaping; only the stylesheet and the plots, made here from numbers, are
// trusted. What a report says is its room's: eval reports crawls, explain models.
//
// Start with Write; NewFigure draws a chart, NewMatrix lays out a confusion matrix.
//
// Files: page.go the page; parts.html the templates that all reports share;
// report.css the look, of plots too. chart.go what a plot shows, axes.go where
// its axes end and which ticks they have, svg.go draws it. figure.go a plot
// with its legend and numbers; ranges.go values with intervals, by name; matrix.go the confusion matrix; text.go numbers
// and foreign text as a reader likes them.
package report
