package convert

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"fossick/internal/reading"
	"fossick/internal/wholefile"
)

// ErrChanged reports a conversion that was begun with something else.
var ErrChanged = errors.New("was begun with")

// ErrDamaged reports a file of a conversion that is not as it was written.
var ErrDamaged = errors.New("is damaged")

const (
	manifestFile   = "manifest.json"
	manifestFormat = 1
)

// manifest is what of a conversion is finished. It is written after each part, when that is on
// the disk.
type manifest struct {
	Format  int     `json:"format"`
	Fossick string  `json:"fossick"` // version
	Partial bool    `json:"partial"`
	Done    bool    `json:"done"`
	Counts  Counts  `json:"counts"`
	Stores  []input `json:"stores"`
	Files   []part  `json:"files"` // in the order in which they were finished

	dir string
}

// input is a store.
type input struct {
	Name        string `json:"name"`
	Fingerprint string `json:"fingerprint"` // "": it was not read yet
	Read        bool   `json:"read"`        // its pages are in chunks
	Linked      bool   `json:"linked"`      // its links are in a file

	Withdrawn int `json:"withdrawn"`
	Refused   int `json:"refused"`
	Damaged   int `json:"damaged"`
}

// part is a finished file.
type part struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	Last   uint64 `json:"last,omitempty"` // number of the last page of a chunk, in its store
}

// Counts are what came out.
type Counts struct {
	Pages       uint64 `json:"pages"`
	Sites       uint64 `json:"sites"`
	Domains     uint64 `json:"domains"`
	Communities uint64 `json:"communities"`
	Links       uint64 `json:"links"`
	Repeated    uint64 `json:"repeated"` // pages left out: an earlier store has them
}

// maxManifestBytes bounds a manifest: a chunk of 20,000 pages has 200 bytes in it.
const maxManifestBytes = 256 << 20

// readManifest reads that of a folder; nil when there is none, or no folder.
func readManifest(dir string) (*manifest, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, nil
	}
	if err := reading.OnlyFiles(dir); err != nil {
		return nil, err
	}
	b, err := reading.All(filepath.Join(dir, manifestFile), maxManifestBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m := &manifest{dir: dir}
	err = json.Unmarshal(b, m)
	if err == nil && m.Format <= 0 {
		err = errors.New("it has no format")
	}
	if err != nil {
		return nil, fmt.Errorf("%s %w (%w); give another place with -o, or remove %s", filepath.Join(dir, manifestFile), ErrDamaged, err, dir)
	}
	return m, nil
}

// like says whether a conversion with these stores may go on with this one.
func (m *manifest) like(n *manifest) error {
	var what string
	switch {
	case m.Format != n.Format || m.Fossick != n.Fossick:
		what = fmt.Sprintf("another version of fossick (%s)", m.Fossick)
	case m.Partial && !n.Partial:
		what = "--partial"
	case m.names() != n.names():
		what = "other stores: " + m.names()
	default:
		return nil
	}
	return m.changed(what)
}

func (m *manifest) changed(what string) error {
	return fmt.Errorf("%s %w %s; remove it to start over, or give another place with -o", m.dir, ErrChanged, what)
}

func (m *manifest) names() string {
	names := make([]string, 0, len(m.Stores))
	for _, s := range m.Stores {
		names = append(names, s.Name)
	}
	return strings.Join(names, ", ")
}

// admit compares a store with what it was when the conversion was begun.
func (m *manifest) admit(i int, print string) error {
	s := &m.Stores[i]
	if s.Fingerprint != "" && s.Fingerprint != print {
		return m.changed("an earlier state of the store " + s.Name + ", which has changed since")
	}
	s.Fingerprint = print
	return nil
}

// save writes the manifest.
func (m *manifest) save() error {
	return wholefile.Write(filepath.Join(m.dir, manifestFile), 0o644, func(f *os.File) error {
		e := json.NewEncoder(f)
		e.SetIndent("", "  ")
		return e.Encode(m)
	})
}

// verify reads all that is finished, and compares.
func (m *manifest) verify(ctx context.Context) error {
	for _, p := range m.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		got, err := sumOf(m.dir, p.Name)
		if err != nil || got.Bytes != p.Bytes || got.SHA256 != p.SHA256 {
			return errors.Join(fmt.Errorf("%s %w; remove %s to start over", filepath.Join(m.dir, p.Name), ErrDamaged, m.dir), err)
		}
	}
	return nil
}

// sumOf describes a file.
func sumOf(dir, name string) (part, error) {
	f, err := reading.Open(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return part{}, err
	}
	h := sha256.New()
	n, err := io.Copy(h, f)
	return part{Name: name, Bytes: n, SHA256: hex.EncodeToString(h.Sum(nil))}, errors.Join(err, f.Close())
}

// finished enters files that are whole; it has no effect on disk before save.
func (m *manifest) finished(names ...string) error {
	for _, name := range names {
		p, err := sumOf(m.dir, name)
		if err != nil {
			return err
		}
		m.Files = append(m.Files, p)
	}
	return nil
}

// has says whether a file is finished.
func (m *manifest) has(name string) bool {
	for _, p := range m.Files {
		if p.Name == name {
			return true
		}
	}
	return false
}

// chunks are the finished chunks of a store, in order.
func (m *manifest) chunks(store int) (names []string, last uint64) {
	for _, p := range m.Files {
		if p.Last > 0 && strings.HasPrefix(p.Name, storeFolder(store)+"pages-") {
			names, last = append(names, p.Name), p.Last
		}
	}
	return names, last
}

// finish drops the parts: what is left is what comes out.
func (m *manifest) finish() error {
	var kept []part
	for _, p := range m.Files {
		if !strings.HasPrefix(p.Name, partsFolder) {
			kept = append(kept, p)
		}
	}
	m.Files, m.Done = kept, true
	return m.save()
}

// sweep removes what is no file of the conversion: parts, and manifests that a kill cut off.
func (m *manifest) sweep() error {
	entries, err := os.ReadDir(m.dir)
	for _, e := range entries {
		if e.Name() != manifestFile && !m.has(e.Name()) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(m.dir, e.Name())))
		}
	}
	return err
}

// Parts are below this folder until all is done.
const partsFolder = "parts/"

// storeFolder has the parts of a store.
func storeFolder(store int) string { return fmt.Sprintf("%s%d/", partsFolder, store) }

// create begins a file of the conversion; Close brings it to the disk.
func (m *manifest) create(name string) (*output, error) {
	path := filepath.Join(m.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	return &output{f}, nil
}

// output is a file that is on the disk once it is closed.
type output struct{ *os.File }

func (o *output) Close() error {
	err := o.Sync()
	err = errors.Join(err, o.File.Close())
	return errors.Join(err, wholefile.SyncFolder(filepath.Dir(o.Name())))
}
