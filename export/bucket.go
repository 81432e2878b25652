package export

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"fossick/internal/fileio"
)

// bucketPlace is an export to an object store: a single object, or all objects below a prefix. End it with Commit or
// Discard.
//
// Each object is atomic: a small one is one request, a large one a multipart upload that Commit completes. Below a
// prefix small objects appear before Commit, but the list of all objects is written last. An export over an existing
// one is compared with it, not sent. Memory: a part per open file, 32 MiB in flight, and 300 bytes an object.
//
// There are no locks: when two exports write to one prefix, one or both fail, and neither lists objects that the
// other changed.
type bucketPlace struct {
	ctx    context.Context // of the run, since writers get none
	at     s3Address
	single bool
	there  bool // an export exists: compare, send nothing
	listed bool // the list may exist on the server
	client *s3Client

	sending context.Context // of requests in flight; its cause is the first failure, which cancels the others
	stop    context.CancelFunc
	group   *errgroup.Group
	room    *semaphore.Weighted

	mu      sync.Mutex // guards the fields below
	objects []*object
	files   int
	written int64
	scratch string   // folder for files written by libraries; "" before the first
	outside []string // their names
	done    bool
}

const (
	// listName is the object that lists the others and is written last: JSON, one object a line, by name.
	listName = "_export.json"
	// markName is the object that marks everything below the prefix as an unfinished export.
	markName = "_export-unfinished.txt"
	markText = "An export is being written here, or was interrupted. The next export to this place removes all objects below it.\n"
)

// Limits of data in flight: four parts, or more small objects.
const (
	mostInFlight  = 32 << 20
	leastInFlight = 1 << 20 // least weight of a request: at most 32 at once
)

// OpenBucket starts a single object at s3://BUCKET/KEY, or all objects below it when single is false or the key
// is empty or ends in a slash. ctx governs all writes. Server and credentials come from the environment.
func OpenBucket(ctx context.Context, address string, single bool, getenv func(string) string) (*bucketPlace, error) {
	at, err := parseS3(address)
	if err != nil {
		return nil, err
	}
	s, err := s3FromEnvironment(getenv)
	if err != nil {
		return nil, err
	}
	return openBucket(ctx, at, single && at.key != "" && !strings.HasSuffix(at.key, "/"), s)
}

