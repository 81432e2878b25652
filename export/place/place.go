package place

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"fossick/internal/usage"
	"fossick/internal/wholefile"
)

// ErrThere reports a path with other content than an export would give it.
var ErrThere = errors.New("already exists with other content; remove it, or give another place with -o")

// Place is one file, one folder or a stream. Commit or Discard it in the end.
type Place struct {
	path   string // that it will have; "" of a stream
	single bool   // one file
	hidden string // folder beside path, in which all is written
	lock   *os.File
	stream io.Writer

	mu      sync.Mutex // guards the rest
	files   int
	written int64
	outside []string // files that others write
}

// Open begins a folder, or a single file, at path.
func Open(path string, single bool) (*Place, error) {
	path = filepath.Clean(path)
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir() == single:
		kind := map[bool]string{true: "a folder; give a file", false: "a file; give a folder"}[single]
		return nil, usage.Errorf("-o %s: it is %s for this export", path, kind)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	dir, name := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("-o %s: %w", path, err)
	}
	prefix := "." + name + ".export-"
	removeStale(dir, prefix)
	hidden, err := os.MkdirTemp(dir, prefix)
	if err != nil {
		return nil, fmt.Errorf("-o %s: %w; give a place that can be written to", path, err)
	}
	lock, err := lockFolder(hidden)
	if err != nil {
		return nil, errors.Join(err, os.Remove(hidden))
	}
	return &Place{path: path, single: single, hidden: hidden, lock: lock}, nil
}

// Stream begins a single file that goes to w at once.
func Stream(w io.Writer) *Place { return &Place{single: true, stream: w} }

// Create begins a file; see export.Place. A single file has the place's own name, whatever
// it is called here. Names that end in .gz or .zst are compressed.
func (p *Place) Create(name string) (io.WriteCloser, error) {
	if err := p.enter(name); err != nil {
		return nil, err
	}
	if p.stream != nil {
		return Packed("", &file{place: p, to: bufio.NewWriterSize(p.stream, 64<<10)})
	}
	if p.single {
		name = filepath.Base(p.path)
	}
	path := filepath.Join(p.hidden, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	return Packed(name, &file{place: p, f: f, to: bufio.NewWriterSize(f, 64<<10)})
}

// Path reserves a file for what writes files by itself, as databases do, and says where it
// is to be written. A stream has no path.
func (p *Place) Path(name string) (string, error) {
	if p.stream != nil {
		return "", usage.Errorf("-o -: this format cannot be written to stdout; give a file")
	}
	if err := p.enter(name); err != nil {
		return "", err
	}
	if p.single {
		name = filepath.Base(p.path)
	}
	path := filepath.Join(p.hidden, filepath.FromSlash(name))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.outside = append(p.outside, path)
	return path, os.MkdirAll(filepath.Dir(path), 0o755)
}

// enter counts a file, and refuses one that would end in ErrThere.
func (p *Place) enter(name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.files++
	if p.single {
		if p.files > 1 {
			return fmt.Errorf("export: %s is a second file, but -o names a single file", name)
		}
		return nil
	}
	there, err := os.ReadDir(p.path)
	if err != nil || len(there) == 0 {
		return nil // what is wrong with it shows when it is written
	}
	first, _, _ := strings.Cut(name, "/")
	if _, err := os.Stat(filepath.Join(p.path, first)); err != nil {
		return fmt.Errorf("%s %w", p.path, ErrThere)
	}
	return nil
}

// file is a file of a place, buffered.
type file struct {
	place *Place
	f     *os.File // nil of a stream
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
	if f.f != nil {
		err = errors.Join(err, f.f.Close())
	}
	f.place.mu.Lock()
	defer f.place.mu.Unlock()
	f.place.written += f.n
	return err
}

// Made returns how many files were written so far, and their bytes.
func (p *Place) Made() (files int, bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.files, p.written
}

// Commit gives what was written its name, when all of it is on the disk.
func (p *Place) Commit() error {
	if p.stream != nil {
		return nil
	}
	made := p.hidden
	if p.single {
		made = filepath.Join(p.hidden, filepath.Base(p.path))
	}
	if err := syncTree(p.hidden); err != nil {
		return errors.Join(fmt.Errorf("-o %s: %w", p.path, err), p.Discard())
	}
	for _, path := range p.outside {
		info, err := os.Stat(path)
		if err != nil {
			return errors.Join(fmt.Errorf("-o %s: %w", p.path, err), p.Discard())
		}
		p.written += info.Size()
	}
	err := putAt(made, p.path)
	if err == nil {
		err = wholefile.SyncFolder(filepath.Dir(p.path))
	}
	return errors.Join(err, p.Discard())
}

// putAt renames what was made, unless the same is there.
func putAt(made, path string) error {
	switch same, err := Equal(made, path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case same:
		return nil
	case !emptyFolder(path) || os.Remove(path) != nil:
		return fmt.Errorf("%s %w", path, ErrThere)
	}
	if err := os.Chmod(made, modeOf(made)); err != nil {
		return err
	}
	return os.Rename(made, path)
}

func emptyFolder(path string) bool {
	entries, err := os.ReadDir(path)
	return err == nil && len(entries) == 0
}

// modeOf is what others may do with it: temporary folders are their owner's alone.
func modeOf(path string) fs.FileMode {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return 0o755
	}
	return 0o644
}

// Discard throws away what has no name yet. After Commit it does nothing.
func (p *Place) Discard() error {
	if p.lock == nil {
		return nil
	}
	err := errors.Join(os.RemoveAll(p.hidden), unlock(p.lock))
	p.lock = nil
	return err
}
