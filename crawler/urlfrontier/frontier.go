package urlfrontier

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"fossick/crawler/urlfrontier/api"
	"fossick/store/badgerfiles"
)

// Scorer gives priorities to the URLs of one crawl. Safe for concurrent use.
type Scorer interface {
	// Found returns a discovered URL's priority and key for Rescore; key 0: it never changes.
	Found(info *api.URLInfo) (score float64, key uint64)
	// Known handles a fetched URL, and deletes metadata that is not needed later. It returns the
	// page's own score if judged. learned: other URLs' priorities may have changed.
	Known(info *api.URLInfo) (score float64, judged, learned bool)
	// Rescore returns the present priority of a waiting URL; known is false if there is none.
	Rescore(key uint64) (score float64, known bool)
}

// Options are the settings of Open.
type Options struct {
	Scorer  func(crawl string) Scorer // makes the Scorer of a crawl
	Waiting int                       // most waiting URLs in memory, more are refused [10 million]
	Now     func() time.Time          // nil: time.Now
	Logger  *slog.Logger              // nil: silent

	free func(dir string) (uint64, error) // free bytes on the disk; set only by tests
}

const (
	defaultWaiting = 10_000_000
	defaultDelay   = 1 // seconds between two takes from a queue
	folder         = "urlfrontier"
)

// ErrForeign reports a folder that belongs to something else.
var ErrForeign = errors.New("not a frontier's folder")

var errStopped = errors.New("the frontier is stopping")

// Frontier stores the URLs of many crawls on disk, and hands them out by priority.
type Frontier struct {
	opt Options
	records
	jobs chan *job
	done chan struct{} // closed when the writer has ended

	closing sync.RWMutex // read-locked while sending to jobs; guards closed
	closed  bool

	mu     sync.Mutex // guards the rest; held while a batch is applied and committed
	set    *set
	seq    uint64 // number of URLs discovered
	pages  int    // number of pages that scorers have learned from
	paused bool
	failed error // permanent disk error

	scorers scorers
}

// Open opens the frontier in a folder, and creates the folder if needed.
func Open(dir string, opt Options) (*Frontier, error) {
	opt.Waiting = cmp.Or(opt.Waiting, defaultWaiting)
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.free == nil {
		opt.free = freeBytes
	}
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	if _, err := os.Stat(filepath.Join(dir, "db")); !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w: it is a crawl's store; give another folder", dir, ErrForeign)
	}
	path := filepath.Join(dir, folder)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	db, err := badgerfiles.Open(dir, databaseOptions(path), false)
	if err != nil {
		return nil, err
	}
	f := &Frontier{
		opt: opt, records: records{db}, jobs: make(chan *job, 2*maxBatch), done: make(chan struct{}),
		set: newQueues(defaultDelay), scorers: scorers{make: opt.Scorer, of: map[string]Scorer{}},
	}
	if err := f.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("frontier in %s: %w", dir, err), db.Close())
	}
	go f.write()
	return f, nil
}

// databaseOptions keep values in the tables, so that a look-up is one read.
func databaseOptions(path string) badger.Options {
	return badger.DefaultOptions(path).
		WithMemTableSize(26 << 20).WithNumMemtables(1).
		WithCompression(options.None).WithBlockCacheSize(0).WithIndexCacheSize(0).
		WithNumLevelZeroTables(4).WithNumLevelZeroTablesStall(8).
		WithBaseLevelSize(128 << 20).WithBaseTableSize(4 << 20).
		WithValueThreshold(1 << 20).WithNumCompactors(2).
		WithDetectConflicts(false).
		WithChecksumVerificationMode(options.OnBlockRead)
}

// Close commits all puts and stops the frontier.
func (f *Frontier) Close() error {
	f.closing.Lock()
	again := f.closed
	f.closed = true
	if !again {
		close(f.jobs)
	}
	f.closing.Unlock()
	<-f.done
	if again {
		return nil
	}
	return f.db.Close()
}

func (f *Frontier) now() int64 { return f.opt.Now().Unix() }

