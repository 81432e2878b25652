package search

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"
	"github.com/ncruces/go-sqlite3/ext/fts5"
	"golang.org/x/sync/errgroup"

	"fossick/internal/page"
	"fossick/store"
)

// version changes with the database layout and with the tokenisation.
const version = 1

// schema creates an index. The table words is contentless, since the store has the text. Words arrive
// tokenised and stemmed, so the plainest tokenizer is enough.
const schema = `
CREATE TABLE pages (
	number INTEGER PRIMARY KEY, mark INTEGER NOT NULL, said INTEGER NOT NULL,
	url TEXT NOT NULL, host TEXT NOT NULL, name TEXT NOT NULL, site TEXT NOT NULL, lang TEXT NOT NULL,
	title TEXT NOT NULL, label TEXT NOT NULL, score REAL NOT NULL
) STRICT;
CREATE VIRTUAL TABLE words USING fts5(title, headings, body, url, content='', contentless_delete=1, tokenize='ascii');
INSERT INTO words(words, rank) VALUES ('rank', 'bm25(10.0, 3.0, 1.0, 2.0)');
PRAGMA user_version = 1;
`

var errStale = errors.New("another version")

// Index is a store's search index as of its opening, safe for concurrent use. One process at a time writes.
type Index struct {
	dir   string // of the index
	db    *sql.DB
	langs []string // languages of its pages, the most frequent first
}

func folderOf(dir string) string { return filepath.Join(dir, store.Derived) }

// damaged reports whether the index must be rebuilt after this error.
func damaged(err error) bool {
	for _, code := range []error{errStale, sqlite3.CORRUPT, sqlite3.NOTADB, sqlite3.SCHEMA, sqlite3.ERROR} {
		if errors.Is(err, code) {
			return true
		}
	}
	return false
}

// Remove deletes a store's index; the next search rebuilds it.
func Remove(dir string) error {
	if err := os.RemoveAll(folderOf(dir)); err != nil {
		return fmt.Errorf("search index: %w", err)
	}
	return nil
}

func open(ctx context.Context, dir string) (_ *Index, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("search index: %w; search must be able to write in the store's folder", err)
	}
	name := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.Join(dir, "words.sqlite")}).EscapedPath()}
	// A killed process damages nothing in this mode; rebuilding after a power cut is cheaper than syncing.
	name.RawQuery = "_txlock=immediate&_pragma=busy_timeout(60000)&_pragma=journal_mode(WAL)&_pragma=synchronous(OFF)&_pragma=secure_delete(ON)&_pragma=cache_size(-32768)"
	db, err := driver.Open(name.String(), fts5.Register)
	if err != nil {
		return nil, fmt.Errorf("search index %s: %w", dir, err)
	}
	db.SetMaxOpenConns(1) // each connection has a cache of 32 MiB
	x := &Index{dir: dir, db: db}
	if err := x.check(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("search index %s: %w", dir, err), db.Close())
	}
	return x, nil
}

func (x *Index) check(ctx context.Context) error {
	tx, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no effect after Commit
	var has, tables int
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&has); err != nil {
		return err
	}
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return err
	}
	switch {
	case has == version:
		return nil
	case tables > 0:
		return fmt.Errorf("%w (%d, this build has %d)", errStale, has, version)
	}
	if _, err := tx.ExecContext(ctx, schema); err != nil {
		return err
	}
	return tx.Commit()
}

// Close closes the index.
func (x *Index) Close() error {
	return x.wrap(x.db.Close())
}

func (x *Index) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("search index %s: %w", x.dir, err)
}

// extractor extracts a page's text, plain and as Markdown. Safe for concurrent use.
type extractor func(body []byte, p *store.Page) (text, markdown string)

// Options configure Fresh.
type Options struct {
	Text extractor
	Done func(pages int) // called as pages are indexed; may be nil
}

// indexReport counts the changes of an update.
type indexReport struct {
	Entered int // new or changed pages
	Relabel int // pages with a new label or score only
	Removed int // pages that are gone
	Rebuilt bool
}

