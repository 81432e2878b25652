package graph

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"fossick/internal/fileio"
)

// BuildOptions configures a build; the zero value works.
type BuildOptions struct {
	// Memory is roughly how many bytes sorting may use [256 MiB]. The rest goes to scratch files
	// beside the graph.
	Memory int
	// Site returns the site of a URL; nil, or "", means the registrable domain.
	Site func(url string) string
}

const defaultBuildMemory = 256 << 20

// Stats counts the input of a build.
type Stats struct {
	Nodes     int
	Edges     int64
	SelfLoops int64 // dropped
	Repeated  int64 // duplicate edges, dropped
	Dangling  int64 // numbers without a name, if there is a file of names
}

type build struct {
	path    string
	opt     BuildOptions
	scratch string
	edges   *fileio.Sorter[uint64]
	stats   Stats
	belong  belonging
}

func newBuild(path string, opt BuildOptions) (build, error) {
	if opt.Memory <= 0 {
		opt.Memory = defaultBuildMemory
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), filepath.Base(path)+".scratch-")
	if err != nil {
		return build{}, fmt.Errorf("graph %s: %w", path, err)
	}
	b := build{path: path, opt: opt, scratch: dir, edges: newSorter(dir, opt.Memory/2)}
	b.belong = belonging{site: opt.Site, sites: map[string]uint32{}}
	return b, nil
}

func (b *build) finish(ctx context.Context, nodes int, number func(uint32) uint32, names iter.Seq2[[]byte, error]) (Stats, error) {
	w, err := createFile(b.path, nodes)
	if err != nil {
		return b.stats, err
	}
	err = b.encode(ctx, w, number)
	w.hosts, w.sites = b.belong.hostRuns, b.belong.siteRuns
	w.h.hosts, w.h.sites = uint64(b.belong.hosts), uint64(b.belong.siteCount)
	b.stats.Nodes, b.stats.Repeated = nodes, b.edges.Repeated()
	if err != nil {
		return b.stats, errors.Join(err, w.Close())
	}
	if err := w.Finish(names); err != nil {
		return b.stats, err
	}
	b.stats.Edges = int64(w.h.edges)
	return b.stats, nil
}

func (b *build) encode(ctx context.Context, w *fileWriter, number func(uint32) uint32) error {
	var list []uint32
	next := uint32(0) // node whose list is being collected
	err := b.edges.Each(ctx, func(key uint64) error {
		src, dst := number(uint32(key>>32)), number(uint32(key))
		for ; next < src; next++ {
			if err := w.Add(list); err != nil {
				return err
			}
			list = list[:0]
		}
		list = append(list, dst)
		return nil
	})
	if err == nil && len(list) > 0 {
		err = w.Add(list)
	}
	return err
}

func (b *build) close() error {
	return errors.Join(b.edges.Close(), os.RemoveAll(b.scratch))
}

// Builder builds a graph from edges between names. Not safe for concurrent use.
type Builder struct {
	build
	dict    dictionary
	pairs   []*os.File // spilled edges of each run, as pairs of places
	pending []uint64   // edges of the run not yet spilled: source << 32 | target
	out     *os.File   // spill file of the run, or nil
	last    struct {   // latest source, as input is mostly sorted by source
		name  []byte
		place uint32
	}
}

// NewBuilder begins a graph at path. The caller must Close it.
func NewBuilder(path string, opt BuildOptions) (*Builder, error) {
	b, err := newBuild(path, opt)
	if err != nil {
		return nil, err
	}
	return &Builder{build: b, dict: newDictionary(b.scratch)}, nil
}

// Node adds a node, which may have no edges.
func (b *Builder) Node(name []byte) error {
	if _, err := b.place(name); err != nil {
		return err
	}
	return b.full()
}

func (b *Builder) Edge(src, dst []byte) error {
	from := b.last.place
	if b.last.name == nil || string(src) != string(b.last.name) {
		var err error
		if from, err = b.place(src); err != nil {
			return err
		}
		b.last.name, b.last.place = append(b.last.name[:0], src...), from
	}
	if string(src) == string(dst) {
		b.stats.SelfLoops++
		return nil
	}
	to, err := b.place(dst)
	if err != nil {
		return err
	}
	if err := b.pair(from, to); err != nil {
		return err
	}
	return b.full()
}

func (b *Builder) place(name []byte) (uint32, error) {
	if err := b.tooLong(name); err != nil {
		return 0, err
	}
	return b.dict.find(name), nil
}

