// Package database writes pages into databases: SQLite, PostgreSQL, OpenSearch.
//
// In: pages, and the columns of export/table. Out: a file of SQLite with full-text search;
// rows of a PostgreSQL schema that is made or checked; requests of OpenSearch's bulk
// interface, as a file or to a server. Each is a sink.
//
// What a run into a server has written stays when it is cut off, and a second run replaces
// each page by its id, so a run can be repeated.
//
// Files: schema.go tables and values; sqlite.go; postgres.go, batch.go; bulk.go, server.go
// OpenSearch.
package database