// load reads the folder. It deletes URLs of missing queues, which an interrupted deletion left.
func (f *Frontier) load() error {
	isNew, err := f.loadMeta()
	if err != nil || isNew {
		return err
	}
	byNumber := map[uint64]*queue{}
	var orphans [][]byte
	err = f.db.View(func(txn *badger.Txn) error {
		err := each(txn, []byte{queuePrefix}, func(key, value []byte) error {
			if len(key) != queueKeyBytes {
				return errRecord
			}
			crawl, name, settings, err := decodeQueue(value)
			if err == nil {
				number := binary.BigEndian.Uint64(key[1:])
				byNumber[number] = f.set.Restore(crawl, name, number, settings)
			}
			return err
		})
		if err != nil {
			return err
		}
		now := f.now()
		return each(txn, []byte{urlPrefix}, func(key, value []byte) error {
			number, id, err := parseURLKey(key)
			if err != nil {
				return err
			}
			if q := byNumber[number]; q != nil {
				return f.loadURL(q, id, value, now)
			}
			orphans = append(orphans, append([]byte(nil), key...))
			return nil
		})
	})
	if err != nil {
		return err
	}
	return f.records.remove(orphans)
}

func (f *Frontier) loadURL(q *queue, id urlID, value []byte, now int64) error {
	h, _, err := decode(value)
	if err != nil {
		return err
	}
	f.seq = max(f.seq, h.seq+1)
	if h.refetch == 0 {
		f.set.Complete(q, 1, now)
		return nil
	}
	f.set.Put(q, waitingURL{ID: id, Key: h.key, Seq: h.seq, Due: h.refetch, Score: h.score}, now)
	return nil
}

// loadMeta checks the format's version, or initializes an empty database.
func (f *Frontier) loadMeta() (isNew bool, err error) {
	txn := f.db.NewTransaction(true)
	defer txn.Discard()
	item, err := txn.Get([]byte(metaKey))
	if errors.Is(err, badger.ErrKeyNotFound) {
		return true, f.makeNew(txn, f.set.delay)
	}
	if err != nil {
		return false, err
	}
	return false, item.Value(func(b []byte) error {
		if len(b) != 1+8 {
			return ErrForeign
		}
		if b[0] != version {
			return fmt.Errorf("format %d (this build reads %d); open it with a newer fossick", b[0], version)
		}
		f.set.SetDelay(int64(binary.BigEndian.Uint64(b[1:])), f.now())
		return nil
	})
}

func (r records) makeNew(txn *badger.Txn, delay int64) error {
	it := txn.NewIterator(badger.IteratorOptions{})
	it.Rewind()
	others := it.Valid()
	it.Close()
	if others {
		return ErrForeign
	}
	if err := txn.Set([]byte(metaKey), meta(delay)); err != nil {
		return err
	}
	if err := r.db.Commit(txn); err != nil {
		return err
	}
	return r.db.SyncLogs()
}

func meta(delay int64) []byte {
	return binary.BigEndian.AppendUint64([]byte{version}, uint64(delay))
}

const defaultPage = 100

// stats counts the URLs of a queue, or of a whole crawl if key is "".
func (f *Frontier) stats(crawl, key string) (counts, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var of iter.Seq[*queue]
	if key == "" {
		of = f.set.All(crawl)
	} else if q := f.set.Find(crawl, key); q != nil {
		of = slices.Values([]*queue{q})
	} else {
		return counts{}, f.failed
	}
	return f.set.Count(of, f.now()), f.failed
}

func (f *Frontier) crawls() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.set.Crawls()
}

// listQueues returns n keys of a crawl's queues from start, and the total; unless all, only those
// that are neither empty nor blocked.
func (f *Frontier) listQueues(crawl string, start, n int, all bool) (keys []string, total int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	for _, q := range f.set.Queues(crawl) {
		if !all && (q.Waiting() == 0 || q.Blocked >= now) {
			continue
		}
		if total >= start && len(keys) < n {
			keys = append(keys, q.Name)
		}
		total++
	}
	return keys, total
}

func (f *Frontier) queuesOf(crawl, key string) (numbers []uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if key != "" {
		if q := f.set.Find(crawl, key); q != nil {
			numbers = append(numbers, q.Number)
		}
		return numbers
	}
	for _, q := range f.set.Queues(crawl) {
		numbers = append(numbers, q.Number)
	}
	return numbers
}

