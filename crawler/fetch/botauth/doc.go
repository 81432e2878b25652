// Package botauth signs requests, so that a site knows by whom they are: HTTP message
// signatures (RFC 9421) with Ed25519, as Web Bot Auth wants them (draft-ietf-webbotauth).
//
// In: a key of its owner, a request's host and time. Out: the fields Signature-Agent,
// Signature-Input and Signature. Verify is the other side, for servers under test.
//
// Files: key.go keys and their names; sign.go signatures; verify.go.
package botauth
