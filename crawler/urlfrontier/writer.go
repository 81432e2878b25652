package urlfrontier

import (
	"github.com/dgraph-io/badger/v4"

	"fossick/crawler/urlfrontier/api"
)

// What one commit takes at most: beside the URLs that wait for it anyway, none waits for
// more to come. The bytes are well below the 15 % of a memtable that Badger takes at once.
const (
	maxBatch      = 1024
	maxBatchBytes = 2 << 20
	trimBytes     = 4 << 20 // written between two times that memory is given back
)

// write is the writer: it commits what is put, as much at a time as has come meanwhile,
// and ends after the last job.
func (f *Frontier) write() {
	defer close(f.done)
	untrimmed := 0
	var batch []*job
	for first := range f.jobs {
		batch = append(batch[:0], first)
		urls := len(first.puts)
		next := first
		for next.do == nil && urls < maxBatch {
			select {
			case j, ok := <-f.jobs:
				if !ok {
					j = &job{do: func() error { return nil }} // ends the batch
				}
				next = j
				batch = append(batch, j)
				urls += len(j.puts)
				continue
			default:
			}
			break
		}
		untrimmed += f.carryOut(batch)
		if untrimmed >= trimBytes {
			untrimmed = 0
			_ = f.db.Trim(true) // gives memory back, or does not: nothing of the batch
		}
		clear(batch)
	}
}

// carryOut does a batch of jobs, of which the last may be something else than puts, and
// tells who waits.
func (f *Frontier) carryOut(batch []*job) (written int) {
	puts := batch
	last := batch[len(batch)-1]
	if last.do != nil {
		puts = batch[:len(batch)-1]
	}
	if len(puts) > 0 {
		written = f.putAll(puts)
	}
	if last.do != nil {
		last.err = f.failure()
		if last.err == nil {
			last.err = last.do()
		}
	}
	for _, j := range batch {
		if j.reply != nil {
			j.end()
		}
	}
	return written
}

func (f *Frontier) failure() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed
}

// fail notes that the disk fails. What is in memory may be more than it has, so nothing is
// handed out or taken in any more.
func (f *Frontier) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed == nil {
		f.failed = err
		f.opt.Logger.Error("the frontier accepts no more URLs", "err", err)
	}
}

// putAll writes what jobs put, and syncs. Where that fails, all of it has failed.
func (f *Frontier) putAll(jobs []*job) (written int) {
	err := f.failure()
	if full := f.room(); full != nil && err == nil {
		f.opt.Logger.Warn("URLs are refused", "err", full)
		fail(jobs)
		return 0
	}
	for from := 0; from < len(jobs) && err == nil; {
		from, err = f.putSome(jobs, from, &written)
	}
	if err == nil && written > 0 {
		err = f.db.SyncLogs()
	}
	if err == nil {
		return written
	}
	f.fail(err)
	fail(jobs)
	return written
}

// fail has clients send it all again.
func fail(jobs []*job) {
	for _, j := range jobs {
		for i := range j.puts {
			j.puts[i].status = api.AckMessage_FAIL
		}
	}
}

// putSome commits jobs from one on, until they are enough. Whoever takes URLs meanwhile
// waits, so that none is handed out that could not be read.
func (f *Frontier) putSome(jobs []*job, from int, written *int) (next int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := &batch{f: f, txn: f.db.NewTransaction(true), now: f.now()}
	defer func() { b.txn.Discard() }()
	for next = from; next < len(jobs) && b.bytes < maxBatchBytes; next++ {
		puts := jobs[next].puts
		for i := range puts {
			if err := b.put(&puts[i]); err != nil {
				return next, err
			}
		}
	}
	*written += b.total + b.bytes
	if err := f.db.Commit(b.txn); err != nil {
		return next, err
	}
	f.relearn(b.learned, b.now)
	return next, nil
}

// batch is what one commit writes.
type batch struct {
	f       *Frontier
	txn     *badger.Txn
	now     int64
	bytes   int // in the transaction
	total   int // in those before it
	learned int // pages
}

// set writes a record, and goes on in another transaction where this one is full.
func (b *batch) set(key, value []byte) error {
	if b.bytes > maxBatchBytes {
		if err := b.f.db.Commit(b.txn); err != nil {
			return err
		}
		b.txn = b.f.db.NewTransaction(true)
		b.total += b.bytes
		b.bytes = 0
	}
	b.bytes += len(key) + len(value)
	return b.txn.Set(key, value)
}
