// Package exchangetest is what every cluster.Exchange promises, as tests.
//
// In: what opens an exchange for an agent. Out: failed tests. Start with Promises.
//
// Files: promises.go the list, and messages; values.go the table; waits.go who waits.
package exchangetest
