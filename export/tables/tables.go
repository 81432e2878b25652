package tables

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

	"fossick/export"
	"fossick/internal/fileio"
)

// Options configure a conversion.
type Options struct {
	Stores  []string // store folders, in page order
	Dir     string   // output folder
	Version string   // version of fossick; another version may write other bytes

	// Collection says how stores are read; its Text makes the descriptions of pages.
	Collection export.Options

	// Step is called with each step and its size, Did with each finished item, maybe concurrently.
	Step func(what string, total int)
	Did  func(n int)

	limits limits
}

// limits bound memory, in items, and the work lost at a kill.
type limits struct {
	chunk                              int // pages per chunk; a kill loses at most one chunk
	refs, hashes, names, edges, fronts int // items in the sorters' memory
	piece                              int // bytes per message to another agent
}

// usual limits take about 48 MiB a sorter; two sorters are in use at once.
var usual = limits{chunk: 20_000, refs: 3 << 20, hashes: 2 << 20, names: 3 << 19, edges: 6 << 20, fronts: 8192, piece: pieceBytes}

// Result is the result of a conversion.
type Result struct {
	Counts
	Withdrawn int // pages left out by request of their authors
	Refused   int // pages left out because their owners refuse the crawl's purpose
	Damaged   int // with Partial: records left out, or pages without a description
	Files     int
	Bytes     int64
	Found     int // files taken over from an earlier run

	At string // agent that has the folder, for several agents
}

// Run converts the stores, or resumes or verifies a conversion in Dir. It returns errChanged when that had other
// inputs, errDamaged when its files have changed, and export.ErrThere for other content.
func Run(ctx context.Context, opt Options) (_ *Result, err error) {
	fresh, err := begin(&opt)
	if err != nil {
		return nil, err
	}
	if there, err := readManifest(opt.Dir); err != nil {
		return nil, err
	} else if there != nil {
		return check(ctx, there, fresh, &opt)
	}
	kept, err := export.Keep(opt.Dir, "convert")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, kept.Close()) }()
	m, err := goOn(ctx, kept.Dir(), fresh, &opt)
	if err != nil {
		return nil, err
	}
	found := len(m.Files)
	if err := m.make(ctx, &opt); err != nil {
		return nil, err
	}
	if err := m.sweep(); err != nil {
		return nil, err
	}
	if err := kept.Commit(); err != nil {
		return nil, err
	}
	return m.result(found), nil
}

func goOn(ctx context.Context, dir string, fresh *manifest, opt *Options) (*manifest, error) {
	m, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	if m == nil {
		m = fresh
		m.dir = dir
	} else if err := m.like(fresh); err != nil {
		return nil, err
	}
	m.Partial = fresh.Partial // the finished parts had no damage
	opt.Step("checking finished files", 0)
	return m, m.verify(ctx)
}

func begin(opt *Options) (*manifest, error) {
	names, err := export.Names(opt.Stores)
	if err != nil {
		return nil, err
	}
	opt.Dir = filepath.Clean(opt.Dir)
	if opt.limits == (limits{}) {
		opt.limits = usual
	}
	return opt.fresh(names...), nil
}

// fresh returns the manifest of a conversion of stores with these names, with nothing done.
func (opt *Options) fresh(names ...string) *manifest {
	m := &manifest{Format: manifestFormat, Fossick: opt.Version, Partial: opt.Collection.Partial}
	for _, n := range names {
		m.Stores = append(m.Stores, input{Name: n})
	}
	return m
}

func check(ctx context.Context, there, fresh *manifest, opt *Options) (*Result, error) {
	if !there.Done {
		return nil, fmt.Errorf("%s %w", opt.Dir, export.ErrThere)
	}
	if err := there.like(fresh); err != nil {
		return nil, err
	}
	for i := range there.Stores {
		if err := there.withStore(ctx, i, opt, func(*agent) error { return nil }); err != nil {
			return nil, err
		}
	}
	opt.Step("checking finished files", 0)
	if err := there.verify(ctx); err != nil {
		return nil, err
	}
	return there.result(len(there.Files)), nil
}

func (m *manifest) make(ctx context.Context, opt *Options) (err error) {
	if err := m.clear(); err != nil {
		return err
	}
	for i := range m.Stores {
		if err := m.withStore(ctx, i, opt, func(a *agent) error { return a.do(ctx) }); err != nil {
			return err
		}
	}
	return m.coordinate(ctx, opt)
}

func (m *manifest) clear() error {
	return errors.Join(os.RemoveAll(m.scratch()), os.MkdirAll(m.scratch(), 0o755))
}

func (m *manifest) coordinate(ctx context.Context, opt *Options) (err error) {
	if m.Done {
		return nil
	}
	opt.Step("numbering pages", 0)
	o, err := m.number(ctx, opt)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	if !m.has(pagesTable.File()) {
		opt.Step("writing tables", int(2*o.total))
		if err := m.tables(ctx, o, opt); err != nil {
			return err
		}
	}
	if !m.has(linkFile) {
		opt.Step("joining links", 0)
		if err := m.links(ctx, o, opt); err != nil {
			return err
		}
	}
	return m.finish()
}

func (m *manifest) scratch() string { return filepath.Join(m.dir, partsFolder, "scratch") }

func (m *manifest) withStore(ctx context.Context, i int, opt *Options, do func(*agent) error) (err error) {
	pages, print, err := opened(ctx, opt.Stores[i], m.Stores[i].Name, opt)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pages.Close()) }()
	if err := m.admit(i, print); err != nil || m.Done {
		return err
	}
	return do(&agent{m: m, store: i, opt: opt, pages: pages})
}

