// Package archive writes pages as web archives.
//
// In: pages with their bodies and exchanges. Out: WARC files; the index of such files, as
// lines or as a table; or one file with both. The same pages give the same bytes. What
// archives hold is told in docs/export.md.
//
// Start with NewWARC, NewCDXJ, NewWACZ, NewColumnar.
//
// Files: warc.go the files; records.go the records; cdxj.go the index; surt.go its keys;
// columnar.go the same as a table; wacz.go the package.
package archive
