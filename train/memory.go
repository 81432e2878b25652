package train

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"fossick/models/features"
)

// rareSet is the number of pages below which words of a single page count.
const rareSet = 100

// leastPages returns on how many pages of a set a term must occur to count.
func leastPages(pages int) int32 {
	if pages < rareSet {
		return 1
	}
	return 2
}

// load fills in the corpus's terms and rows, as far as memory allows.
func (g *gatherer) load(ctx context.Context) error {
	number, err := g.number(ctx)
	if err != nil {
		return err
	}
	if !g.plain {
		if err := g.candidates(ctx, number); err != nil {
			return err
		}
		common, err := g.common(ctx, number)
		if err != nil {
			return err
		}
		g.c.common = common
	}
	if g.lossy.size(number) > g.opt.cells(runtime.GOMAXPROCS(0)) {
		if number, err = g.reduce(ctx, number); err != nil {
			return err
		}
	}
	terms, c := g.names(number), g.c
	g.x, g.lossy.lex = nil, nil // free memory
	c.rows = make([]features.Vector, 0, len(c.y))
	if err := g.each(ctx, number, func(_ int, v features.Vector) error {
		c.rows = append(c.rows, features.Vector{Index: slices.Clone(v.Index), Value: slices.Clone(v.Value)})
		return nil
	}); err != nil {
		return err
	}
	c.terms = terms
	return nil
}

// each calls f with every row in the new numbers. It leaves out terms numbered −1, and entries from
// before a dropped term's number was reused.
func (g *gatherer) each(ctx context.Context, number []int32, f func(page int, v features.Vector) error) error {
	return g.rows.each(ctx, func(page int, v features.Vector) error {
		n := 0
		for k, i := range v.Index {
			if number[i] >= 0 && int32(page) >= g.lossy.born[i] {
				v.Index[n], v.Value[n] = number[i], v.Value[k]
				n++
			}
		}
		return f(page, features.Vector{Index: v.Index[:n], Value: v.Value[:n]})
	})
}

// size returns how many row entries the numbered terms have.
func (t *lossy) size(number []int32) (cells int64) {
	for i, n := range number {
		if n >= 0 {
			cells += int64(t.df[i])
		}
	}
	return cells
}

func (g *gatherer) names(number []int32) []string {
	var terms []string
	for i, n := range number {
		if n >= 0 {
			terms = append(terms, g.lossy.lex.Terms()[i])
		}
	}
	return terms
}

// number numbers the usable terms of the lexicon and gives the others −1: terms of one page, which are
// most and cannot be told from chance, and with MinSites terms of too few sites.
func (g *gatherer) number(ctx context.Context) ([]int32, error) {
	pages, df := g.rows.pages, g.lossy.df
	least := leastPages(pages)
	pass := func(i int) bool { return df[i] >= least }
	if g.opt.MinSites > 1 {
		sites, err := g.siteFrequency(ctx, pages/g.opt.Folds)
		if err != nil {
			return nil, err
		}
		pass = func(i int) bool { return df[i] >= least && int(sites[i]) >= g.opt.MinSites }
	}
	number, n := numbered(len(df), pass)
	if room := g.opt.countedTerms(len(g.c.classes)); n > room {
		least = g.frequent(number, room)
		g.opt.log().Warn("too many terms to count by class: those on the fewest pages are left out; raise --memory to keep them",
			"terms", n, "room", room, "pages_at_least", least)
		number, _ = numbered(len(df), func(i int) bool { return number[i] >= 0 && df[i] >= least })
	}
	return number, nil
}

// frequent returns the least page count that at most room of the numbered terms reach.
func (g *gatherer) frequent(number []int32, room int) int32 {
	var df []int32
	for i, n := range number {
		if n >= 0 {
			df = append(df, g.lossy.df[i])
		}
	}
	slices.Sort(df)
	return df[len(df)-1-room] + 1
}

