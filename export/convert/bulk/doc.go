// Package bulk writes tables as PostgreSQL loads them fastest: the binary format of COPY.
//
// In: rows, value by value. Out: a file a table, and the SQL that makes the tables and loads
// the files. It opens no file and knows no server. The format is that of the manual of
// PostgreSQL, "Binary Format" under COPY.
//
// Start with NewWriter, Schema and Script.
//
// Files: writer.go rows; sql.go tables.
package bulk
