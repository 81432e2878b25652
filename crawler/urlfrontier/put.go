package urlfrontier

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dgraph-io/badger/v4"
	"golang.org/x/sys/unix"
	"google.golang.org/protobuf/proto"

	"fossick/crawler/urlfrontier/api"
	"fossick/store/badgerfiles"
)

// What is longer is skipped: it would not be fetched, and none of it is lost to anyone.
const (
	maxURLBytes  = 16 << 10
	maxKeyBytes  = 255 // of a queue's key and a crawl's id
	maxInfoBytes = 256 << 10
)

// put is a URL that a client sends, on its way to disk.
type put struct {
	info    *api.URLInfo // with crawl and key
	id      urlID
	known   bool
	refetch int64
	score   float64
	key     uint64 // of the scorer
	judged  bool   // score is of what the page turned out to be
	learned bool
	bad     bool // nothing can be made of it

	status api.AckMessage_Status
}

// read makes a put of what a client sent, and asks the scorer. It is done before the
// writer has it, so that streams are scored beside each other.
func (f *Frontier) read(info *api.URLInfo, known bool, refetch uint64) put {
	p := put{known: known, refetch: int64(min(refetch, math.MaxInt64/2)), status: api.AckMessage_SKIPPED}
	url := info.GetUrl()
	if url == "" || len(url) > maxURLBytes {
		p.bad = true
		return p
	}
	p.info = info
	info.CrawlID = crawlOf(info.CrawlID)
	if info.Key == "" {
		info.Key = keyOf(url)
	}
	if info.Key == "" || len(info.Key) > maxKeyBytes || len(info.CrawlID) > maxKeyBytes {
		p.bad = true
		return p
	}
	p.id = idOf(url)
	if p.bad = proto.Size(info) > maxInfoBytes; p.bad {
		return p
	}
	scorer := f.scorers.get(info.CrawlID)
	if scorer == nil {
		p.bad, p.status = true, api.AckMessage_FAIL
		return p
	}
	if known {
		p.score, p.judged, p.learned = scorer.Known(info)
	} else {
		p.score, p.key = scorer.Found(info)
	}
	if math.IsNaN(p.score) { // would be no order
		p.score = 0
	}
	return p
}

// readItem is read for a URLItem; what it answers with is named by name.
func (f *Frontier) readItem(item *api.URLItem) (p put, name string) {
	if known := item.GetKnown(); known != nil {
		p = f.read(known.GetInfo(), true, known.GetRefetchableFromDate())
		name = known.GetInfo().GetUrl()
	} else {
		p = f.read(item.GetDiscovered().GetInfo(), false, 0)
		name = item.GetDiscovered().GetInfo().GetUrl()
	}
	if item.GetID() != "" {
		name = item.GetID()
	}
	return p, name
}

// job is work for the writer: URLs to put or, alone, something else to do. It goes to
// reply when it is done, which has room for it.
type job struct {
	name  string
	puts  []put
	do    func() error
	err   error
	reply chan<- *job
	free  func() // nil, or says that the job's URLs are no longer held
}

// end hands the job back, without what it held.
func (j *job) end() {
	for i := range j.puts {
		j.puts[i].info = nil
	}
	if j.free != nil {
		j.free()
	}
	j.reply <- j
}

// submit hands a job to the writer; errStopped when there is none any more.
func (f *Frontier) submit(j *job) error {
	f.closing.RLock()
	defer f.closing.RUnlock()
	if f.closed {
		return errStopped
	}
	f.jobs <- j // the writer takes it: it ends after this channel
	return nil
}

// alone has the writer do something between two batches, and waits for it.
func (f *Frontier) alone(do func() error) error {
	reply := make(chan *job, 1)
	if err := f.submit(&job{do: do, reply: reply}); err != nil {
		return err
	}
	return (<-reply).err
}

// statuses are those of a job's URLs.
func (j *job) statuses() []api.AckMessage_Status {
	all := make([]api.AckMessage_Status, 0, len(j.puts))
	for i := range j.puts {
		all = append(all, j.puts[i].status)
	}
	return slices.Clip(all)
}

