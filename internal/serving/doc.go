// Package serving answers a few askers over HTTP beside work that matters more.
//
// In: an address or the path of a socket, and a handler. Out: a Server that takes
// little from the process that it is in, and ends when it is told to.
//
// An address without a host is loopback, and a socket is its owner's from its first
// moment. Connections are few and do not stay idle, and Stop is bounded. What a web
// page's script asks by a name of its own (DNS rebinding) is refused by OwnNames.
//
// Start with Listen or ListenUnix, then Start and Server.Stop.
//
// Files: listen.go listeners; names.go the Host header; server.go Server.
package serving
