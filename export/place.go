package export

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/sys/unix"

	"fossick/internal/cli"
	"fossick/internal/fileio"
)

// ErrThere reports an existing path whose content differs from the export's.
var ErrThere = errors.New("already exists with other content; remove it, or give another place with -o")

// filePlace is the destination of an export: a file, a folder or a stream. End it with Commit or Discard.
type filePlace struct {
	path   string // final path; "" for a stream
	single bool   // one file
	hidden string // temporary folder beside path
	lock   *os.File
	stream io.Writer

	mu      sync.Mutex // guards the fields below
	files   int
	written int64
	outside []string // files written by libraries
}

// OpenPlace starts a folder, or a single file, at path.
func OpenPlace(path string, single bool) (*filePlace, error) {
	path = filepath.Clean(path)
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir() == single:
		kind := map[bool]string{true: "a folder; give a file", false: "a file; give a folder"}[single]
		return nil, cli.Usagef("-o %s: it is %s for this export", path, kind)
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
	lock, alone, err := lockAlone(hidden)
	if err != nil {
		return nil, errors.Join(err, os.Remove(hidden))
	}
	if !alone { // another export took it for one that was left behind
		return nil, fmt.Errorf("-o %s: another export to this place begins at this moment; run the export again", path)
	}
	return &filePlace{path: path, single: single, hidden: hidden, lock: lock}, nil
}

// Stream starts a single file that is written to w directly.
func Stream(w io.Writer) *filePlace { return &filePlace{single: true, stream: w} }

// Create starts a file, compressed by .gz or .zst; a single file always gets the place's own name.
func (p *filePlace) Create(name string) (io.WriteCloser, error) {
	if err := p.enter(name); err != nil {
		return nil, err
	}
	if p.stream != nil {
		return packed("", &placeFile{place: p, to: bufio.NewWriterSize(p.stream, 64<<10)})
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
	return packed(name, &placeFile{place: p, f: f, to: bufio.NewWriterSize(f, 64<<10)})
}

// Path reserves a file for a library that writes by itself, such as a database. A stream has none.
func (p *filePlace) Path(name string) (string, error) {
	if p.stream != nil {
		return "", cli.Usagef("-o -: this format cannot be written to stdout; give a file")
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

// enter counts a file, and fails early when Commit would return ErrThere.
func (p *filePlace) enter(name string) error {
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
		return nil // an error recurs on writing
	}
	first, _, _ := strings.Cut(name, "/")
	if _, err := os.Stat(filepath.Join(p.path, first)); err != nil {
		return fmt.Errorf("%s %w", p.path, ErrThere)
	}
	return nil
}

type placeFile struct {
	place *filePlace
	f     *os.File // nil for a stream
	to    *bufio.Writer
	n     int64
}

func (f *placeFile) Write(b []byte) (int, error) {
	n, err := f.to.Write(b)
	f.n += int64(n)
	return n, err
}

func (f *placeFile) Close() error {
	err := f.to.Flush()
	if f.f != nil {
		err = errors.Join(err, f.f.Close())
	}
	f.place.mu.Lock()
	defer f.place.mu.Unlock()
	f.place.written += f.n
	return err
}

// Made returns the number of files written so far, and their bytes.
func (p *filePlace) Made() (files int, bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.files, p.written
}

// Commit syncs the files to disk and then gives them their names.
func (p *filePlace) Commit() error {
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
		err = fileio.SyncFolder(filepath.Dir(p.path))
	}
	return errors.Join(err, p.Discard())
}

// putAt renames the new file or folder to path, unless path has the same content.
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
	info, err := os.Stat(made)
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if info.IsDir() { // temporary folders are private
		mode = 0o755
	}
	if err := os.Chmod(made, mode); err != nil {
		return err
	}
	return os.Rename(made, path)
}

func emptyFolder(path string) bool {
	entries, err := os.ReadDir(path)
	return err == nil && len(entries) == 0
}

// Discard removes uncommitted files; it does nothing after Commit.
func (p *filePlace) Discard() error {
	if p.lock == nil {
		return nil
	}
	err := errors.Join(os.RemoveAll(p.hidden), unlock(p.lock))
	p.lock = nil
	return err
}

var errInUse = errors.New("is being made by another process; wait for it, or give another place with -o")

// keptFolder is a folder written in one or more runs: in a hidden folder .NAME.work beside it, until Commit.
type keptFolder struct {
	path, hidden string
	lock         *os.File
}

