// Package change keeps what visits to a page found, and says how well pages can be had.
//
// In: visits, each with its time and outcome. Out: a History of few bytes a visit, read and
// written; from counts of downloads, the chances that a success follows a success and a
// failure a failure (paper E, E6).
//
// It knows no store, no clock and no policy. Start with History. Files: history.go the
// encoding, byte by byte; visit.go what a visit is; downloads.go equations 1 and 2.
package change
