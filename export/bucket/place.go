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
	"fossick/internal/reading"
)

// Place is one object, or all below a prefix. Commit or Discard it in the end.
type Place struct {
	ctx       context.Context // of the run, as writers are given none
	at        address
	single    bool
	there     bool // an export is there already: it is compared, and nothing is sent
	client    *client
	transfers *transfers
	list      *list

	mu      sync.Mutex // guards the rest
	files   int
	written int64
	begun   map[*object]bool // which the server has in part, or perhaps whole
	ready   []*object        // which Commit makes
	scratch string           // folder of files that others write, "" before the first
	outside []string         // their names
	done    bool
}

// Open begins a single object at s3://BUCKET/KEY, or all objects below it where single is
// false or the key ends in a slash. The context is that of all that is written there. Server
// and keys are those of the environment.
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

// lookAtObject finds out whether a single object is there. It aborts uploads of it that a
// kill left.
func (p *Place) lookAtObject(ctx context.Context) (err error) {
	if p.there, err = p.client.has(ctx, p.at.key); err != nil || p.there {
		return err
	}
	return p.abortAll(ctx)
}

// lookBelow finds out what is below a prefix: an export, the remains of one, which it
// removes, or other objects, which are an error.
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

// abortAll aborts the uploads to the place that were begun and not ended.
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

// removeRemains removes all below the prefix but the mark.
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

// Create begins an object; see export.Place. A single one has the place's own name,
// whatever it is called here. Names that end in .gz or .zst are compressed.
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

// Path reserves an object for a format that writes files by itself: Commit sends the file.
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

// enter counts a file.
func (p *Place) enter(name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.files++; p.single && p.files > 1 {
		return fmt.Errorf("export: %s is a second file, but -o names a single file", name)
	}
	return p.transfers.failed()
}

// begin begins an object, or the comparison with an existing one.
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

// closed takes an object to which nothing more is written.
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

// began and ended keep the set of objects to take back if the export fails.
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

// Made returns how many files were written so far, and their bytes.
func (p *Place) Made() (files int, bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.files, p.written
}

// Commit makes the single object, or lists all objects when they are there. After an error
// call Discard.
func (p *Place) Commit() error {
	if err := p.sendOutside(); err != nil {
		return err
	}
	for _, o := range p.ready { // all its parts are on their way, so none waits for room
		if err := p.transfers.send(0, o.make); err != nil {
			return err
		}
	}
	if err := p.transfers.wait(); err != nil {
		return err
	}
	p.transfers = newTransfers(p.ctx) // those before have ended
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

// sendOutside sends the files that others have written.
func (p *Place) sendOutside() error {
	for _, name := range p.outside {
		w, err := p.begin(name)
		if err != nil {
			return err
		}
		from, err := reading.Open(filepath.Join(p.scratch, filepath.FromSlash(name)))
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

// putList writes the list of all objects, which says that they are all there.
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

// compareList compares the list of all objects with the one that is there.
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

// patience is how long a server may take to end what was begun.
const patience = 2 * time.Minute

// Discard takes back an incomplete export, also after an interrupt. After Commit it does
// nothing.
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

// takeBack removes the objects that were made, and those whose answer did not come. The mark
// stays where there are others.
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

// tidy removes the files on this machine.
func (p *Place) tidy() error {
	err := p.list.close()
	if p.scratch != "" {
		err = errors.Join(err, os.RemoveAll(p.scratch))
	}
	return err
}

// What is on its way at once: four parts, or more small objects.
const (
	mostBytes  = 32 << 20
	leastBytes = 1 << 20 // counted for a request, so at most 32 at once
)

// transfers are requests on their way. The first that fails ends the others. Safe for
// concurrent use.
type transfers struct {
	ctx    context.Context // of all; its cause is what failed
	cancel context.CancelFunc
	group  *errgroup.Group
	room   *semaphore.Weighted
}

func newTransfers(ctx context.Context) *transfers {
	ctx, cancel := context.WithCancel(ctx)
	g, ctx := errgroup.WithContext(ctx)
	return &transfers{ctx: ctx, cancel: cancel, group: g, room: semaphore.NewWeighted(mostBytes)}
}

// send begins a request of so many bytes, when there is room for it.
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

// failed is what ended the transfers, nil when nothing did.
func (t *transfers) failed() error { return context.Cause(t.ctx) }

// wait returns after the last of them. Nothing may be sent any more.
func (t *transfers) wait() error {
	defer t.cancel()
	return t.group.Wait()
}

// stop ends the transfers, and returns after the last.
func (t *transfers) stop() {
	t.cancel()
	_ = t.group.Wait() // its error was told, or is of no interest any more
}
