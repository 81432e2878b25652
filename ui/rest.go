package ui

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"fossick/crawler/control"
	"fossick/crawler/story"
	"fossick/internal/page"
	"fossick/store"
)

// Rest is what a store without a running crawl needs to be shown.
type Rest struct {
	Text    Text
	Changes Changes
	// URLs returns the normal form of URLs in a store's crawl.
	URLs func(*store.Store) (*page.Normalizer, error)
	// Examine returns the questions of a store's crawl. It takes about a millisecond a page.
	Examine func(s *store.Store, topic string) (Examiner, error)
}

// Examiner has the questions of a crawl that does not run, and learns from the answers.
type Examiner interface {
	control.Examiner
	Queue(n int) ([]control.Best, int, error)
}

// Times of a store at rest.
const (
	idleTime  = 2 * time.Second  // to its close after the last question; longer if its crawl's scorer learned long
	idleMost  = 10 * time.Minute // likewise at most: what took minutes to learn must not be learned for each answer
	endsAfter = 10 * time.Second // how long the end waits for answers in progress
)

// resting is a store without a running crawl.
type resting struct {
	dir   string
	opt   Rest
	ended chan struct{}
	once  sync.Once

	mu       sync.Mutex // guards the fields below
	s        *store.Store
	users    int
	unused   chan struct{} // closed when users falls to 0; nil unless end waits
	idle     *time.Timer   // closes s; nil while somebody uses it
	left     string        // files of the store when it was closed here
	writes   int           // how often other commands have changed it
	examiner Examiner      // of s; nil until asked
	topic    string        // of examiner
	learning time.Duration // how long making it took

	judge sync.Mutex // guards what examiner does, and labels
}

func atRest(dir string, opt Rest) *Interface {
	return newInterface(&resting{dir: dir, opt: opt, ended: make(chan struct{})}, dir, opt.URLs, opt.Text, opt.Changes, nil)
}

func (r *resting) Ended() <-chan struct{} { return r.ended }

func (r *resting) Pausing() <-chan struct{} { return r.ended }

func (r *resting) Open(context.Context) (*store.Store, func() error, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.s == nil {
		if now := filesOf(r.dir); now != r.left {
			r.writes++
		}
		s, err := store.Open(r.dir)
		if errors.Is(err, store.ErrDamaged) {
			s, err = store.OpenToRead(r.dir)
		}
		if errors.Is(err, store.ErrBusy) {
			return nil, nil, fmt.Errorf("%w; ask again when that command has ended", err)
		}
		if err != nil {
			return nil, nil, err
		}
		r.s = s
	}
	if r.idle != nil {
		r.idle.Stop()
		r.idle = nil
	}
	r.users++
	return r.s, sync.OnceValue(r.leave), nil
}

func (r *resting) leave() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.users--; r.users > 0 {
		return nil
	}
	if r.unused != nil {
		close(r.unused)
		r.unused = nil
		return nil
	}
	r.idle = time.AfterFunc(r.idleFor(), func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.users == 0 {
			_ = r.close() // the next question opens it again, or says why not
		}
	})
	return nil
}

// idleFor returns how long the store stays open without questions; mu is held.
func (r *resting) idleFor() time.Duration {
	if r.examiner == nil {
		return idleTime
	}
	return max(idleTime, min(2*r.learning, idleMost))
}

// release closes the store at once if nobody uses it; one with an examiner, which took long to learn,
// only for a crawl that is resumed.
func (r *resting) release(resumed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.users == 0 && (resumed || r.examiner == nil) {
		_ = r.close() // the next question opens it again, or says why not
	}
}

// close closes the store; mu is held.
func (r *resting) close() error {
	if r.s == nil {
		return nil
	}
	err := r.s.Close()
	r.s, r.examiner, r.left = nil, nil, filesOf(r.dir)
	return err
}

// changed returns a number that grows when another command may have changed the store.
func (r *resting) changed() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.writes
}

// end closes the store for good, unless an answer goes on that does not end: then the process does.
func (r *resting) end() error {
	r.once.Do(func() { close(r.ended) })
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.users > 0 {
		unused := make(chan struct{})
		r.unused = unused
		r.mu.Unlock()
		select {
		case <-unused:
		case <-time.After(endsAfter):
		}
		r.mu.Lock()
	}
	if r.users > 0 {
		return nil
	}
	if r.idle != nil {
		r.idle.Stop()
	}
	return r.close()
}

// filesOf describes the store's database files: another process that wrote has changed it.
func filesOf(dir string) string {
	text := ""
	_ = filepath.WalkDir(filepath.Join(dir, "db"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			text += fmt.Sprintln(d.Name(), info.Size(), info.ModTime().UnixNano())
		}
		return nil
	})
	return text
}

func (r *resting) Story(ctx context.Context, url string) (*story.Story, error) {
	s, done, err := r.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	urls, err := r.opt.URLs(s)
	if err != nil {
		return nil, err
	}
	return story.Of(s, urls, url, time.Now())
}

// examined returns the crawl's examiner, if it was asked for already or make is set.
func (r *resting) examined(s *store.Store, topic string, make bool) (Examiner, error) {
	r.mu.Lock()
	had, of := r.examiner, r.topic
	r.mu.Unlock()
	if had != nil && of == topic || !make {
		return had, nil
	}
	began := time.Now()
	e, err := r.opt.Examine(s, topic)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.examiner, r.topic, r.learning = e, topic, time.Since(began)
	return e, nil
}

func (r *resting) Queue(ctx context.Context, n int) ([]control.Best, int, error) {
	s, done, err := r.Open(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer done()
	r.judge.Lock()
	defer r.judge.Unlock()
	r.mu.Lock()
	e := r.examiner
	r.mu.Unlock()
	if e != nil {
		return e.Queue(n)
	}
	urls, err := r.opt.URLs(s)
	if err != nil {
		return nil, 0, err
	}
	return control.QueueStored(s, urls, n)
}

func (r *resting) Ask(ctx context.Context, topic string, n int) ([]control.Asked, error) {
	s, done, err := r.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	r.judge.Lock()
	defer r.judge.Unlock()
	e, err := r.examined(s, topic, true)
	if err != nil {
		return nil, err
	}
	return e.Ask(ctx, n)
}

func (r *resting) Label(ctx context.Context, asked control.LabelRequest) (*control.LabelAnswer, error) {
	s, done, err := r.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if s.Temporary() {
		return nil, s.Damaged()
	}
	r.judge.Lock()
	defer r.judge.Unlock()
	e, err := r.examined(s, asked.Topic, false)
	if err != nil {
		return nil, err
	}
	if e != nil && r.topic == asked.Topic {
		answer, err := e.Label(ctx, asked.Labels)
		return &answer, err
	}
	urls, err := r.opt.URLs(s)
	if err != nil {
		return nil, err
	}
	answer, err := control.LabelStored(s, urls, asked)
	return &answer, err
}
