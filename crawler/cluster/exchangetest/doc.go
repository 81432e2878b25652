// Package exchangetest is what every cluster.Exchange promises, as tests.
//
// In: what opens an exchange for an agent. Out: failed tests. Start with Promises. Lossy is for
// those who use an exchange: it does all that one may do with messages.
//
// Files: promises.go the list, and messages; values.go the table; waits.go who waits; lossy.go.
package exchangetest