// Fresh opens a store's index and updates it; a damaged or outdated one is rebuilt.
func Fresh(ctx context.Context, s *store.Store, opt Options) (x *Index, r indexReport, err error) {
	for range 2 {
		if x, err = open(ctx, folderOf(s.Dir())); err == nil {
			rebuilt := r.Rebuilt
			if r, err = x.update(ctx, s, opt); err == nil {
				r.Rebuilt = rebuilt
				return x, r, nil
			}
			err = errors.Join(err, x.Close())
		}
		if !damaged(err) || ctx.Err() != nil {
			break
		}
		r.Rebuilt = true
		if err := Remove(s.Dir()); err != nil {
			return nil, r, err
		}
	}
	if cut := ctx.Err(); cut != nil && !errors.Is(err, cut) {
		err = errors.Join(cut, err) // the driver's error depends on the interrupted statement
	}
	return nil, r, err
}

// commitEvery is the number of pages per transaction; a kill loses at most one transaction.
const commitEvery = 1000

type entered struct{ mark, said int64 }

type change struct {
	number uint64
	entered
	label string
	score float64

	page  *store.Page // nil when only label or score changed
	words [4]string   // in the column order of the table words
}

func (x *Index) update(ctx context.Context, s *store.Store, opt Options) (r indexReport, err error) {
	known, err := x.known(ctx)
	if err != nil {
		return r, err
	}
	g, gctx := errgroup.WithContext(ctx)
	todo, ready := make(chan *change, 64), make(chan *change, 64)
	g.Go(func() error { // the only sender of todo; it owns known
		defer close(todo)
		return find(gctx, s, known, todo)
	})
	readers, rctx := errgroup.WithContext(gctx)
	for range runtime.GOMAXPROCS(0) {
		readers.Go(func() error { return read(rctx, s, opt.Text, todo, ready) })
	}
	g.Go(func() error {
		defer close(ready) // after all senders have ended
		return readers.Wait()
	})
	w := &writer{x: x}
	g.Go(func() error { return w.write(gctx, ready, opt.Done) })
	if err := errors.Join(g.Wait(), w.rollback()); err != nil {
		return r, err
	}
	r = w.report
	if r.Removed, err = x.remove(ctx, known); err != nil {
		return r, err
	}
	x.langs, err = x.languages(ctx)
	return r, err
}

func (x *Index) known(ctx context.Context) (map[uint64]entered, error) {
	rows, err := x.db.QueryContext(ctx, "SELECT number, mark, said FROM pages")
	if err != nil {
		return nil, x.wrap(err)
	}
	defer rows.Close()
	known := map[uint64]entered{}
	for rows.Next() {
		var n int64
		var e entered
		if err := rows.Scan(&n, &e.mark, &e.said); err != nil {
			return nil, x.wrap(err)
		}
		known[uint64(n)] = e
	}
	return known, x.wrap(rows.Err())
}

