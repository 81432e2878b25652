// Package report gives fossick's HTML reports one look.
//
// In: a caller's template and its data. Out: one self-contained HTML page without anything external,
// for light and dark themes, phones and printers. html/template escapes everything
// from the web or a file; only the stylesheet and the script, built from ui/src, are trusted.
//
// Start with Write; NewFigure draws a chart, NewRanges intervals, NewMatrix a confusion matrix.
// Files: page.go the page, and formatting of numbers and foreign text, with parts.html; figure.go the
// data of plots, and matrices; embed.go the script, which draws them.
package report
