// Package chances keeps what a crawl learns of whether visits succeed, and says with what
// chance the next one of a URL does (paper E3).
//
// In: how each exchange for a page ended, and what the store kept of earlier sessions. Out:
// chances, in (0,1), of URLs that wait for another try and of stored pages that are to be
// asked for again; 1 where nothing speaks against a URL, so that a crawl in which nothing
// fails is what it would be without. Who orders by them are the queue and the revisits. The
// predictor itself is package change/netstate; a Book is its one owner in a crawl.
//
// Files: book.go learning and asking; kept.go what outlives the process; order.go how a
// chance moves a place in the queue. Start with New or Load.
package chances
