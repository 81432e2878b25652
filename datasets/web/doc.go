// Package web serves a stored corpus as a web of many hosts on one port.
//
// In: sets of package datasets. Out: an http.Handler that answers for each of their hosts: by Host
// header, as a forward proxy for http://, and by CONNECT for https://, with a certificate authority of
// its own. It behaves like the live web, but every run is the same, hosts can be slow or hostile on
// purpose, and a request log shows the client's politeness.
//
// New writes the bodies to an unlinked spool file as large as the corpus. Memory holds only a URL
// index: about 200 bytes per page, plus 100 with sitemaps.
//
// Start with New, then Serve, or use the Web as a handler; Close it at the end.
//
// Files: web.go New, the index and request handling; robots.go robots.txt and sitemaps; tunnel.go
// CONNECT and certificates; spool.go bodies on disk and the request log; life.go page changes; faults.go
// and wirefaults.go deliberate faults, victim.go serving them.
package web