func openBucket(ctx context.Context, at s3Address, single bool, s s3Settings) (_ *bucketPlace, err error) {
	if !single && at.key != "" && !strings.HasSuffix(at.key, "/") {
		at.key += "/"
	}
	p := &bucketPlace{ctx: ctx, at: at, single: single, room: semaphore.NewWeighted(mostInFlight)}
	if p.client, err = newS3Client(at.bucket, s); err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	ctx, p.stop = context.WithCancel(ctx)
	p.group, p.sending = errgroup.WithContext(ctx)
	if err := p.look(p.ctx); err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

// look checks what exists. It removes what a killed export left, and refuses objects below a prefix that are no
// export.
func (p *bucketPlace) look(ctx context.Context) (err error) {
	whole := p.at.key
	if !p.single {
		whole += listName
	}
	if p.there, err = p.client.has(ctx, whole); err != nil || p.there {
		return err
	}
	if p.single {
		return p.abortAll(ctx)
	}
	marked, err := p.client.has(ctx, p.at.key+markName)
	if err != nil {
		return err
	}
	if marked {
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
	if o, err := p.client.first(ctx, p.at.key); err != nil {
		return err
	} else if o.Key != "" {
		return fmt.Errorf("%s %w", p.at, ErrThere)
	}
	_, err = p.client.put(ctx, p.at.key+markName, []byte(markText))
	return err
}

// abortAll aborts unfinished uploads to the place.
func (p *bucketPlace) abortAll(ctx context.Context) error {
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

// Create starts an object, compressed by .gz or .zst; a single one always gets the place's own name.
func (p *bucketPlace) Create(name string) (io.WriteCloser, error) {
	if err := p.enter(name); err != nil {
		return nil, err
	}
	o := p.begin(name)
	return packed(o.name, o)
}

// Path reserves an object for a format that writes files by itself; Commit sends the file.
func (p *bucketPlace) Path(name string) (_ string, err error) {
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

func (p *bucketPlace) enter(name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.files++; p.single && p.files > 1 {
		return fmt.Errorf("export: %s is a second file, but -o names a single file", name)
	}
	return context.Cause(p.sending)
}

func (p *bucketPlace) begin(name string) *object {
	o := &object{place: p, name: name, key: p.at.key + name, sum: sha256.New()}
	if p.single {
		o.name, o.key = path.Base(p.at.key), p.at.key
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.objects = append(p.objects, o)
	return o
}

// Made returns the number of files written so far, and their bytes.
func (p *bucketPlace) Made() (files int, bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.files, p.written
}

// Commit creates the single object, or the list once all objects exist. After an error, call Discard.
func (p *bucketPlace) Commit() error {
	if err := p.sendOutside(); err != nil {
		return err
	}
	if err := p.group.Wait(); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(p.ctx)
	g.SetLimit(mostInFlight / leastInFlight)
	for _, o := range p.objects {
		if o.held() && !p.there {
			g.Go(func() error { return o.make(ctx) })
		}
	}
	if err := g.Wait(); err != nil {
		return err
	}
	var err error
	switch {
	case !p.single:
		err = p.putList()
	case p.there:
		err = p.compare(p.at.key, p.objects[0].sum.Sum(nil))
	}
	if err != nil {
		return err
	}
	p.done = true
	p.stop()
	return os.RemoveAll(p.scratch)
}

// sendOutside sends the files written by libraries.
func (p *bucketPlace) sendOutside() error {
	for _, name := range p.outside {
		from, err := fileio.Open(filepath.Join(p.scratch, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		o := p.begin(name)
		_, err = io.Copy(o, from)
		if err := errors.Join(err, o.Close(), from.Close()); err != nil {
			return err
		}
	}
	return nil
}

// putList compares the objects with those on the server, and then writes the list, which marks the export as
// complete. It compares the list if there is one.
func (p *bucketPlace) putList() error {
	if err := p.check(); err != nil {
		return err
	}
	slices.SortFunc(p.objects, func(a, b *object) int { return cmp.Compare(a.name, b.name) })
	list := []byte("{\"version\":1,\"files\":[\n")
	for i, o := range p.objects {
		name, err := json.Marshal(o.name)
		if err != nil {
			return err
		}
		if i > 0 {
			list = append(list, ",\n"...)
		}
		list = fmt.Appendf(list, "{\"name\":%s,\"bytes\":%d,\"sha256\":\"%x\"}", name, o.n, o.sum.Sum(nil))
	}
	list = append(list, "\n]}\n"...)
	key := p.at.key + listName
	if p.there {
		sum := sha256.Sum256(list)
		return p.compare(key, sum[:])
	}
	p.listed = true
	if _, err := p.client.put(p.ctx, key, list); err != nil {
		return err
	}
	return p.client.remove(p.ctx, p.at.key+markName)
}

// check compares the objects with those below the prefix on the server.
func (p *bucketPlace) check() error {
	changed := fmt.Errorf("%s: the objects there differ from those of this export; check that no one else writes there, and run the export again", p.at)
	missing := map[string]*object{}
	for _, o := range p.objects {
		missing[o.key] = o
	}
	for there, err := range p.client.below(p.ctx, p.at.key) {
		if err != nil {
			return err
		}
		if there.Key == p.at.key+listName || there.Key == p.at.key+markName {
			continue
		}
		o := missing[there.Key]
		if o == nil || o.n != there.Size || o.tag != "" && there.ETag != "" && o.tag != there.ETag {
			return changed
		}
		delete(missing, there.Key)
	}
	if len(missing) > 0 {
		return changed
	}
	return nil
}

// compare fails with ErrThere unless an object has this SHA-256.
func (p *bucketPlace) compare(key string, sum []byte) error {
	body, err := p.client.open(p.ctx, key)
	if err != nil {
		return err
	}
	h := sha256.New()
	if _, err := io.Copy(h, body); err != nil {
		return errors.Join(p.client.wrap(key, err), body.Close())
	}
	if !bytes.Equal(h.Sum(nil), sum) {
		err = fmt.Errorf("%s %w", s3Address{p.at.bucket, key}, ErrThere)
	}
	return errors.Join(err, body.Close())
}

// discardTime limits the cleanup in Discard.
const discardTime = 2 * time.Minute

// Discard removes an incomplete export, even after an interrupt; it does nothing after Commit. Objects of others
// stay.
func (p *bucketPlace) Discard() error {
	if p.done {
		return nil
	}
	p.done = true
	p.stop()
	_ = p.group.Wait() // the error is known, or no longer matters
	ctx, stop := context.WithTimeout(context.WithoutCancel(p.ctx), discardTime)
	defer stop()
	err := os.RemoveAll(p.scratch)
	var keys []string
	for _, o := range p.objects {
		if o.id != "" {
			err = errors.Join(err, p.client.abort(ctx, o.key, o.id))
		}
		if o.sent {
			keys = append(keys, o.key)
		}
	}
	if p.there || p.single {
		return err
	}
	if p.listed { // the list goes first, because an export with it is whole
		if failed := p.client.remove(ctx, p.at.key+listName); failed != nil {
			return errors.Join(err, failed)
		}
	}
	if failed := p.client.removeAll(ctx, slices.Values(keys)); failed != nil {
		return errors.Join(err, failed)
	}
	for o, failed := range p.client.below(ctx, p.at.key) {
		if failed != nil || o.Key != p.at.key+markName {
			return errors.Join(err, failed)
		}
	}
	return errors.Join(err, p.client.remove(ctx, p.at.key+markName))
}

// send starts a request of this size in bytes, once there is room for it.
func (p *bucketPlace) send(size int, do func(context.Context) error) error {
	weight := min(max(int64(size), leastInFlight), mostInFlight)
	if err := p.room.Acquire(p.sending, weight); err != nil {
		return context.Cause(p.sending)
	}
	p.group.Go(func() error {
		defer p.room.Release(weight)
		return do(p.sending)
	})
	return nil
}

// object is a file of the export.
type object struct {
	place *bucketPlace
	name  string // below the prefix
	key   string
	sum   hash.Hash
	n     int64
	rest  []byte // not sent yet
	id    string // of the upload; "" before the first part
	tag   string // ETag; "" for unknown
	sent  bool   // it may exist

	mu    sync.Mutex // guards parts
	parts []minio.CompletePart
}

// partBytes returns a part's size. It doubles every 1,000 parts, since servers accept 10,000 parts, each of at
// least 5 MiB but the last.
func partBytes(number int) int { return firstPart << ((number - 1) / 1000) }

const firstPart = 8 << 20

// Write buffers data and sends full parts. When the export exists, it only adds to the checksum.
func (o *object) Write(b []byte) (int, error) {
	written := len(b)
	o.sum.Write(b)
	o.n += int64(written)
	for len(b) > 0 && !o.place.there {
		size := partBytes(len(o.parts) + 1)
		if len(o.rest) == size {
			if err := o.sendPart(); err != nil {
				return 0, err
			}
			continue
		}
		n := min(len(b), size-len(o.rest))
		o.rest = append(o.rest, b[:n]...)
		b = b[n:]
	}
	return written, nil
}

// sendPart starts sending the buffer as a part, and the upload before the first part.
func (o *object) sendPart() (err error) {
	p := o.place
	if o.id == "" {
		if o.id, err = p.client.begin(p.sending, o.key); err != nil {
			return cmp.Or(context.Cause(p.sending), err)
		}
	}
	o.mu.Lock()
	o.parts = append(o.parts, minio.CompletePart{PartNumber: len(o.parts) + 1})
	number, content := len(o.parts), o.rest
	o.mu.Unlock()
	o.rest = nil
	return p.send(cap(content), func(ctx context.Context) error {
		tag, err := p.client.part(ctx, o.key, o.id, number, content)
		o.mu.Lock()
		defer o.mu.Unlock()
		o.parts[number-1].ETag = tag
		return err
	})
}

// held reports whether only Commit creates the object.
func (o *object) held() bool { return o.place.single || o.id != "" }

// Close sends the rest.
func (o *object) Close() error {
	p := o.place
	p.mu.Lock()
	p.written += o.n
	p.mu.Unlock()
	switch {
	case p.there:
		return nil
	case !o.held():
		return p.send(len(o.rest), o.make)
	case o.id != "" && len(o.rest) > 0:
		return o.sendPart()
	}
	return nil
}

// make creates the object; all its parts have arrived.
func (o *object) make(ctx context.Context) (err error) {
	o.sent = true
	if o.id == "" {
		o.tag, err = o.place.client.put(ctx, o.key, o.rest)
		o.rest = nil
		return err
	}
	o.tag, err = o.place.client.complete(ctx, o.key, o.id, o.parts)
	if err == nil {
		o.id, o.parts = "", nil
	}
	return err
}
