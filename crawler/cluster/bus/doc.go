// Package bus is a cluster.Exchange of agents on many machines, by NATS.
//
// In: messages and values. Out: the same at other agents. Messages go by core NATS, which
// keeps none: the protocol sends again what was lost. Values are in a JetStream bucket that
// up to three servers have a copy of. A server runs inside the agent (Serve), or is there
// already (Options.URL). Between machines it speaks TLS with certificates of the cluster's
// own (Init). docs/cluster.md says what was measured and rejected.
//
// Start with Serve and Open.
//
// Files: server.go the embedded server; serverlog.go what it tells; bus.go connection and
// messages; values.go the bucket; swap.go writing it, once; secrets.go certificates and
// keys, read; issue.go certificates and keys, made.
package bus
