// Package convert turns the stores of crawls into tables for a database's bulk load, and their
// links into page ids (paper C3).
//
// In: the folders of stores, each what an agent collected. Out: a folder with a table of pages,
// sites, domains, communities and links each, a link file, and a manifest. What needs one store
// (local attributes, names of link targets) is done store by store; what needs all (ids) after
// that, from files. Each step ends with a part that is on disk and in the manifest, so that a
// run goes on where a killed one ended. docs/export.md has the design.
//
// A site here is a host and a domain a registrable domain, as in the paper; the other rooms
// call the latter site.
//
// It knows no store: pages come from package collection. Nor does it know an exchange: Together,
// for agents on several machines, is given Peers. Start with Run.
//
// Files: run.go the steps; manifest.go what is finished; ranges.go ids of pages; record.go a
// page on its way, and files of them; agent.go a store's pages, targets.go its links;
// owners.go which store has a page first; sites.go sites, domains, communities; tables.go the
// tables, columns.go their columns; join.go links between ids. Agents on several machines:
// together.go how they meet, give.go a part given away, collect.go parts taken in, message.go.
package convert
