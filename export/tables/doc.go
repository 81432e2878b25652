// Package tables converts crawl stores into tables for a database's bulk load and their links into page
// ids (paper C3): the format tables of export, and the command convert.
//
// In: store folders, one per agent. Out: a folder with tables of pages, sites, domains, communities and
// links, a link file, and a manifest. Steps on one store (local attributes, names of link targets) run
// store by store; steps on all stores (ids) follow, from files. Each step ends with a part on disk and
// in the manifest, so a killed run resumes. docs/export.md has the design.
//
// As in the paper, a site is a host, and a domain is a registrable domain, which other packages call
// site. Start with Run, or Together for agents on several machines.
//
// Files: tables.go steps and manifest; agent.go pages and links of a store; ids.go page ids and owning
// stores; write.go tables and link file; schema.sql and load.sql for psql; together.go several agents.
package tables
