// Package serving answers a few HTTP clients beside more important work.
//
// In: an address or a socket's path, and a handler. Out: a Server that costs its process little and
// can be stopped.
//
// An address without a host is loopback, and a socket belongs to its owner from the first moment.
// Connections are few and do not stay idle, and Stop is bounded. OwnNames refuses DNS rebinding.
//
// Start with Listen or ListenUnix, then Start and Server.Stop. Files: listen.go listeners and
// the Host header; server.go Server.
package serving