func (b *Builder) tooLong(name []byte) error {
	if len(name) > maxNameBytes {
		return fmt.Errorf("graph %s: a name of %d bytes; at most %d can be kept", b.path, len(name), maxNameBytes)
	}
	return nil
}

// full ends the run when its names fill half of the memory.
func (b *Builder) full() error {
	if b.dict.bytes < b.opt.Memory/2 {
		return nil
	}
	return b.flush()
}

func (b *Builder) flush() error {
	if len(b.pending) > 0 {
		if err := b.spill(); err != nil {
			return err
		}
	}
	return b.endRun()
}

// endRun sorts the run's names; its edges stay in its file or pending.
func (b *Builder) endRun() error {
	if b.dict.names.len() == 0 {
		return nil
	}
	b.pairs = append(b.pairs, b.out) // nil: no edges, or all are pending
	b.out, b.last.name = nil, nil
	return b.dict.flush()
}

func (b *Builder) Finish(ctx context.Context) (Stats, error) {
	if err := b.endRun(); err != nil {
		return b.stats, err
	}
	nodes, err := b.dict.merge(ctx, func(v uint32, key []byte) error {
		b.belong.add(v, key)
		return nil
	})
	if err != nil {
		return b.stats, err
	}
	for run, f := range b.pairs {
		last := run == len(b.pairs)-1
		if f == nil && !last {
			continue
		}
		table, err := b.dict.table(run)
		if err != nil {
			return b.stats, err
		}
		if f != nil {
			err = b.translate(ctx, f, table)
		}
		if err == nil && last {
			err = b.translatePending(table)
		}
		if err != nil {
			return b.stats, err
		}
	}
	return b.finish(ctx, nodes, func(v uint32) uint32 { return v }, b.dict.keys())
}

// Close removes the scratch files, and the graph unless it was finished.
func (b *Builder) Close() error {
	err := b.dict.close()
	for _, f := range append(b.pairs, b.out) {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	b.pairs, b.out, b.pending = nil, nil, nil
	return errors.Join(err, b.close())
}

// pair adds an edge as a pair of places in the run's dictionary. Edges wait in this form, pending or
// spilled, until all names have numbers.

func (b *Builder) pair(from, to uint32) error {
	if len(b.pending) >= b.edges.Limit() {
		if err := b.spill(); err != nil {
			return err
		}
	}
	b.pending = append(b.pending, uint64(from)<<32|uint64(to))
	return nil
}

func (b *Builder) spill() (err error) {
	if b.out == nil {
		if b.out, err = os.CreateTemp(b.scratch, "pairs-"); err != nil {
			return fmt.Errorf("graph %s: %w", b.path, err)
		}
	}
	w := bufio.NewWriterSize(b.out, 1<<18)
	for _, p := range b.pending {
		if _, err := w.Write(binary.LittleEndian.AppendUint64(w.AvailableBuffer(), p)); err != nil {
			break // Flush returns the error again
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("graph %s: %w; free some space there", b.path, err)
	}
	b.pending = b.pending[:0]
	return nil
}

func (b *Builder) translatePending(table []uint32) error {
	pending := b.pending
	b.pending = nil
	for i, p := range pending {
		pending[i] = uint64(table[p>>32])<<32 | uint64(table[uint32(p)])
	}
	return b.edges.AddAll(pending)
}

func (b *Builder) translate(ctx context.Context, f *os.File, table []uint32) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("graph %s: %w", b.path, err)
	}
	r := bufio.NewReaderSize(f, 1<<18)
	var pair [8]byte
	for n := 0; ; n++ {
		if n%(1<<16) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		switch _, err := io.ReadFull(r, pair[:]); {
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("graph %s: %w", b.path, err)
		}
		p := binary.LittleEndian.Uint64(pair[:])
		if err := b.edges.Add(uint64(table[p>>32])<<32 | uint64(table[uint32(p)])); err != nil {
			return err
		}
	}
}

// newSorter sorts edges (source << 32 | target) on disk, and drops and counts duplicates.
func newSorter(dir string, memory int) *fileio.Sorter[uint64] {
	return fileio.NewSorter(fileio.SortOptions[uint64]{
		Dir: dir, Limit: max(1024, memory/16), Unique: true, Compare: cmp.Compare[uint64],
		Sort:   slices.Sort[[]uint64],
		Append: func(dst []byte, before, key uint64) []byte { return binary.AppendUvarint(dst, key-before) },
		Read: func(r *bufio.Reader, before uint64) (uint64, error) {
			gap, err := binary.ReadUvarint(r)
			return before + gap, err
		},
	})
}

