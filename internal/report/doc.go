// Package report gives fossick's HTML reports one look.
//
// In: a caller's own template and the figures it is filled with. Out: one self-contained HTML page
// without script, font or picture from elsewhere, in light and dark, that reads on a phone and
// prints. Everything that came from the web or a file goes through html/template's escaping; only
// the stylesheet and the plots, made here from numbers, are trusted.
//
// Start with Write; NewFigure draws a chart, NewRanges intervals, NewMatrix a confusion matrix.
// Files: page.go the page, and numbers and foreign text as a reader likes them, with parts.html and
// report.css; plot.go what a plot shows and how it is drawn; figure.go plots with their legends and
// numbers, and matrices.
package report
