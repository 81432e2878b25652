// Package warc reads and writes web archives record by record (ISO 28500, WARC 1.0 and 1.1).
//
// In: a file, plain, gzip or zstd, detected by its first bytes. Out: its records in order, each
// with header, place in the file, and block as a stream. When writing: records, each compressed as
// a gzip member, into files of bounded size.
//
// Memory is bounded whatever a file claims: headers have a limit, and blocks are read through a
// buffer. Damage is an *Error with its offset, never the end of the file: the next call of Next
// continues at the next record that it finds.
//
// Package datasets makes pages of records, package export makes records of pages. Start with
// NewReader and Next, or with NewWriter.
//
// Files: reader.go reading, also after damage; members.go a buffer over plain files, gzip members
// and zstd frames; record.go records, headers and digests; http.go the response in a block;
// writer.go writing.
package warc