// put takes in a URL, and says in its status what became of it. An error is the disk's.
func (b *batch) put(p *put) error {
	if p.bad {
		return nil // it is SKIPPED
	}
	if p.learned {
		b.learned++
	}
	set := b.f.set
	q := set.Find(p.info.CrawlID, p.info.Key)
	var u *waitingURL
	var was header
	var known bool
	if q != nil {
		if u, known = q.Find(p.id); !known && q.Completed > 0 || known && p.known {
			var err error
			if was, known, err = b.recall(q, p.id); err != nil {
				return err
			}
		}
	}
	if !p.known && known {
		if u != nil && p.key != 0 { // one link more speaks for it
			set.Score(q, u, float32(p.score), b.now)
		}
		return nil // it is SKIPPED
	}
	if !known && set.Waiting() >= b.f.opt.Waiting && !(p.known && p.refetch == 0) {
		p.status = api.AckMessage_FAIL
		return nil
	}
	if q == nil {
		q = set.Open(p.info.CrawlID, p.info.Key)
		if err := b.set(queueKey(queuePrefix, q.Number), encodeQueue(q.Crawl, q.Name, q.queueSettings)); err != nil {
			return err
		}
	}
	return b.enter(p, q, u, was, known)
}

// enter writes a URL of which was is known, and queues it where it comes again.
func (b *batch) enter(p *put, q *queue, u *waitingURL, was header, known bool) error {
	set, h := b.f.set, was
	if !known {
		h = header{created: b.now, seq: b.f.seq}
		b.f.seq++
	}
	h.refetch = b.now
	if p.known {
		h.refetch = p.refetch
	}
	b.value(p, u, &h)
	info, err := proto.MarshalOptions{Deterministic: true}.Marshal(p.info)
	if err == nil {
		err = b.set(urlKey(q.Number, p.id), h.encode(info))
	}
	if err != nil {
		return err
	}
	completed := 0
	if known && was.refetch == 0 {
		completed--
	}
	if h.refetch == 0 {
		completed++
		set.Drop(q, p.id, b.now)
	}
	if completed != 0 {
		set.Complete(q, completed, b.now)
	}
	if h.refetch != 0 {
		set.Put(q, waitingURL{ID: p.id, Key: h.key, Seq: h.seq, Due: h.refetch, Score: h.score}, b.now)
	}
	p.status = api.AckMessage_OK
	return nil
}

// value sets the priority of a URL. One that was fetched has that of its page, if
// anything is said of it, else the one that it had.
func (b *batch) value(p *put, u *waitingURL, h *header) {
	switch {
	case !p.known:
		h.score, h.key = float32(p.score), p.key
	case p.judged:
		h.score, h.key = float32(p.score), 0 // what links promise is told by the page itself
	case u != nil:
		h.score = u.Score
	case h.score == 0 && h.key == 0 && h.refetch != 0: // nobody has found it yet
		if scorer := b.f.scorers.get(p.info.CrawlID); scorer != nil {
			score, key := scorer.Found(p.info)
			h.score, h.key = float32(score), key
		}
	}
}

// recall reads what is known of a URL, also what this commit writes.
func (b *batch) recall(q *queue, id urlID) (h header, known bool, err error) {
	item, err := b.txn.Get(urlKey(q.Number, id))
	if errors.Is(err, badger.ErrKeyNotFound) {
		return h, false, nil
	}
	if err == nil {
		err = item.Value(func(v []byte) (err error) {
			h, _, err = decode(v)
			return err
		})
	}
	return h, err == nil, err
}

// How often waiting URLs are scored anew: a short queue as a whole every rescoreEvery
// pages, a long one by rescorePart URLs a page (docs/relevance.md).
const (
	shortQueue   = 2000
	rescoreEvery = 10
	rescorePart  = 200
)

// relearn asks scorers anew after they have learned from pages.
func (f *Frontier) relearn(pages int, now int64) {
	if pages == 0 {
		return
	}
	before := f.pages
	f.pages += pages
	part := pages * rescorePart
	if waiting := f.set.Waiting(); waiting <= shortQueue {
		if before/rescoreEvery == f.pages/rescoreEvery && before > rescoreEvery {
			return
		}
		part = waiting
	}
	f.set.Rescore(part, f.scorers.rescore, now)
}

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

// minFreeBytes is what the disk must have left for a batch. The database maps its files
// into memory, and a write to a page without room for it kills the process; as in package
// store, room for a memtable and its flush is kept.
const minFreeBytes = 256 << 20

func freeBytes(dir string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	return uint64(max(st.Bavail, 0)) * uint64(st.Bsize), nil
}

// room is an error while the disk is nearly full. It is no failure: with room again
// URLs are taken in.
func (f *Frontier) room() error {
	free, err := f.opt.free(f.db.Path())
	if err != nil || free >= minFreeBytes {
		return nil // where it is not known, the database tells in its own way
	}
	return fmt.Errorf("%s: %w (%d MiB free, %d are needed); make room", f.db.Path(), badgerfiles.ErrDiskFull, free>>20, minFreeBytes>>20)
}