// numbered numbers those of n things that pass, in order; the others get −1.
func numbered(n int, pass func(i int) bool) (number []int32, passed int) {
	number = make([]int32, n)
	for i := range number {
		number[i] = -1
		if pass(i) {
			number[i] = int32(passed)
			passed++
		}
	}
	return number, passed
}

// siteFrequency counts the sites of each term, up to MinSites; see units for what a site is.
func (g *gatherer) siteFrequency(ctx context.Context, most int) ([]int32, error) {
	terms, least := g.lossy.lex.Len(), g.opt.MinSites
	unit := make([]int32, g.rows.pages)
	for u, pages := range g.c.units(most) {
		for _, p := range pages {
			unit[p] = int32(u)
		}
	}
	sites := make([]int32, terms)
	seen := make([]int32, terms*least) // the units of each term, sites[term] of them
	all, _ := numbered(terms, func(int) bool { return true })
	err := g.each(ctx, all, func(page int, v features.Vector) error {
		for _, i := range v.Index {
			n := int(sites[i])
			if known := seen[int(i)*least:][:n]; n < least && !slices.Contains(known, unit[page]) {
				seen[int(i)*least+n] = unit[page]
				sites[i]++
			}
		}
		return nil
	})
	return sites, err
}

// count returns the document frequencies over the pages outside fold out, or over all if fold is nil.
func (g *gatherer) count(ctx context.Context, number []int32, fold []int, out int) (*features.Counts, error) {
	counts := features.NewCounts(len(g.c.classes))
	err := g.each(ctx, number, func(page int, v features.Vector) error {
		if fold == nil || fold[page] != out {
			counts.Add(g.c.y[page], v, g.c.lengths[page].most)
		}
		return nil
	})
	return counts, err
}

func (g *gatherer) candidates(ctx context.Context, number []int32) error {
	counts, err := g.count(ctx, number, nil, 0)
	if err != nil {
		return err
	}
	g.c.terms = g.names(number)
	g.c.candidates(counts, g.opt.Select)
	return nil
}

// reduce keeps only the terms that a learner could choose, from all pages or without a fold, as far as
// there is room. Choosing among these equals choosing among all.
func (g *gatherer) reduce(ctx context.Context, number []int32) ([]int32, error) {
	rankings, err := g.rankings(ctx, number)
	if err != nil {
		return nil, err
	}
	most, terms := g.opt.Words, len(g.names(number))
	cut := false // fewer words than were asked for
	if most == 0 {
		most = terms
	}
	for {
		union := make([]bool, terms)
		for _, r := range rankings {
			for _, t := range r[:min(most, len(r))] {
				union[t] = true
			}
		}
		kept, _ := numbered(len(number), func(i int) bool { return number[i] >= 0 && union[number[i]] })
		if g.lossy.size(kept) <= g.opt.cells(1) || most == 1 {
			if g.opt.Words == 0 && most == terms {
				most = 0 // nothing was left out: only parallel folds have no room
			}
			r := newRoom(most, g.opt)
			if cut {
				r.wanted()
			}
			g.c.room = r
			return kept, nil
		}
		if most = max(1, most*9/10); g.opt.Words > 0 || g.opt.Mu > 0 {
			cut = true
		}
	}
}

// rankings returns the terms that gain Options.Mu, best first: over all pages, and without each fold.
func (g *gatherer) rankings(ctx context.Context, number []int32) ([][]int32, error) {
	var all [][]int32
	fold, n := g.c.folds(g.opt)
	for out := -1; out < n; out++ {
		counts, err := g.count(ctx, number, fold, out) // no page is in fold −1
		if err != nil {
			return nil, err
		}
		for _, by := range g.opt.measures(g.plain) {
			all = append(all, features.Select(counts.RankBy(by), g.opt.Mu, 0))
		}
	}
	return all, nil
}

// room limits the words of a set that does not fit into memory.
type room struct {
	most  int         // words; 0 is all
	short atomic.Bool // more were wanted
	warn  func()
}

