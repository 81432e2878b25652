package bucket

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"sync"
	"time"

	"fossick/export/place"
	"fossick/internal/reading"
)

// Place is one object, or all below a prefix. Commit or Discard it in the end.
type Place struct {
	ctx       context.Context // of the run, as writers are given none
	at        Address
	single    bool
	client    *client
	transfers *transfers
	list      *list
	there     state

	mu      sync.Mutex // guards the rest
	files   int
	written int64
	begun   map[*object]bool // that are on the server in part, or may be whole
	ready   []*object        // that are made at Commit
	scratch string           // folder of files that others write, "" before the first
	outside []string         // their names
	done    bool
}

// Open begins a single object, or all objects below a prefix. The context is that of all
// that is written there.
func Open(ctx context.Context, at Address, single bool, s Settings) (*Place, error) {
	if !single {
		at = at.Folder()
	}
	c, err := newClient(at.Bucket, s)
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

// Create begins an object; see export.Place. A single one has the place's own name,
// whatever it is called here. Names that end in .gz or .zst are compressed.
func (p *Place) Create(name string) (io.WriteCloser, error) {
	if err := p.enter(name); err != nil {
		return nil, err
	}
	to, name, err := p.begin(name)
	if err != nil {
		return nil, err
	}
	return place.Packed(name, &file{place: p, w: to, to: bufio.NewWriterSize(to, 64<<10)})
}

// Path reserves an object for what writes files by itself: its file is sent at Commit.
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

// begin begins what makes, or compares, an object, and says what it is called.
func (p *Place) begin(name string) (io.WriteCloser, string, error) {
	if p.single {
		name = path.Base(p.at.Key)
		if p.there == whole {
			to, err := p.compare(p.at.Key)
			return to, name, err
		}
		made := newMaker(p, name)
		made.key = p.at.Key
		return &object{maker: made}, name, nil
	}
	if p.there == whole {
		return &listed{newMaker(p, name)}, name, nil
	}
	return &object{maker: newMaker(p, name)}, name, nil
}

// file is an object in the making, buffered and counted.
type file struct {
	place *Place
	w     io.Closer
	to    *bufio.Writer
	n     int64
}

func (f *file) Write(b []byte) (int, error) {
	n, err := f.to.Write(b)
	f.n += int64(n)
	return n, err
}

func (f *file) Close() error {
	err := f.to.Flush()
	f.place.mu.Lock()
	f.place.written += f.n
	f.place.mu.Unlock()
	return errors.Join(err, f.w.Close())
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

// began and ended note what has to be taken back where the export fails.
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

// Commit makes the single object, or lists all, when they are there. After an error Discard
// is to be called.
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
	var err error
	switch {
	case p.single:
	case p.there == whole:
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
		to, _, err := p.begin(name)
		if err != nil {
			return err
		}
		from, err := reading.Open(filepath.Join(p.scratch, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		w := &file{place: p, w: to, to: bufio.NewWriterSize(to, 64<<10)}
		_, err = io.Copy(w, from)
		if err := errors.Join(err, w.Close(), from.Close()); err != nil {
			return err
		}
	}
	return nil
}

// putList puts the list of all objects, which says that they are all there.
func (p *Place) putList() error {
	if err := p.list.check(p.ctx, p.client, p.at.Key); err != nil {
		return err
	}
	p.transfers = newTransfers(p.ctx) // those before have ended
	to := &object{maker: newMaker(p, listName)}
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
	return p.client.remove(p.ctx, p.at.Key+markName)
}

// Discard takes back what is not complete. After Commit it does nothing.
func (p *Place) Discard() error {
	if p.done {
		return nil
	}
	p.done = true
	p.transfers.stop()
	// The run may have been interrupted; what it began is ended all the same.
	ctx, stop := context.WithTimeout(context.WithoutCancel(p.ctx), patience)
	defer stop()
	var err error
	for o := range p.begun {
		if o.id != "" {
			err = errors.Join(err, p.client.abort(ctx, o.key, o.id))
		}
	}
	if !p.single && p.there == nothing {
		err = errors.Join(err, p.takeBack(ctx))
	}
	return errors.Join(err, p.tidy())
}

// patience is how long a server may take to end what was begun.
const patience = 2 * time.Minute

// takeBack removes the objects that were made, and those whose answer did not come. The mark
// stays where there are others.
func (p *Place) takeBack(ctx context.Context) error {
	var listing error
	err := p.client.removeAll(ctx, func(yield func(string) bool) {
		listing = p.list.entries.Each(ctx, func(e entry) error {
			if !yield(p.at.Key + e.name) {
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
	for o, err := range p.client.below(ctx, p.at.Key) {
		if err != nil || o.Key != p.at.Key+markName {
			return err
		}
	}
	return p.client.remove(ctx, p.at.Key+markName)
}

// tidy removes what is on this machine.
func (p *Place) tidy() error {
	err := p.list.close()
	if p.scratch != "" {
		err = errors.Join(err, os.RemoveAll(p.scratch))
	}
	return err
}
