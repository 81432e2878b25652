// Package archive writes pages as web archives.
//
// In: pages with their bodies. Out: WARC files, a response and a metadata record a page. The
// same pages give the same bytes. What archives hold is told in docs/warc.md.
//
// Start with NewWARC.
//
// Files: warc.go the sink.
package archive
