package badgerfiles

import (
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"
)

// RenewEvery is how often there should be a new transaction to lend. A compaction keeps
// what was written over since the oldest one began.
const RenewEvery = time.Second

// lender has a transaction for those who must not wait for one. One that begins
// waits for the commits that go on. These wait, when level 0 is full, for a
// compaction, for as long as it takes: just when most memory is to be given
// back.
type lender struct {
	mu  sync.RWMutex // held by who has it
	txn *badger.Txn  // to read only; nil when there is none
}

// lend calls f with a transaction that began some time ago, not at all when there is none.
func (l *lender) lend(f func(txn *badger.Txn) error) error {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.txn == nil {
		return nil
	}
	return f(l.txn)
}

// replace lends another transaction from now on, none if it is nil.
func (l *lender) replace(txn *badger.Txn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.txn != nil {
		l.txn.Discard()
	}
	l.txn = txn
}

// Renew renews what is lent; false when there is nothing to renew any more.
func (d *Database) Renew() (goOn bool) {
	if d.plain {
		return false
	}
	begun := make(chan *badger.Txn, 1)
	if !d.Bounded(func() { begun <- d.NewTransaction(false) }) {
		return false // the disk fails, and commits never end
	}
	d.lent.replace(<-begun)
	return true
}