// numbered builds a graph from edges between numbers. Without names, the nodes are the occurring numbers in
// order. Not safe for concurrent use.
type numbered struct {
	build
	dict  dictionary // of names, if any
	ids   [][]uint32 // per run, the number of each name
	nodes paged      // number → node, with names
	named uint32     // nodes with a name
	next  uint32     // node of the next number without a name
	seen  idSet      // numbers that occur, without names
}

func newNumbered(path string, opt BuildOptions) (*numbered, error) {
	b, err := newBuild(path, opt)
	if err != nil {
		return nil, err
	}
	n := &numbered{build: b, dict: newDictionary(b.scratch)}
	n.dict.apart = true
	return n, nil
}

// Names reads the node names before any edge. Nodes are in URL order, equal names in input order. Two names
// for one number are an error.
func (b *numbered) Names(ctx context.Context, names iter.Seq2[numberedName, error]) error {
	var ids []uint32
	flush := func() error {
		if len(ids) == 0 {
			return nil
		}
		b.ids, ids = append(b.ids, ids), nil
		return b.dict.flush()
	}
	for n, err := range names {
		if err != nil {
			return err
		}
		if len(n.Name) > maxNameBytes {
			return fmt.Errorf("graph %s: the name of %d has %d bytes; at most %d can be kept", b.path, n.ID, len(n.Name), maxNameBytes)
		}
		b.dict.add([]byte(n.Name))
		if ids = append(ids, n.ID); b.dict.bytes >= b.opt.Memory/2 {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	nodes, err := b.dict.merge(ctx, func(v uint32, key []byte) error {
		b.belong.add(v, key)
		return nil
	})
	if err != nil {
		return err
	}
	b.named, b.next = uint32(nodes), uint32(nodes)
	for run, ids := range b.ids {
		table, err := b.dict.table(run)
		if err != nil {
			return err
		}
		for i, id := range ids {
			if !b.nodes.set(id, table[i]) {
				return fmt.Errorf("graph %s: number %d has two names; each number may stand once in the file of names", b.path, id)
			}
		}
	}
	b.ids = nil
	return nil
}

type numberedName struct {
	ID   uint32
	Name string
}

func (b *numbered) edge(src, dst uint32) error {
	if b.dict.merged == nil {
		b.seen.add(src)
		b.seen.add(dst)
	} else {
		src, dst = b.node(src), b.node(dst)
	}
	if src == dst {
		b.stats.SelfLoops++
		return nil
	}
	return b.edges.Add(uint64(src)<<32 | uint64(dst))
}

// node returns the node of a number. Numbers without a name follow the named nodes in input order.
func (b *numbered) node(id uint32) uint32 {
	if v, ok := b.nodes.get(id); ok {
		return v
	}
	b.nodes.set(id, b.next)
	b.stats.Dangling++
	b.next++
	return b.next - 1
}

func (b *numbered) Finish(ctx context.Context) (Stats, error) {
	if b.dict.merged != nil {
		nodes := int(b.next)
		if uint64(b.next) > uint64(b.named) {
			b.belong.hostRuns = appendRun(b.belong.hostRuns, b.named, None)
			b.belong.siteRuns = appendRun(b.belong.siteRuns, b.named, None)
		}
		return b.finish(ctx, nodes, func(v uint32) uint32 { return v }, b.keys())
	}
	n := b.seen.count()
	rank := b.seen.ranks()
	if uint64(n) == uint64(b.seen.end()) { // 0 … n−1: each number is its node
		return b.finish(ctx, n, func(v uint32) uint32 { return v }, nil)
	}
	return b.finish(ctx, n, rank, b.seen.keys())
}

// keys yields the keys of the named nodes, then placeholders for the others, which Graph.Node cannot find.
func (b *numbered) keys() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for key, err := range b.dict.keys() {
			if !yield(key, err) || err != nil {
				return
			}
		}
		others := make([]uint32, b.next-b.named)
		b.nodes.each(func(id, v uint32) {
			if v >= b.named {
				others[v-b.named] = id
			}
		})
		for _, id := range others {
			if !yield(strconv.AppendUint([]byte{keyUnnamed}, uint64(id), 10), nil) {
				return
			}
		}
	}
}

func (b *numbered) Close() error { return errors.Join(b.dict.close(), b.close()) }

// paged maps numbers to nodes; it allocates only the ranges that occur.
type paged struct{ pages map[uint32]*[pageLen]uint32 }

const pageLen = 1 << 12

