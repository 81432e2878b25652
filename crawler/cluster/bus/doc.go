// Package bus is a cluster.Exchange for agents on several machines, over NATS.
//
// In: messages and values. Out: the same at other agents. Messages use core NATS, which stores
// none; the protocol resends lost ones. Values are in a JetStream bucket with copies on up to
// three servers. A server runs inside the agent (Serve), or exists already (Options.URL). Between
// machines it uses TLS with the cluster's own certificates (Init). See docs/cluster.md for
// measurements and rejected designs.
//
// Start with Serve and Open.
//
// Files: server.go the embedded server; bus.go connection and messages; values.go the bucket;
// secrets.go certificates and keys.
package bus