func opened(ctx context.Context, store, name string, opt *Options) (pages *export.Collection, print string, err error) {
	settings := opt.Collection
	settings.Looked = func() { opt.Did(1) }
	if pages, err = export.Open(ctx, []string{store}, settings); err != nil {
		return nil, "", err
	}
	opt.Step("looking at "+name, pages.Len())
	if print, err = pages.Sources()[0].Fingerprint(ctx, settings.Looked); err != nil {
		return nil, "", errors.Join(err, pages.Close())
	}
	return pages, print, nil
}

func (m *manifest) result(found int) *Result {
	r := &Result{Counts: m.Counts, Files: len(m.Files) + 1, Found: found}
	for _, s := range m.Stores {
		r.Withdrawn += s.Withdrawn
		r.Refused += s.Refused
		r.Damaged += s.Damaged
	}
	for _, p := range m.Files {
		r.Bytes += p.Bytes
	}
	return r
}

var errChanged = errors.New("was begun with")

var errDamaged = errors.New("is damaged")

const (
	manifestFile   = "manifest.json"
	manifestFormat = 1
)

// manifest lists the finished parts of a conversion. It is saved after each part is on disk.
type manifest struct {
	Format  int     `json:"format"`
	Fossick string  `json:"fossick"`
	Partial bool    `json:"partial"`
	Done    bool    `json:"done"`
	Counts  Counts  `json:"counts"`
	Stores  []input `json:"stores"`
	Files   []part  `json:"files"` // in order of completion

	dir string
}

type input struct {
	Name        string `json:"name"`
	Fingerprint string `json:"fingerprint"` // "" until the store is opened
	Read        bool   `json:"read"`        // all pages are in chunks
	Linked      bool   `json:"linked"`      // the links are in a file

	Withdrawn int `json:"withdrawn"`
	Refused   int `json:"refused"`
	Damaged   int `json:"damaged"`
}

type part struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	Last   uint64 `json:"last,omitempty"` // number of the chunk's last page in its store
}

// Counts are the row counts of the tables.
type Counts struct {
	Pages       uint64 `json:"pages"`
	Sites       uint64 `json:"sites"`
	Domains     uint64 `json:"domains"`
	Communities uint64 `json:"communities"`
	Links       uint64 `json:"links"`
	Repeated    uint64 `json:"repeated"` // pages left out because an earlier store has them
}

// maxManifestBytes bounds a manifest, which has 200 bytes per chunk of 20,000 pages.
const maxManifestBytes = 256 << 20

// readManifest reads a folder's manifest; nil without one.
func readManifest(dir string) (*manifest, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, nil
	}
	if err := fileio.OnlyFiles(dir); err != nil {
		return nil, err
	}
	b, err := fileio.All(filepath.Join(dir, manifestFile), maxManifestBytes)
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
		return nil, fmt.Errorf("%s %w (%w); give another place with -o, or remove %s", filepath.Join(dir, manifestFile), errDamaged, err, dir)
	}
	return m, nil
}

// like reports, as an error, why the conversion n cannot resume m.
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
	return fmt.Errorf("%s %w %s; remove it to start over, or give another place with -o", m.dir, errChanged, what)
}

func (m *manifest) names() string {
	names := make([]string, 0, len(m.Stores))
	for _, s := range m.Stores {
		names = append(names, s.Name)
	}
	return strings.Join(names, ", ")
}

func (m *manifest) admit(i int, print string) error {
	s := &m.Stores[i]
	if s.Fingerprint != "" && s.Fingerprint != print {
		return m.changed("an earlier state of the store " + s.Name + ", which has changed since")
	}
	s.Fingerprint = print
	return nil
}

func (m *manifest) save() error {
	return fileio.Write(filepath.Join(m.dir, manifestFile), 0o644, func(f *os.File) error {
		e := json.NewEncoder(f)
		e.SetIndent("", "  ")
		return e.Encode(m)
	})
}

func (m *manifest) verify(ctx context.Context) error {
	for _, p := range m.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		got, err := sumOf(m.dir, p.Name)
		if err != nil || got.Bytes != p.Bytes || got.SHA256 != p.SHA256 {
			return errors.Join(fmt.Errorf("%s %w; remove %s to start over", filepath.Join(m.dir, p.Name), errDamaged, m.dir), err)
		}
	}
	return nil
}

func sumOf(dir, name string) (part, error) {
	f, err := fileio.Open(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return part{}, err
	}
	h := sha256.New()
	n, err := io.Copy(h, f)
	return part{Name: name, Bytes: n, SHA256: hex.EncodeToString(h.Sum(nil))}, errors.Join(err, f.Close())
}

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

func (m *manifest) has(name string) bool {
	for _, p := range m.Files {
		if p.Name == name {
			return true
		}
	}
	return false
}

// chunks returns a store's finished chunks in order, and the number of the last page in them.
func (m *manifest) chunks(store int) (names []string, last uint64) {
	for _, p := range m.Files {
		if p.Last > 0 && strings.HasPrefix(p.Name, storeFolder(store)+"pages-") {
			names, last = append(names, p.Name), p.Last
		}
	}
	return names, last
}

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

func (m *manifest) sweep() error {
	entries, err := os.ReadDir(m.dir)
	for _, e := range entries {
		if e.Name() != manifestFile && !m.has(e.Name()) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(m.dir, e.Name())))
		}
	}
	return err
}

// partsFolder holds the intermediate files.
const partsFolder = "parts/"

func storeFolder(store int) string { return fmt.Sprintf("%s%d/", partsFolder, store) }

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

// output is a file that Close syncs to disk.
type output struct{ *os.File }

func (o *output) Close() error {
	err := o.Sync()
	err = errors.Join(err, o.File.Close())
	return errors.Join(err, fileio.SyncFolder(filepath.Dir(o.Name())))
}