func (p *paged) set(id, v uint32) bool {
	if p.pages == nil {
		p.pages = map[uint32]*[pageLen]uint32{}
	}
	page := p.pages[id/pageLen]
	if page == nil {
		page = new([pageLen]uint32)
		p.pages[id/pageLen] = page
	}
	free := page[id%pageLen] == 0
	page[id%pageLen] = v + 1 // 0 means unset
	return free
}

func (p *paged) get(id uint32) (uint32, bool) {
	page := p.pages[id/pageLen]
	if page == nil || page[id%pageLen] == 0 {
		return 0, false
	}
	return page[id%pageLen] - 1, true
}

func (p *paged) each(do func(id, v uint32)) {
	for at, page := range p.pages {
		for i, v := range page {
			if v > 0 {
				do(at*pageLen+uint32(i), v-1)
			}
		}
	}
}

// idSet is a bit set of numbers; it allocates only the ranges that occur.
type idSet struct {
	words [][]uint64 // ranges of idRange numbers; nil if empty
}

const idRange = 1 << 16

func (s *idSet) add(id uint32) {
	at := int(id / idRange)
	for at >= len(s.words) {
		s.words = append(s.words, nil)
	}
	if s.words[at] == nil {
		s.words[at] = make([]uint64, idRange/64)
	}
	s.words[at][id%idRange/64] |= 1 << (id % 64)
}

func (s *idSet) each(yield func(id uint32) bool) {
	for at, words := range s.words {
		for i, w := range words {
			for ; w != 0; w &= w - 1 {
				if !yield(uint32(at*idRange + i*64 + bits.TrailingZeros64(w))) {
					return
				}
			}
		}
	}
}

func (s *idSet) count() (n int) {
	for _, words := range s.words {
		for _, w := range words {
			n += bits.OnesCount64(w)
		}
	}
	return n
}

func (s *idSet) end() uint64 {
	for at := len(s.words) - 1; at >= 0; at-- {
		for i := len(s.words[at]) - 1; i >= 0; i-- {
			if w := s.words[at][i]; w != 0 {
				return uint64(at*idRange+i*64) + uint64(bits.Len64(w))
			}
		}
	}
	return 0
}

// ranks returns a function that counts the smaller members of the set.
func (s *idSet) ranks() func(uint32) uint32 {
	before := make([][]uint32, len(s.words)) // members before each word
	n := uint32(0)
	for at, words := range s.words {
		before[at] = make([]uint32, len(words))
		for i, w := range words {
			before[at][i] = n
			n += uint32(bits.OnesCount64(w))
		}
	}
	return func(id uint32) uint32 {
		at, i := id/idRange, id%idRange/64
		return before[at][i] + uint32(bits.OnesCount64(s.words[at][i]&(1<<(id%64)-1)))
	}
}

func (s *idSet) keys() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var name, key []byte
		s.each(func(id uint32) bool {
			name = strconv.AppendUint(name[:0], uint64(id), 10)
			key = appendKey(key[:0], name)
			return yield(key, nil)
		})
	}
}

// belonging numbers hosts and sites in key order.
type belonging struct {
	site               func(url string) string
	sites              map[string]uint32
	hosts, siteCount   uint32
	last               []byte // host of the previous key, with its port
	lastSite           uint32
	hostRuns, siteRuns []byte
}

func (b *belonging) add(v uint32, key []byte) {
	host, port, _, ok := splitKey(key)
	if !ok {
		b.hostRuns, b.siteRuns = appendRun(b.hostRuns, v, None), appendRun(b.siteRuns, v, None)
		return
	}
	full := key[:len(host)+1+len(port)]
	sameHost := b.hosts > 0 && string(full) == string(b.last)
	if !sameHost {
		b.hosts++
		b.last = append(b.last[:0], full...)
	}
	b.hostRuns = appendRun(b.hostRuns, v, b.hosts-1)
	if !sameHost || b.site != nil {
		b.lastSite = b.numberOf(b.siteName(host, key))
	}
	b.siteRuns = appendRun(b.siteRuns, v, b.lastSite)
}

func (b *belonging) siteName(host, key []byte) string {
	if b.site != nil {
		if url, ok := nameOfKey(key); ok {
			if site := b.site(url); site != "" {
				return site
			}
		}
	}
	return siteOfHost(hostName(host))
}

func (b *belonging) numberOf(site string) uint32 {
	n, ok := b.sites[site]
	if !ok {
		n = b.siteCount
		b.sites[site] = n
		b.siteCount++
	}
	return n
}