// find returns a URL's record; nil if the URL is unknown.
func (f *Frontier) find(crawl, key, url string) (*api.URLItem, error) {
	f.mu.Lock()
	q := f.set.Find(crawl, key)
	f.mu.Unlock()
	if q == nil {
		return nil, nil
	}
	var found *api.URLItem
	err := f.db.View(func(txn *badger.Txn) error {
		item, err := txn.Get(urlKey(q.Number, idOf(url)))
		if err != nil {
			return err
		}
		return item.Value(func(v []byte) error {
			h, info, err := parse(v)
			found = itemOf(h, info)
			return err
		})
	})
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, nil
	}
	return found, err
}

func itemOf(h header, info *api.URLInfo) *api.URLItem {
	return &api.URLItem{
		Item:         &api.URLItem_Known{Known: &api.KnownURLItem{Info: info, RefetchableFromDate: uint64(h.refetch)}},
		CreationDate: uint64(h.created),
	}
}

var errEnough = errors.New("enough")

// walk calls do for the URLs that contain text, of a queue or crawl, in order of queues. do may
// return errEnough.
func (f *Frontier) walk(ctx context.Context, crawl, key, text string, ignoreCase bool, do func(key []byte, h header, info *api.URLInfo) error) error {
	if ignoreCase {
		text = strings.ToLower(text)
	}
	err := f.db.View(func(txn *badger.Txn) error {
		for _, number := range f.queuesOf(crawl, key) {
			err := each(txn, queueKey(urlPrefix, number), func(key, value []byte) error {
				h, info, err := parse(value)
				if err = errors.Join(err, ctx.Err()); err != nil {
					return err
				}
				url := info.GetUrl()
				if ignoreCase {
					url = strings.ToLower(url)
				}
				if strings.TrimSpace(text) != "" && !strings.Contains(url, text) {
					return nil
				}
				return do(key, h, info)
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// Size returns the number of crawls and of waiting URLs.
func (f *Frontier) Size() (crawls, urls int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.set.Crawls()), f.set.waiting
}

const (
	mostTaken   = 100_000 // most URLs of a GetURLs without a limit
	defaultHold = 30      // seconds until a URL that is not put back is handed out again
	readPart    = 256
)

// take hands out URLs with send. URLs that could not be sent wait again.
func (f *Frontier) take(r *api.GetParams, send func(*api.URLInfo) error) (sent int, err error) {
	taken, err := f.choose(r)
	for from := 0; from < len(taken) && err == nil; {
		to := min(from+readPart, len(taken))
		var infos []*api.URLInfo
		if infos, err = f.infos(taken[from:to]); err != nil {
			break
		}
		for _, info := range infos {
			if info != nil { // nil: deleted meanwhile
				if err = send(info); err != nil {
					break
				}
				sent++
			}
			from++
		}
		if err != nil {
			taken = taken[from:]
		}
	}
	if err != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.set.Return(taken, f.now())
	}
	return sent, err
}

func (f *Frontier) choose(r *api.GetParams) ([]takenURL, error) {
	want := request{
		Queues: int(r.GetMaxQueues()), PerHead: int(r.GetMaxUrlsPerQueue()), Most: mostTaken, Hold: int64(r.GetDelayRequestable()),
	}
	if want.Hold == 0 {
		want.Hold = defaultHold
	}
	crawl, ofCrawl := r.GetItem().(*api.GetParams_CrawlID)
	if want.Any = !ofCrawl; ofCrawl {
		want.Crawl = crawlOf(crawl.CrawlID)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed != nil || f.paused {
		return nil, f.failed
	}
	if r.GetKey() != "" {
		// a key belongs to a crawl; without a crawl it names no queue
		if want.Queue = f.set.Find(want.Crawl, r.GetKey()); want.Queue == nil {
			return nil, nil
		}
	}
	return f.set.Take(want, f.now()), nil
}

const deletePart = 1000

// deleteQueues deletes a queue of a crawl, or all, and returns how many URLs they had. With the
// queues' records these are gone, even if their own deletion is interrupted.
func (f *Frontier) deleteQueues(crawl, key string, all bool) (urls int, err error) {
	err = f.alone(func() error {
		var gone []*queue
		var err error
		if urls, gone, err = f.dropQueues(crawl, key, all); err != nil {
			f.fail(err)
			return err
		}
		for _, q := range gone {
			keys, err := f.keysOf(q)
			if err == nil {
				err = f.records.remove(keys)
			}
			if err != nil {
				f.fail(err)
				return err
			}
		}
		return nil
	})
	return urls, err
}

func (f *Frontier) dropQueues(crawl, key string, all bool) (urls int, gone []*queue, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var keys [][]byte
	if q := f.set.Find(crawl, key); all {
		gone = f.set.Queues(crawl)
	} else if q != nil {
		gone = append(gone, q)
	}
	for _, q := range gone {
		urls += q.Waiting() + q.Completed
		keys = append(keys, queueKey(queuePrefix, q.Number))
		f.set.DropQueue(q)
	}
	if !slices.Contains(f.set.Crawls(), crawl) {
		f.scorers.forget(crawl)
	}
	return urls, gone, f.records.remove(keys)
}

// purge deletes the URLs of a queue or crawl that were discovered before a time in Unix seconds.
func (f *Frontier) purge(crawl, key string, before int64) (urls int, err error) {
	err = f.alone(func() error {
		var keys [][]byte
		err := f.walk(context.Background(), crawl, key, "", false, func(k []byte, h header, info *api.URLInfo) error {
			if h.created < before {
				keys = append(keys, append([]byte(nil), k...))
				f.forget(crawl, info.GetKey(), k, h)
			}
			return nil
		})
		urls = len(keys)
		if err == nil {
			err = f.records.remove(keys)
		}
		if err != nil {
			f.fail(err)
		}
		return err
	})
	return urls, err
}

func (f *Frontier) forget(crawl, queue string, key []byte, h header) {
	_, id, err := parseURLKey(key)
	f.mu.Lock()
	defer f.mu.Unlock()
	q := f.set.Find(crawl, queue)
	if q == nil || err != nil {
		return
	}
	if h.refetch == 0 {
		f.set.Complete(q, -1, f.now())
	} else {
		f.set.Drop(q, id, f.now())
	}
}

// setQueue changes and stores a queue's settings; found is false if there is no such queue.
func (f *Frontier) setQueue(crawl, key string, change func(*queueSettings)) (found bool, err error) {
	err = f.alone(func() error {
		f.mu.Lock()
		defer f.mu.Unlock()
		q := f.set.Find(crawl, key)
		if found = q != nil; !found {
			return nil
		}
		settings := q.queueSettings
		change(&settings)
		f.set.Set(q, settings, f.now())
		f.failed = f.keep(queueKey(queuePrefix, q.Number), encodeQueue(q.Crawl, q.Name, settings))
		return f.failed
	})
	return found, err
}

func (f *Frontier) setDelay(seconds uint32) error {
	return f.alone(func() error {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.set.SetDelay(int64(seconds), f.now())
		f.failed = f.keep([]byte(metaKey), meta(f.set.delay))
		return f.failed
	})
}

// setActive pauses or resumes handing out. A restart forgets it.
func (f *Frontier) setActive(active bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.paused = !active
}

func (f *Frontier) active() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.paused
}

// seconds converts a time of the API, without overflow.
func seconds(t uint64) int64 { return int64(min(t, math.MaxInt64/2)) }

type scorers struct {
	make func(crawl string) Scorer

	mu sync.Mutex // guards of
	of map[string]Scorer
}

// maxCrawls bounds the number of crawls, as each scorer takes half a megabyte.
const maxCrawls = 256

// get returns a crawl's Scorer; nil if there are too many crawls.
func (s *scorers) get(crawl string) Scorer {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.of[crawl]
	if x == nil && len(s.of) < maxCrawls {
		x = s.make(crawl)
		s.of[crawl] = x
	}
	return x
}

func (s *scorers) forget(crawl string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.of, crawl)
}

func (s *scorers) rescore(crawl string, key uint64) (float32, bool) {
	x := s.get(crawl)
	if x == nil {
		return 0, false
	}
	score, known := x.Rescore(key)
	return float32(score), known && !math.IsNaN(score)
}
