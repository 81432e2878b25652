package bucket

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"fossick/export"
	"fossick/internal/fileio"
)

// Place is a single object, or everything below a prefix. End it with Commit or Discard.
type Place struct {
	ctx       context.Context // of the run, since writers get none
	at        address
	single    bool
	there     bool // an export exists: compare, send nothing
	client    *client
	transfers *transfers
	list      *list

	mu      sync.Mutex // guards the fields below
	files   int
	written int64
	begun   map[*object]bool // partly, or perhaps fully, on the server
	ready   []*object        // to be made by Commit
	scratch string           // folder for files written by libraries; "" before the first
	outside []string         // their names
	done    bool
}

// Open starts a single object at s3://BUCKET/KEY, or all objects below it when single is false or the key
// is empty or ends in a slash. ctx governs all writes. Server and credentials come from the environment.
func Open(ctx context.Context, text string, single bool, getenv func(string) string) (*Place, error) {
	at, err := parse(text)
	if err != nil {
		return nil, err
	}
	s, err := fromEnvironment(getenv)
	if err != nil {
		return nil, err
	}
	return open(ctx, at, single && at.key != "" && !strings.HasSuffix(at.key, "/"), s)
}

func open(ctx context.Context, at address, single bool, s settings) (*Place, error) {
	if !single && at.key != "" && !strings.HasSuffix(at.key, "/") {
		at.key += "/"
	}
	c, err := newClient(at.bucket, s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	p := &Place{ctx: ctx, at: at, single: single, client: c, transfers: newTransfers(ctx), list: newList(), begun: map[*object]bool{}}
	look := p.lookBelow
	if single {
		look = p.lookAtObject
	}
	if err := look(ctx); err != nil {
		return nil, errors.Join(err, p.list.close())
	}
	return p, nil
}

// lookAtObject checks whether the single object exists, and aborts uploads left by a killed run.
func (p *Place) lookAtObject(ctx context.Context) (err error) {
	if p.there, err = p.client.has(ctx, p.at.key); err != nil || p.there {
		return err
	}
	return p.abortAll(ctx)
}

// lookBelow checks the prefix: it removes a killed export's remains, and refuses objects that are no export.
func (p *Place) lookBelow(ctx context.Context) (err error) {
	if p.there, err = p.client.has(ctx, p.at.key+listName); err != nil || p.there {
		return err
	}
	marked, err := p.client.has(ctx, p.at.key+markName)
	if err != nil {
		return err
	}
	if marked {
		return p.removeRemains(ctx)
	}
	if o, err := p.client.first(ctx, p.at.key); err != nil {
		return err
	} else if o.Key != "" {
		return fmt.Errorf("%s %w", p.at, export.ErrThere)
	}
	_, err = p.client.put(ctx, p.at.key+markName, []byte(markText))
	return err
}

// abortAll aborts unfinished uploads to the place.
func (p *Place) abortAll(ctx context.Context) error {
	for upload, err := range p.client.uploads(ctx, p.at.key) {
		if err == nil && (!p.single || upload.Key == p.at.key) {
			err = p.client.abort(ctx, upload.Key, upload.UploadID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *Place) removeRemains(ctx context.Context) error {
	if err := p.abortAll(ctx); err != nil {
		return err
	}
	var listing error
	err := p.client.removeAll(ctx, func(yield func(string) bool) {
		for o, err := range p.client.below(ctx, p.at.key) {
			if listing = err; err != nil || o.Key != p.at.key+markName && !yield(o.Key) {
				return
			}
		}
	})
	return errors.Join(err, listing)
}

// Create starts an object, compressed by .gz or .zst; a single one always gets the place's own name.
func (p *Place) Create(name string) (io.WriteCloser, error) {
	if err := p.enter(name); err != nil {
		return nil, err
	}
	f, err := p.begin(name)
	if err != nil {
		return nil, err
	}
	return export.Packed(f.name, f)
}

// Path reserves an object for a format that writes files by itself; Commit sends the file.
func (p *Place) Path(name string) (_ string, err error) {
	if err := p.enter(name); err != nil {
		return "", err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.scratch == "" {
		if p.scratch, err = os.MkdirTemp("", "fossick-bucket-"); err != nil {
			return "", fmt.Errorf("temporary files to upload: %w; set TMPDIR to a folder that can be written to", err)
		}
	}
	p.outside = append(p.outside, name)
	path := filepath.Join(p.scratch, filepath.FromSlash(name))
	return path, os.MkdirAll(filepath.Dir(path), 0o755)
}

func (p *Place) enter(name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.files++; p.single && p.files > 1 {
		return fmt.Errorf("export: %s is a second file, but -o names a single file", name)
	}
	return p.transfers.failed()
}

// begin starts an object, or the comparison with an existing one.
func (p *Place) begin(name string) (f *file, err error) {
	f = &file{place: p, name: name, key: p.at.key + name, sum: sha256.New()}
	if p.single {
		f.name, f.key = path.Base(p.at.key), p.at.key
	}
	switch {
	case !p.there:
		f.to = &object{file: f}
	case p.single:
		f.to, err = p.compare(f.key)
	default:
		f.to = listed{io.Discard, f}
	}
	f.buf = bufio.NewWriterSize(f.to, 64<<10)
	return f, err
}

// closed takes over an object that is completely written.
func (p *Place) closed(o *object) error {
	if !p.single && o.parts == 0 {
		p.began(o)
		return p.transfers.send(len(o.rest), o.make)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ready = append(p.ready, o)
	return nil
}

// began and ended maintain the set of objects to remove if the export fails.
func (p *Place) began(o *object) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begun[o] = true
}

func (p *Place) ended(o *object) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.begun, o)
}

// Made returns the number of files written so far, and their bytes.
func (p *Place) Made() (files int, bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.files, p.written
}

// Commit creates the single object, or the list once all objects exist. After an error, call Discard.
func (p *Place) Commit() error {
	if err := p.sendOutside(); err != nil {
		return err
	}
	for _, o := range p.ready { // their parts are sent already, so no data waits for room
		if err := p.transfers.send(0, o.make); err != nil {
			return err
		}
	}
	if err := p.transfers.wait(); err != nil {
		return err
	}
	p.transfers = newTransfers(p.ctx) // the previous ones have ended
	var err error
	switch {
	case p.single:
	case p.there:
		err = p.compareList()
	default:
		err = p.putList()
	}
	if err != nil {
		return err
	}
	p.done = true
	return p.tidy()
}

// sendOutside sends the files written by libraries.
func (p *Place) sendOutside() error {
	for _, name := range p.outside {
		w, err := p.begin(name)
		if err != nil {
			return err
		}
		from, err := fileio.Open(filepath.Join(p.scratch, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		_, err = io.Copy(w, from)
		if err := errors.Join(err, w.Close(), from.Close()); err != nil {
			return err
		}
	}
	return nil
}

// putList writes the list, which marks the export as complete.
func (p *Place) putList() error {
	if err := p.list.check(p.ctx, p.client, p.at.key); err != nil {
		return err
	}
	f, err := p.begin(listName)
	if err != nil {
		return err
	}
	to := &object{file: f}
	if err := errors.Join(p.list.write(p.ctx, to), to.Close()); err != nil {
		return err
	}
	if to.parts > 0 {
		if err := p.transfers.send(0, to.make); err != nil {
			return err
		}
	}
	if err := p.transfers.wait(); err != nil {
		return err
	}
	return p.client.remove(p.ctx, p.at.key+markName)
}

func (p *Place) compareList() error {
	if err := p.list.check(p.ctx, p.client, p.at.key); err != nil {
		return err
	}
	there, err := p.compare(p.at.key + listName)
	if err != nil {
		return err
	}
	return errors.Join(p.list.write(p.ctx, there), there.Close())
}

// patience limits the cleanup in Discard.
const patience = 2 * time.Minute

// Discard removes an incomplete export, even after an interrupt; it does nothing after Commit.
func (p *Place) Discard() error {
	if p.done {
		return nil
	}
	p.done = true
	p.transfers.stop()
	ctx, stop := context.WithTimeout(context.WithoutCancel(p.ctx), patience)
	defer stop()
	var err error
	for o := range p.begun {
		if o.id != "" {
			err = errors.Join(err, p.client.abort(ctx, o.key, o.id))
		}
	}
	if !p.single && !p.there {
		err = errors.Join(err, p.takeBack(ctx))
	}
	return errors.Join(err, p.tidy())
}

// takeBack removes the objects created, even those whose answer was lost, and last the mark.
func (p *Place) takeBack(ctx context.Context) error {
	var listing error
	err := p.client.removeAll(ctx, func(yield func(string) bool) {
		listing = p.list.entries.Each(ctx, func(e entry) error {
			if !yield(p.at.key + e.name) {
				return io.EOF
			}
			return nil
		})
		for o := range p.begun {
			if listing != nil || !yield(o.key) {
				return
			}
		}
	})
	if err := errors.Join(err, listing); err != nil {
		return err
	}
	for o, err := range p.client.below(ctx, p.at.key) {
		if err != nil || o.Key != p.at.key+markName {
			return err
		}
	}
	return p.client.remove(ctx, p.at.key+markName)
}

func (p *Place) tidy() error {
	err := p.list.close()
	if p.scratch != "" {
		err = errors.Join(err, os.RemoveAll(p.scratch))
	}
	return err
}

// Limits of data in flight: four parts, or more small objects.
const (
	mostBytes  = 32 << 20
	leastBytes = 1 << 20 // least weight of a request: at most 32 at once
)

// transfers are requests in flight; the first failure cancels the others. Safe for concurrent use.
type transfers struct {
	ctx    context.Context // its cause is the first failure
	cancel context.CancelFunc
	group  *errgroup.Group
	room   *semaphore.Weighted
}

func newTransfers(ctx context.Context) *transfers {
	ctx, cancel := context.WithCancel(ctx)
	g, ctx := errgroup.WithContext(ctx)
	return &transfers{ctx: ctx, cancel: cancel, group: g, room: semaphore.NewWeighted(mostBytes)}
}

// send starts a request of this size in bytes, once there is room for it.
func (t *transfers) send(size int, do func(context.Context) error) error {
	weight := min(max(int64(size), leastBytes), mostBytes)
	if err := t.room.Acquire(t.ctx, weight); err != nil {
		return t.failed()
	}
	t.group.Go(func() error {
		defer t.room.Release(weight)
		return do(t.ctx)
	})
	return nil
}

// failed returns the first failure, or nil.
func (t *transfers) failed() error { return context.Cause(t.ctx) }

// wait waits for all transfers; send must not be called afterwards.
func (t *transfers) wait() error {
	defer t.cancel()
	return t.group.Wait()
}

// stop cancels the transfers and waits for them.
func (t *transfers) stop() {
	t.cancel()
	_ = t.group.Wait() // the error is known, or no longer matters
}
