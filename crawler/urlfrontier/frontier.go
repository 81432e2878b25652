package urlfrontier

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"fossick/crawler/urlfrontier/api"
	"fossick/crawler/urlfrontier/queues"
	"fossick/store/badgerfiles"
)

// Scorer says what the URLs of a crawl are worth. Its methods are called from many
// goroutines at once.
type Scorer interface {
	// Found takes in a URL that was discovered, and returns its priority and the key by
	// which Rescore knows it; 0 where the priority stays.
	Found(info *api.URLInfo) (score float64, key uint64)
	// Known takes in what became of a URL, and takes out of its metadata what is of no use
	// later. It returns the page's own priority; false when nothing is said of it. learned
	// is that the priorities of others may have changed.
	Known(info *api.URLInfo) (score float64, judged, learned bool)
	// Rescore returns the present priority of a URL that waits; false when nothing is known.
	Rescore(key uint64) (score float64, known bool)
}

// Options are the settings of Open.
type Options struct {
	Scorer  func(crawl string) Scorer // makes that of a crawl
	Waiting int                       // URLs that may wait in memory; others are told to come later; 0 is 10 million
	Now     func() time.Time          // nil: the clock
	Logger  *slog.Logger              // nil: silent

	free func(dir string) (uint64, error) // bytes that the disk has left; nil but in tests
}

const (
	defaultWaiting = 10_000_000
	defaultDelay   = 1 // seconds between two times that a queue gives URLs
	folder         = "urlfrontier"
)

// ErrForeign reports a folder that is something else's.
var ErrForeign = errors.New("not a frontier's folder")

// errStopped answers what comes while the frontier ends.
var errStopped = errors.New("the frontier is stopping")

// Frontier has the URLs of many crawls, on disk and in the order in which they are to be
// fetched.
type Frontier struct {
	opt Options
	records
	jobs chan *job
	done chan struct{} // closed when the writer has ended

	closing sync.RWMutex // held to send to jobs; guards closed
	closed  bool

	mu     sync.Mutex // guards what follows; held while a batch is applied and committed
	set    *queues.Set
	seq    uint64 // URLs discovered so far
	pages  int    // that scorers have learned from
	paused bool
	failed error // of the disk, for good

	scorers scorers
}

// Open opens the frontier in a folder, which it makes if need be.
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
		set: queues.New(defaultDelay), scorers: scorers{make: opt.Scorer, of: map[string]Scorer{}},
	}
	if err := f.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("frontier in %s: %w", dir, err), db.Close())
	}
	go f.write()
	return f, nil
}

// databaseOptions are for small records and one writer. Records are in the tables, so
// that a look-up is one read.
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

// Close commits what was put and ends the frontier.
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
