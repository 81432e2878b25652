package journal

import (
	"iter"

	"fossick/internal/page"
	"fossick/store"
)

// A Journal stores the decisions of a crawl. The package comment has its promises.
type Journal interface {
	// Counts returns the totals of the last commit.
	Counts() (store.Counts, error)

	// Host returns a host's record, new if there is none.
	Host(name string) (*store.Host, error)
	// Hosts yields every stored host, by name.
	Hosts() iter.Seq2[*store.Host, error]

	// Discovery returns how a URL was discovered.
	Discovery(id store.ID) (store.Discovery, error)
	// Waiting returns a waiting URL and its place; store.ErrUnknown when it does not wait.
	Waiting(id store.ID) (store.Discovery, store.Queued, error)
	// Waiters yields every waiting URL, in the order of discovery.
	Waiters() iter.Seq2[store.Waiter, error]
	// Lookup returns the state of many URLs, the zero value for an unknown one.
	Lookup(hashes []store.Hash) ([]store.Seen, error)

	// Candidates returns at most 16 possible near-duplicates of the page with this signature,
	// the most similar first, then the newest.
	Candidates(signature []byte) ([]store.Candidate, error)
	// Read returns a candidate's page; nil where its content is no longer readable. It ends
	// with the error of stop.
	Read(candidate *store.Candidate, stop func() error) (*page.Page, error)

	// Batch begins a group of changes.
	Batch() Batch
}

// A Batch is a group of changes. End it with Commit or Cancel. Not safe for concurrent use.
// Its reads return the state of a URL alone; details of visits and exchanges are for readers
// of the store.
type Batch interface {
	// Lookup returns the state of a URL, the zero value for an unknown one.
	Lookup(h store.Hash) (store.Seen, error)
	// Queued returns the place of a waiting URL; store.ErrUnknown when it does not wait.
	Queued(id store.ID) (store.Queued, error)
	// Ended returns the state in which a URL ended; store.ErrUnknown while it waits.
	Ended(id store.ID) (state string, err error)
	// PageWith returns the number of the page with this content; 0 when there is none.
	PageWith(checksum []byte) (uint64, error)

	// Discover enters a URL under the next number. End follows for a skipped URL, else Queue.
	Discover(h store.Hash, id store.ID, discovery store.Discovery, skipped bool) error
	// Rediscover replaces the discovery of a URL that was never requested.
	Rediscover(id store.ID, discovery store.Discovery) error
	// Queue sets the place of a URL that has not ended.
	Queue(id store.ID, q store.Queued) error
	// End ends a URL's wait.
	End(id store.ID, f store.Outcome) error
	// Requeue undoes the end of a URL, skipped or not: it waits again.
	Requeue(h store.Hash, id store.ID, q store.Queued) error

	// PutHost stores a host's record.
	PutHost(h *store.Host) error
	// PutPage stores a page under the next number.
	PutPage(record *store.Page, content Content) error
	// PutVisit stores the n-th exchange for a URL, from 1.
	PutVisit(id store.ID, n int, v store.Visit) error
	// PutWire stores the headers of the n-th exchange for a URL.
	PutWire(id store.ID, n int, w store.WireRecord) error
	// PutExchange stores the n-th exchange with a host that was for no URL, from 1.
	PutExchange(host string, n uint64, x store.Exchange) error

	// Full reports that the batch should be committed before another exchange is added.
	Full() bool
	// Commit ends the batch with the present totals; nil leaves them. After an error nothing
	// has changed, except after store.ErrDisk, when all changes may be stored.
	Commit(counts *store.Counts) error
	// Cancel drops the batch; after Commit it does nothing.
	Cancel()
}

// Content is a page's content. A journal keeps one of the two.
type Content struct {
	Page *page.Page       // parsed; read only
	Body []byte           // compressed by Store.Compress
	Made []store.Resource // what a rendered page is made of
}
