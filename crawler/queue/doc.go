// Package queue holds the URLs of a crawl that wait, in its frontier and in its journal.
//
// In: links that were found, seeds, what an exchange came to, what the scorer has learned.
// Out: a frontier in order, and in the batch at hand what must be known after a kill. It
// belongs to the crawl's owner. Who leases from the frontier is the engine.
//
// Files: queue.go what waits, put back, rescored, restored; discover.go links; plant.go seeds;
// endings.go how a URL's wait ends; retries.go what failed before; kinds.go links that only discover (paper B); orders.go
// priorities in each order of a mix; settle.go
// what is journalled at the end. Start with New, then Plant or Restore.
package queue
