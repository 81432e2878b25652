// Package warc reads and writes web archives record by record (ISO 28500, WARC 1.0 and 1.1).
//
// In: a file, plain, gzip or zstd, whose first bytes tell which. Out: its records in order,
// each with its header, its place in the file and its block as a stream. The other way
// round: records, written a gzip member each, into files of bounded size.
//
// Memory is bounded, whatever a file says of itself: a header has a limit, and a block is
// read through a buffer. Damage is an *Error with the offset, never an end of the file. The
// next call of Next goes on at the next record that can be found, so a caller that goes on reads
// the rest.
//
// What records mean is left to others: package datasets makes pages of them, package
// export makes them of pages. Start with NewReader and Next, or with NewWriter.
//
// Files: reader.go records out of bytes, also behind damage; members.go one buffer over plain
// files, gzip members and zstd frames; record.go records, headers and digests; http.go the
// response in a block; writer.go records into files.
package warc