// Keep starts or resumes such a folder. It fails with ErrThere when path is no empty folder, and with errInUse
// when another process has it.
func Keep(path, work string) (*keptFolder, error) {
	path = filepath.Clean(path)
	if filepath.Base(path) == "." || filepath.Base(path) == ".." || filepath.Dir(path) == path {
		return nil, cli.Usagef("-o %s: it has no name of its own; give the name of a new folder", path)
	}
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return nil, cli.Usagef("-o %s: it is a file; give a folder", path)
	} else if err == nil && !emptyFolder(path) {
		return nil, fmt.Errorf("%s %w", path, ErrThere)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	hidden := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+work)
	if err := os.MkdirAll(hidden, 0o755); err != nil {
		return nil, fmt.Errorf("-o %s: %w; give a place that can be written to", path, err)
	}
	lock, alone, err := lockAlone(hidden)
	if err != nil {
		return nil, err
	}
	if !alone {
		return nil, fmt.Errorf("%s %w", path, errInUse)
	}
	if _, err := os.Stat(hidden); err != nil { // another process committed it in the meantime
		return nil, errors.Join(fmt.Errorf("%s %w", path, errInUse), unlock(lock))
	}
	return &keptFolder{path: path, hidden: hidden, lock: lock}, nil
}

// Dir returns the folder to write to until Commit.
func (k *keptFolder) Dir() string { return k.hidden }

// Commit renames the folder to its final path; its files must be synced.
func (k *keptFolder) Commit() error {
	err := os.Remove(k.path) // empty folders only
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s %w", k.path, ErrThere)
	}
	if err := fileio.SyncFolder(k.hidden); err != nil {
		return err
	}
	if err := os.Rename(k.hidden, k.path); err != nil {
		return err
	}
	return fileio.SyncFolder(filepath.Dir(k.path))
}

// Discard removes the hidden folder.
func (k *keptFolder) Discard() error {
	return errors.Join(os.RemoveAll(k.hidden), fileio.SyncFolder(filepath.Dir(k.hidden)))
}

// Close releases the folder.
func (k *keptFolder) Close() error { return unlock(k.lock) }

// packed compresses by the extension .gz or .zst; WARC files compress their own records.
func packed(name string, to io.WriteCloser) (io.WriteCloser, error) {
	switch {
	case strings.HasSuffix(name, ".warc.gz"):
		return to, nil
	case strings.HasSuffix(name, ".gz"):
		return &through{gzip.NewWriter(to), to}, nil
	case strings.HasSuffix(name, ".zst"):
		// A single goroutine, since the other cores read the pages.
		z, err := zstd.NewWriter(to, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true))
		return &through{z, to}, err
	}
	return to, nil
}

type through struct {
	io.WriteCloser
	file io.Closer
}

func (t *through) Close() error { return errors.Join(t.WriteCloser.Close(), t.file.Close()) }

// Equal reports whether two files or folders have the same content; fs.ErrNotExist when one is missing.
func Equal(a, b string) (bool, error) {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	if err := errors.Join(errA, errB); err != nil {
		return false, err
	}
	if infoA.IsDir() != infoB.IsDir() {
		return false, nil
	}
	if !infoA.IsDir() {
		if infoA.Size() != infoB.Size() {
			return false, nil
		}
		sumA, errA := sumFile(a)
		sumB, errB := sumFile(b)
		return sumA == sumB, errors.Join(errA, errB)
	}
	inA, errA := os.ReadDir(a)
	inB, errB := os.ReadDir(b)
	if err := errors.Join(errA, errB); err != nil || len(inA) != len(inB) {
		return false, err
	}
	for i, e := range inA { // both are sorted
		if e.Name() != inB[i].Name() {
			return false, nil
		}
		if same, err := Equal(filepath.Join(a, e.Name()), filepath.Join(b, e.Name())); !same || err != nil {
			return false, err
		}
	}
	return true, nil
}

func sumFile(path string) (sum [sha256.Size]byte, err error) {
	f, err := fileio.Open(path)
	if err != nil {
		return sum, err
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	return [sha256.Size]byte(h.Sum(nil)), errors.Join(err, f.Close())
}

// syncTree syncs each file of a small tree, and the whole system for a large one.
func syncTree(root string) error {
	const few = 100
	var files []string
	folders := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if len(files) <= few {
			files = append(files, path)
			folders[path] = err == nil && d.IsDir()
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(files) > few {
		unix.Sync()
		return nil
	}
	for _, path := range files {
		open := fileio.Open
		if folders[path] {
			open = fileio.OpenFolder
		}
		f, err := open(path)
		if err != nil {
			return err
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return err
		}
	}
	return nil
}
