// Package report gives fossick's HTML reports one look.
//
// In: a caller's template and its data. Out: one self-contained HTML page without external script,
// font or picture, for light and dark themes, phones and printers. html/template escapes everything
// from the web or a file; only the stylesheet and the plots, made here from numbers, are trusted.
//
// Start with Write; NewFigure draws a chart, NewRanges intervals, NewMatrix a confusion matrix.
// Files: page.go the page, and formatting of numbers and foreign text, with parts.html and
// report.css; plot.go plots; figure.go plots with legends and numbers, and matrices.
package report
