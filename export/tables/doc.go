// Package tables turns the stores of crawls into tables for a database's bulk load, and their
// links into page ids (paper C3): the format tables of export, and the verb convert.
//
// In: the folders of stores, each what an agent collected. Out: a folder with a table of pages,
// sites, domains, communities and links each, a link file, and a manifest. Steps that need one
// store (local attributes, names of link targets) run store by store; steps that need all
// stores (ids) run after that, from files. Each step ends with a part that is on disk and in
// the manifest, so a run goes on where a killed one ended. docs/export.md has the design.
//
// A site here is a host and a domain a registrable domain, as in the paper; other packages call
// the latter site. Start with Run; agents on several machines call Together.
//
// Files: tables.go the steps, and the manifest of finished parts; agent.go a store's pages and
// links; ids.go page ids, and the store that a page belongs to; write.go the tables and the
// link file; sql.go PostgreSQL's formats; together.go agents on several machines.
package tables
