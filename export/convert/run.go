package convert

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"fossick/export/collection"
	"fossick/export/place"
)

// Options say what is converted, and where to.
type Options struct {
	Stores  []string // folders; their pages come in this order
	Dir     string   // that is made
	Version string   // of fossick: another one may write other bytes

	// Collection says how stores are read. Its Text makes the description of a page.
	Collection collection.Options

	// Step is told what goes on, and of how many things; Did of each that is done, perhaps by
	// another goroutine.
	Step func(what string, total int)
	Did  func(n int)

	limits limits
}

// limits bound what is in memory, in items, and what a kill costs.
type limits struct {
	chunk                              int // pages of a chunk: what a kill makes a run read again
	refs, hashes, names, edges, fronts int // of sorters
	piece                              int // bytes that an agent sends at once
}

// usual limits are some 48 MiB a sorter, of which two are in use at once.
var usual = limits{chunk: 20_000, refs: 3 << 20, hashes: 2 << 20, names: 3 << 19, edges: 6 << 20, fronts: 8192, piece: pieceBytes}

// Result is what came out.
type Result struct {
	Counts
	Withdrawn int // pages left out, as their authors ask
	Refused   int // left out, as their owners refuse the crawl's purpose
	Damaged   int // with Partial: records left out, or pages without a description
	Files     int
	Bytes     int64
	Found     int // files that an earlier run had finished

	At string // of several agents: the one that has the folder
}

// Run converts. What a run before has finished is taken over; ErrChanged when that was begun
// with something else, ErrDamaged when it is not as it was written. Where Dir is there already,
// made of the same stores, Run checks it and changes nothing; place.ErrThere when it is
// something else.
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
	kept, err := place.Keep(opt.Dir, "convert")
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

// goOn takes over what of a conversion is finished in a folder, if it is of these stores.
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
	m.Partial = fresh.Partial // what is finished had no damage
	opt.Step("checking finished files", 0)
	return m, m.verify(ctx)
}

// begin checks the options, and describes a conversion of which nothing is done.
func begin(opt *Options) (*manifest, error) {
	names, err := collection.Names(opt.Stores)
	if err != nil {
		return nil, err
	}
	opt.Dir = filepath.Clean(opt.Dir)
	if opt.limits == (limits{}) {
		opt.limits = usual
	}
	return opt.fresh(names...), nil
}

// fresh describes a conversion of so named stores of which nothing is done.
func (opt *Options) fresh(names ...string) *manifest {
	m := &manifest{Format: manifestFormat, Fossick: opt.Version, Partial: opt.Collection.Partial}
	for _, n := range names {
		m.Stores = append(m.Stores, input{Name: n})
	}
	return m
}

// check compares what is there already with the stores and with its manifest.
func check(ctx context.Context, there, fresh *manifest, opt *Options) (*Result, error) {
	if !there.Done {
		return nil, fmt.Errorf("%s %w", opt.Dir, place.ErrThere)
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

// make does what is not done yet: the agents' part, then the coordinator's.
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

// clear empties the folder for sorting, where a kill leaves runs.
func (m *manifest) clear() error {
	return errors.Join(os.RemoveAll(m.scratch()), os.MkdirAll(m.scratch(), 0o755))
}

// coordinate does what needs all stores.
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

// scratch is where runs of sorting are.
func (m *manifest) scratch() string { return filepath.Join(m.dir, partsFolder, "scratch") }

// withStore calls do with a store that is as it was when the conversion was begun.
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

// opened opens a store, and says in which state it is.
func opened(ctx context.Context, store, name string, opt *Options) (pages *collection.Collection, print string, err error) {
	settings := opt.Collection
	settings.Looked = func() { opt.Did(1) }
	if pages, err = collection.Open(ctx, []string{store}, settings); err != nil {
		return nil, "", err
	}
	opt.Step("looking at "+name, pages.Len())
	if print, err = pages.Sources()[0].Fingerprint(ctx, settings.Looked); err != nil {
		return nil, "", errors.Join(err, pages.Close())
	}
	return pages, print, nil
}

// result tells what came out.
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