func find(ctx context.Context, s *store.Store, known map[uint64]entered, todo chan<- *change) error {
	refined, stop := iter.Pull2(s.Labels())
	defer stop()
	l, err, more := refined()
	topic := s.Info().Topic
	for p, perr := range s.Pages() {
		if err := errors.Join(perr, err); err != nil {
			return err
		}
		for ; more && l.Page < p.Number; l, err, more = refined() {
			if err != nil {
				return err
			}
		}
		if p.Withdrawn {
			continue
		}
		c := &change{number: p.Number, label: p.Label, score: p.Score, page: p}
		switch {
		case more && err == nil && l.Page == p.Number:
			c.label = l.Label.Label
		case c.label == "" && p.Relevant:
			c.label = topic
		}
		c.mark, c.said = markOf(p), int64(xxhash.Sum64String(fmt.Sprint(c.label, "\x00", math.Float64bits(c.score))))
		was, has := known[p.Number]
		delete(known, p.Number)
		if has && was.mark == c.mark {
			if was.said == c.said {
				continue
			}
			c.page = nil
		}
		select {
		case todo <- c:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}

func markOf(p *store.Page) int64 {
	return int64(xxhash.Sum64String(strings.Join([]string{string(p.Checksum), p.URL, p.Title, p.Lang}, "\x00")))
}

// read tokenises pages until todo is closed.
func read(ctx context.Context, s *store.Store, text extractor, todo <-chan *change, ready chan<- *change) error {
	cut := newCutter()
	for c := range todo {
		if p := c.page; p != nil {
			body, err := s.Body(p.Number)
			if err != nil && !errors.Is(err, store.ErrDamaged) && !errors.Is(err, store.ErrUnknown) {
				return err
			}
			says, markdown := text(body, p) // an unreadable body has no words; the title may still match
			c.words = [4]string{cut.stems(p.Title, p.Lang), cut.stems(headings(markdown), p.Lang), cut.stems(says, p.Lang), cut.urlWords(p.URL)}
		}
		select {
		case ready <- c:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func headings(markdown string) string {
	var b strings.Builder
	for line := range strings.Lines(markdown) {
		if strings.HasPrefix(line, "#") {
			b.WriteString(strings.TrimLeft(line, "# "))
		}
	}
	return b.String()
}

type writer struct {
	x      *Index
	tx     *sql.Tx
	stmts  map[string]*sql.Stmt // prepared in tx
	n      int                  // statements executed in tx
	report indexReport
}

func (w *writer) write(ctx context.Context, ready <-chan *change, done func(int)) error {
	for c := range ready {
		if err := w.x.wrap(w.enter(ctx, c)); err != nil {
			return err
		}
		if done != nil {
			done(1)
		}
	}
	if ctx.Err() != nil {
		return ctx.Err() // the update is incomplete; finished transactions stay
	}
	return w.x.wrap(w.commit())
}

func (w *writer) enter(ctx context.Context, c *change) error {
	if c.page == nil {
		w.report.Relabel++
		return w.exec(ctx, "UPDATE pages SET said = ?, label = ?, score = ? WHERE number = ?", c.said, c.label, c.score, int64(c.number))
	}
	w.report.Entered++
	p := c.page
	host := page.Host(p.URL)
	n := int64(c.number)
	err := w.exec(ctx, "DELETE FROM words WHERE rowid = ?", n)
	if err == nil {
		err = w.exec(ctx, "INSERT INTO words(rowid, title, headings, body, url) VALUES (?,?,?,?,?)", n, c.words[0], c.words[1], c.words[2], c.words[3])
	}
	if err == nil {
		err = w.exec(ctx, "INSERT OR REPLACE INTO pages VALUES (?,?,?,?,?,?,?,?,?,?,?)", n, c.mark, c.said,
			p.URL, host, host[:max(0, strings.LastIndexByte(host, ':'))], page.Site(p.URL), p.Lang, p.Title, c.label, c.score)
	}
	return err
}

func (w *writer) exec(ctx context.Context, query string, args ...any) (err error) {
	if w.n >= 3*commitEvery {
		if err := w.commit(); err != nil {
			return err
		}
	}
	if w.tx == nil {
		if w.tx, err = w.x.db.BeginTx(ctx, nil); err != nil {
			return err
		}
		w.stmts, w.n = map[string]*sql.Stmt{}, 0
	}
	stmt := w.stmts[query]
	if stmt == nil {
		if stmt, err = w.tx.PrepareContext(ctx, query); err != nil {
			return err
		}
		w.stmts[query] = stmt
	}
	w.n++
	_, err = stmt.ExecContext(ctx, args...)
	return err
}

func (w *writer) commit() error {
	if w.tx == nil {
		return nil
	}
	tx := w.tx
	w.tx = nil
	return tx.Commit()
}

func (w *writer) rollback() error {
	if w.tx == nil {
		return nil
	}
	if err := w.tx.Rollback(); !errors.Is(err, sql.ErrTxDone) {
		return err
	}
	return nil
}

func (x *Index) remove(ctx context.Context, gone map[uint64]entered) (int, error) {
	if len(gone) == 0 {
		return 0, nil
	}
	w := &writer{x: x}
	for n := range gone {
		if err := errors.Join(w.exec(ctx, "DELETE FROM words WHERE rowid = ?", int64(n)), w.exec(ctx, "DELETE FROM pages WHERE number = ?", int64(n))); err != nil {
			return 0, x.wrap(errors.Join(err, w.rollback()))
		}
	}
	if err := w.commit(); err != nil {
		return 0, x.wrap(err)
	}
	_, err := x.db.ExecContext(ctx, "INSERT INTO words(words) VALUES ('optimize')")
	return len(gone), x.wrap(err)
}

const mostLanguages = 8

// languages returns the languages of the pages, the most frequent first.
func (x *Index) languages(ctx context.Context) (langs []string, err error) {
	rows, err := x.db.QueryContext(ctx, "SELECT lang FROM pages GROUP BY lang ORDER BY count(*) DESC, lang LIMIT ?", mostLanguages)
	if err != nil {
		return nil, x.wrap(err)
	}
	defer rows.Close()
	for rows.Next() {
		var lang string
		if err := rows.Scan(&lang); err != nil {
			return nil, x.wrap(err)
		}
		langs = append(langs, lang)
	}
	return langs, x.wrap(rows.Err())
}
