// Package bus is a cluster.Exchange of agents on many machines, over NATS.
//
// In: messages and values. Out: the same at other agents. Messages go by core NATS, which keeps
// none: the protocol sends lost ones again. Values are in a JetStream bucket, of which up to
// three servers have a copy. A server runs inside the agent (Serve), or is there already
// (Options.URL). Between machines it speaks TLS with certificates of the cluster's own (Init).
// docs/cluster.md says what was measured and rejected.
//
// Start with Serve and Open.
//
// Files: server.go the embedded server; bus.go connection and messages; values.go the bucket;
// secrets.go certificates and keys.
package bus
