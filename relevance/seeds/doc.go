// Package seeds takes start pages as people write them, and keeps them with a crawl.
//
// In: addresses, files with one a line. Out: URLs in normal form, each once, in order; what
// was assumed of addresses without a scheme.
//
// A crawl keeps its start pages, for the file they came from may be gone when it is
// resumed. A few stand among its settings, many in a file of their own: settings are
// one record, which has to fit into one batch.
//
// Start with New, List.Add and Keep.
package seeds
