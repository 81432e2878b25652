// Package corpusweb serves a stored corpus as a web of many hosts on one port.
//
// In: sets of package datasets. Out: an http.Handler that answers for every
// host of theirs. It answers by Host header, as a forward proxy for http://,
// and by CONNECT for https://, with a certificate authority of its own. Each
// host has a robots.txt. A client cannot tell it from the web. But it is the
// same at every run, can be slow on purpose, and keeps a log by which the
// client's manners are judged.
//
// Bodies go to a spool file at the start, as they will be sent. Only an index
// of URLs stays in memory: about 200 bytes a page, with sitemaps 100 more for
// the paths. A request costs one read from the page cache. The spool is as
// large as the corpus. It is unlinked once open, so nothing is left whatever
// ends the process.
//
// It knows nothing of crawling, and makes no page that its sets do not have.
// Start with New, then Serve, or use the Web as a handler; Close it at the end.
//
// Files: web.go New and the index; answer.go one request; robots.go robots.txt
// and --disallow; sitemap.go sitemaps; tunnel.go CONNECT; ca.go certificates.
// spool.go bodies on disk; log.go the request log; serve.go the listener,
// loopback.go one beside other work; draw.go seeded draws. change.go how a page is
// when it has changed, life.go when it does, truth.go that in a file. faults.go what may
// go wrong on purpose, victim.go how, held.go connections that faults hold,
// fault*.go each kind.
package web
