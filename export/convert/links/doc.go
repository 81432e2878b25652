// Package links keeps links between numbered pages in a compact file (paper C3): for each
// page that has some its id, its out-degree, its destinations.
//
// In: the links of each page, in rising order. Out: a file of some two bytes a link, read as a
// stream, in bounded memory. docs/export.md has the format, byte by byte. What is damaged is
// an error that wraps ErrDamaged and tells where.
//
// Start with NewWriter, or with Open.
//
// Files: format.go header; writer.go and reader.go the file.
package links