func newRoom(most int, opt *Options) *room {
	return &room{most: most, warn: sync.OnceFunc(func() {
		opt.log().Warn("not all words fit into memory: those with the highest gain are kept; raise --memory for more", "words", most)
	})}
}

// wanted records that a learner would have taken more words.
func (r *room) wanted() {
	r.short.Store(true)
	r.warn()
}

// folds returns how many folds may be trained at once.
func (r *room) folds() int {
	if r != nil {
		return 1
	}
	return runtime.GOMAXPROCS(0)
}

// lossy counts the pages of each term of a growing lexicon, and keeps the lexicon below a limit by
// dropping the rarest terms. It is lossy counting (Manku & Motwani 2002) with the space given instead of
// the error. It guarantees
//
//	true pages − bound ≤ df ≤ true pages, and a missing term is on at most bound pages
type lossy struct {
	lex   *features.Lexicon
	limit int     // terms
	df    []int32 // by term: pages counted
	lost  []int32 // by term: most earlier pages that it may have been on
	born  []int32 // by term: first page counted; earlier rows mean another term
	bound int32
}

// add counts a page and reports whether terms were dropped.
func (t *lossy) add(page int, v features.Vector) (dropped bool) {
	if n := t.lex.Len() - len(t.df); n > 0 {
		t.df = append(t.df, make([]int32, n)...)
		t.lost = append(t.lost, make([]int32, n)...)
		t.born = append(t.born, make([]int32, n)...)
	}
	for _, i := range v.Index {
		if t.df[i] == 0 {
			t.lost[i], t.born[i] = t.bound, int32(page)
		}
		t.df[i]++
	}
	if t.lex.Live() <= t.limit {
		return false
	}
	t.prune()
	return true
}

// prune drops at least half of the terms, none of which may be on more pages than the new bound.
func (t *lossy) prune() {
	most := make([]int32, 0, t.lex.Live()) // most pages that each term may be on
	for i, term := range t.lex.Terms() {
		if term != "" {
			most = append(most, t.df[i]+t.lost[i])
		}
	}
	slices.Sort(most)
	t.bound = max(t.bound, most[(len(most)-1)/2])
	t.lex.Drop(func(i int32) bool {
		if t.df[i] > 0 && t.df[i]+t.lost[i] > t.bound {
			return true
		}
		t.df[i], t.lost[i] = 0, 0
		return false
	})
}

// rowLog stores the rows of a training set as bytes, in memory up to a limit, then in a file. A row is
//
//	uvarint bytes that follow, then by term: uvarint distance to the previous term, count
//
// where a count is a uvarint of twice the number, or 1 and a 4-byte float if it is not whole.
type rowLog struct {
	limit int // bytes in memory
	pages int

	row   []byte   // scratch
	tail  []byte   // bytes not yet in the file
	file  *os.File // nil until the limit is met
	named bool     // the open file could not be removed; close does it
	bytes int64    // in the file
}

// flushBytes is how much is written to the file at once.
const flushBytes = 1 << 20

// add appends a row with rising terms and positive counts.
func (l *rowLog) add(v features.Vector) error {
	l.row = appendRow(l.row[:0], v)
	l.tail = append(binary.AppendUvarint(l.tail, uint64(len(l.row))), l.row...)
	l.pages++
	if l.file == nil && len(l.tail) > l.limit {
		if err := l.open(); err != nil {
			return err
		}
	}
	if l.file != nil && len(l.tail) > flushBytes {
		return l.flush()
	}
	return nil
}

func appendRow(b []byte, v features.Vector) []byte {
	before := int32(0)
	for k, i := range v.Index {
		b = binary.AppendUvarint(b, uint64(i-before))
		before = i
		if n := uint32(v.Value[k]); float32(n) == v.Value[k] {
			b = binary.AppendUvarint(b, uint64(n)<<1)
			continue
		}
		b = append(b, 1)
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v.Value[k]))
	}
	return b
}

