//go:build !noui

package report

import _ "embed" // report.js

// script draws the plots; "" if the build leaves the page out (tag noui), and tables remain.
//
//go:embed dist/report.js
var script string
