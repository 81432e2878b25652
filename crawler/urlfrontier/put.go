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

// Longer input is skipped, as it would not be fetched.
const (
	maxURLBytes  = 16 << 10
	maxKeyBytes  = 255 // of a queue's key and of a crawl's ID
	maxInfoBytes = 256 << 10
)

// put is a URL from a client on its way to disk.
type put struct {
	info    *api.URLInfo // with CrawlID and Key filled in
	id      urlID
	known   bool
	refetch int64
	score   float64
	key     uint64 // the scorer's
	judged  bool   // score comes from the page itself
	learned bool
	bad     bool // invalid, status says how it is answered

	status api.AckMessage_Status
}

// read makes a put from a client's URL, and scores it, before the writer and so concurrently.
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
	if math.IsNaN(p.score) { // has no order
		p.score = 0
	}
	return p
}

// readItem is read for a URLItem; name identifies it in the acknowledgement.
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

// job is work for the writer: puts or, instead, do. reply must have room for the finished job.
type job struct {
	name  string
	puts  []put
	do    func() error
	err   error
	reply chan<- *job
	free  func() // may be nil; called when the job's URLs are released
}

func (j *job) end() {
	for i := range j.puts {
		j.puts[i].info = nil
	}
	if j.free != nil {
		j.free()
	}
	j.reply <- j
}

// submit passes a job to the writer; errStopped after Close.
func (f *Frontier) submit(j *job) error {
	f.closing.RLock()
	defer f.closing.RUnlock()
	if f.closed {
		return errStopped
	}
	f.jobs <- j // cannot block for ever: the writer ends only after jobs is closed
	return nil
}

// alone runs do in the writer, between batches, and waits for it.
func (f *Frontier) alone(do func() error) error {
	reply := make(chan *job, 1)
	if err := f.submit(&job{do: do, reply: reply}); err != nil {
		return err
	}
	return (<-reply).err
}

func (j *job) statuses() []api.AckMessage_Status {
	all := make([]api.AckMessage_Status, 0, len(j.puts))
	for i := range j.puts {
		all = append(all, j.puts[i].status)
	}
	return slices.Clip(all)
}

// put applies a URL and sets its status. An error is the disk's.
func (b *batch) put(p *put) error {
	if p.bad {
		return nil
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
		if u != nil && p.key != 0 { // another link to it may change its priority
			set.Score(q, u, float32(p.score), b.now)
		}
		return nil // SKIPPED
	}
	if !known && set.waiting >= b.f.opt.Waiting && !(p.known && p.refetch == 0) {
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

// enter writes a URL with its earlier header, and queues it unless it is completed.
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

// value sets a URL's priority: a fetched URL gets its page's score, if any.
func (b *batch) value(p *put, u *waitingURL, h *header) {
	switch {
	case !p.known:
		h.score, h.key = float32(p.score), p.key
	case p.judged:
		h.score, h.key = float32(p.score), 0 // the page replaces what its links promise
	case u != nil:
		h.score = u.Score
	case h.score == 0 && h.key == 0 && h.refetch != 0: // it was never discovered
		if scorer := b.f.scorers.get(p.info.CrawlID); scorer != nil {
			score, key := scorer.Found(p.info)
			h.score, h.key = float32(score), key
		}
	}
}

// recall reads a URL's header, including writes of this commit.
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

// All of a short queue is scored again every rescoreEvery pages, of a long one rescorePart URLs a
// page (docs/relevance.md).
const (
	shortQueue   = 2000
	rescoreEvery = 10
	rescorePart  = 200
)

func (f *Frontier) relearn(pages int, now int64) {
	if pages == 0 {
		return
	}
	before := f.pages
	f.pages += pages
	part := pages * rescorePart
	if waiting := f.set.waiting; waiting <= shortQueue {
		if before/rescoreEvery == f.pages/rescoreEvery && before > rescoreEvery {
			return
		}
		part = waiting
	}
	f.set.Rescore(part, f.scorers.rescore, now)
}

// Bounds of one commit, far below Badger's own 15 % of a memtable.
const (
	maxBatch      = 1024
	maxBatchBytes = 2 << 20
	trimBytes     = 4 << 20 // written between two releases of memory
)

// write is the writer. Each commit takes the puts that have arrived meanwhile.
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
			_ = f.db.Trim(true) // an error concerns only memory
		}
		clear(batch)
	}
}

// carryOut does a batch of jobs and sends the replies. Only the last job may have do.
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

// fail records a disk error. As memory may then exceed the disk, the frontier stops its service.
func (f *Frontier) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed == nil {
		f.failed = err
		f.opt.Logger.Error("the frontier accepts no more URLs", "err", err)
	}
}

// putAll writes the puts of jobs, and syncs. If that fails, all of them have failed.
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

func fail(jobs []*job) {
	for _, j := range jobs {
		for i := range j.puts {
			j.puts[i].status = api.AckMessage_FAIL
		}
	}
}

// putSome commits jobs until a commit is full. It holds mu, so that no URL is handed out before
// it can be read.
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

type batch struct {
	f       *Frontier
	txn     *badger.Txn
	now     int64
	bytes   int
	total   int // in earlier transactions
	learned int // pages learned from
}

// set writes a record, in a new transaction if this one is full.
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

// minFreeBytes is the disk space needed for a batch: a memtable and its flush, as in package
// store. The database maps its files into memory, so a write without disk space would kill the
// process.
const minFreeBytes = 256 << 20

func freeBytes(dir string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	return uint64(max(st.Bavail, 0)) * uint64(st.Bsize), nil
}

// room returns an error while the disk is nearly full. Puts succeed again once there is room.
func (f *Frontier) room() error {
	free, err := f.opt.free(f.db.Path())
	if err != nil || free >= minFreeBytes {
		return nil // if unknown, the database will report a full disk
	}
	return fmt.Errorf("%s: %w (%d MiB free, %d are needed); make room", f.db.Path(), badgerfiles.ErrDiskFull, free>>20, minFreeBytes>>20)
}