func (l *rowLog) open() error {
	f, err := os.CreateTemp("", "fossick-rows-*")
	if err != nil {
		return fmt.Errorf("a file for the rows of the training set: %w; name a folder with free space in TMPDIR, or raise --memory", err)
	}
	l.file = f
	l.named = os.Remove(f.Name()) != nil // some systems keep the name of an open file
	return l.flush()
}

func (l *rowLog) flush() error {
	n, err := l.file.Write(l.tail)
	l.bytes += int64(n)
	if err != nil {
		return fmt.Errorf("rows of the training set, after %d bytes: %w; name a folder with free space in TMPDIR, or raise --memory", l.bytes, err)
	}
	l.tail = l.tail[:0]
	return nil
}

// close frees memory and file. The log must not be used afterwards.
func (l *rowLog) close() error {
	l.tail = nil
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	if l.named {
		err = errors.Join(err, os.Remove(l.file.Name()))
	}
	if err != nil {
		return fmt.Errorf("closing the file of the training set's rows: %w", err)
	}
	return nil
}

// each calls f with every row in the order added. A row is valid until f returns.
func (l *rowLog) each(ctx context.Context, f func(page int, v features.Vector) error) error {
	r, err := l.reader()
	if err != nil {
		return err
	}
	var v features.Vector
	for page := range l.pages {
		if page%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err = l.next(r); err == nil {
			v, err = readRow(v, l.row)
		}
		if err != nil {
			return fmt.Errorf("page %d of %d in the file of the training set's rows: %w", page+1, l.pages, err)
		}
		if err := f(page, v); err != nil {
			return err
		}
	}
	return nil
}

func (l *rowLog) next(r *bufio.Reader) error {
	n, err := binary.ReadUvarint(r)
	if err != nil || n > uint64(l.bytes)+uint64(len(l.tail)) {
		return fmt.Errorf("%w: %w", errRow, errors.Join(io.ErrUnexpectedEOF, err))
	}
	l.row = slices.Grow(l.row[:0], int(n))[:n]
	if _, err := io.ReadFull(r, l.row); err != nil {
		return fmt.Errorf("%w: %w", errRow, err)
	}
	return nil
}

func (l *rowLog) reader() (*bufio.Reader, error) {
	if l.file == nil {
		return bufio.NewReader(bytes.NewReader(l.tail)), nil
	}
	if err := l.flush(); err != nil {
		return nil, err
	}
	// A section reader does not move the offset at which the next row is written.
	return bufio.NewReaderSize(io.NewSectionReader(l.file, 0, l.bytes), 256<<10), nil
}

var errRow = errors.New("damaged row")

// readRow reads one row into dst's slices; bytes that appendRow cannot have written are an error.
func readRow(dst features.Vector, b []byte) (features.Vector, error) {
	dst.Index, dst.Value = dst.Index[:0], dst.Value[:0]
	term := uint64(0)
	for at := 0; at < len(b); {
		step, n := binary.Uvarint(b[at:])
		if n <= 0 {
			return dst, fmt.Errorf("%w: a term is cut short", errRow)
		}
		at += n
		if term += step; step > math.MaxInt32 || term > math.MaxInt32 || len(dst.Index) > 0 && step == 0 {
			return dst, fmt.Errorf("%w: terms do not rise", errRow)
		}
		count, n := binary.Uvarint(b[at:])
		value := float32(count >> 1)
		if n > 0 && count&1 == 1 {
			if at += n; len(b) < at+4 {
				n = 0
			} else {
				value, n = math.Float32frombits(binary.LittleEndian.Uint32(b[at:])), 4
			}
		}
		if n <= 0 {
			return dst, fmt.Errorf("%w: a count is cut short", errRow)
		}
		at += n
		dst.Index, dst.Value = append(dst.Index, int32(term)), append(dst.Value, value)
	}
	return dst, nil
}
