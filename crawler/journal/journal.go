package journal

import (
	"iter"

	"fossick/internal/page"
	"fossick/store"
)

// A Journal is where a crawl writes down what it decides. See the package's comment for
// what it promises.
type Journal interface {
	// Counts returns the running totals as they were committed last.
	Counts() (store.Counts, error)

	// Host returns what is known of a host, a new record where nothing is.
	Host(name string) (*store.Host, error)
	// Hosts yields every host that was put down, by name.
	Hosts() iter.Seq2[*store.Host, error]

	// Birth returns how a URL was discovered.
	Birth(id store.ID) (store.Birth, error)
	// Waiting returns a URL that waits and its place; store.ErrUnknown when it does not.
	Waiting(id store.ID) (store.Birth, store.Queued, error)
	// Waiters yields every URL that waits, in the order of discovery.
	Waiters() iter.Seq2[store.Waiter, error]
	// Lookup asks for many URLs, each with the zero value where it is unknown.
	Lookup(hashes []store.Hash) ([]store.Seen, error)

	// Candidates returns at most 16 pages that may be near-duplicates of the one with
	// this signature: those that share most with it first, of these the newest.
	Candidates(signature []byte) ([]store.Candidate, error)
	// Read returns a candidate's page, nil where its content cannot be read any more. It
	// ends with the error of stop.
	Read(candidate *store.Candidate, stop func() error) (*page.Page, error)

	// Batch begins a group of changes.
	Batch() Batch
}

// A Batch is a group of changes. End it with Commit or Cancel. Not safe for concurrent
// use. What a visit, an exchange and a fate say beyond the state comes back from no method:
// it is for those who read the store.
type Batch interface {
	// Lookup returns what is known of a URL, the zero value where nothing is.
	Lookup(h store.Hash) (store.Seen, error)
	// Queued returns the place of a URL that waits; store.ErrUnknown when it does not.
	Queued(id store.ID) (store.Queued, error)
	// Ended returns the state in which a URL ended; store.ErrUnknown while it waits.
	Ended(id store.ID) (state string, err error)
	// PageWith returns the number of the page with this content, 0 when there is none.
	PageWith(checksum []byte) (uint64, error)

	// Discover enters a URL under the number that follows the last one. What was skipped
	// is known and not wanted: End follows, else Queue.
	Discover(h store.Hash, id store.ID, birth store.Birth, skipped bool) error
	// Rediscover gives a URL that was never asked for another birth.
	Rediscover(id store.ID, birth store.Birth) error
	// Queue gives a URL that has not ended its place.
	Queue(id store.ID, q store.Queued) error
	// End ends a URL's wait.
	End(id store.ID, f store.Fate) error
	// Requeue takes an end back, also that of a skipped URL: it waits again.
	Requeue(h store.Hash, id store.ID, q store.Queued) error

	// PutHost puts down what is known of a host.
	PutHost(h *store.Host) error
	// PutPage stores a page under the number that follows the last one.
	PutPage(record *store.Page, content Content) error
	// PutVisit puts down the n-th exchange for a URL, from 1.
	PutVisit(id store.ID, n int, v store.Visit) error
	// PutWire puts down the headers of the n-th exchange for a URL.
	PutWire(id store.ID, n int, w store.WireRecord) error
	// PutExchange puts down the n-th exchange with a host that was for no URL, from 1.
	PutExchange(host string, n uint64, x store.Exchange) error

	// Full says that the batch should be committed before another exchange is added.
	Full() bool
	// Commit ends the batch with the totals as they are now; nil leaves them. After an
	// error nothing has changed, but for store.ErrDisk: then all may be there.
	Commit(counts *store.Counts) error
	// Cancel drops the batch; after Commit it does nothing.
	Cancel()
}

// Content is what a page consists of. A journal keeps one of the two.
type Content struct {
	Page *page.Page // parsed; not to be changed
	Body []byte     // compressed by Store.Compress
}
