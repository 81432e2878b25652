// Package web serves a stored corpus as a web of many hosts on one port.
//
// In: sets of package datasets. Out: an http.Handler that answers for each of their hosts: by Host
// header, as a forward proxy for http://, and by CONNECT for https://, with a certificate authority
// of its own. Each host has a robots.txt. A client cannot tell it from the web, but it is the same
// at every run, can be slow or hostile on purpose, and keeps a log that shows the client's manners.
//
// At the start, bodies go to an unlinked spool file as large as the corpus. Memory holds only an
// index of URLs: about 200 bytes a page, with sitemaps 100 more. A request costs one read from the
// page cache.
//
// It knows nothing of crawling. Start with New, then Serve, or use the Web as a handler; Close it at
// the end. NewPlanted makes databases of a million URLs without a server.
//
// Files: web.go New, the index and one request; robots.go robots.txt and sitemaps; tunnel.go CONNECT
// and certificates; spool.go bodies on disk and the log; life.go how pages change. faults.go and
// wirefaults.go what may go wrong on purpose, victim.go how. planted.go databases.
package web
