package search

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"math"
	"runtime"
	"strings"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/sync/errgroup"

	"fossick/internal/page"
	"fossick/store"
)

// Text makes of a page's body what it says, as text and as Markdown. Called by many
// goroutines.
type Text func(body []byte, p *store.Page) (text, markdown string)

// Options say how an index is brought up to date.
type Options struct {
	Text Text
	Done func(pages int) // told of pages as they are entered; nil when nobody asks
}

// Report is what bringing an index up to date took.
type Report struct {
	Entered int // pages that are new, or changed
	Relabel int // pages that changed in label or score alone
	Removed int // pages that are there no more
	Rebuilt bool
}

// Fresh opens the index of a store and brings it up to date. One that is damaged, or of
// another version, is made anew.
func Fresh(ctx context.Context, s *store.Store, opt Options) (x *Index, r Report, err error) {
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
		err = errors.Join(cut, err) // what the driver says of it depends on which statement was cut off
	}
	return nil, r, err
}

// commitEvery is how many pages are entered at once: what a kill costs.
const commitEvery = 1000

type entered struct{ mark, said int64 }

type change struct {
	number uint64
	entered
	label string
	score float64

	page  *store.Page // nil where label and score alone changed
	words [4]string   // as columns of words
}

func (x *Index) update(ctx context.Context, s *store.Store, opt Options) (r Report, err error) {
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
		defer close(ready) // when its senders have ended
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
		c.mark, c.said = markOf(p), saidOf(c)
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

func saidOf(c *change) int64 {
	return int64(xxhash.Sum64String(fmt.Sprint(c.label, "\x00", math.Float64bits(c.score))))
}

// read cuts pages into words until there are no more.
func read(ctx context.Context, s *store.Store, text Text, todo <-chan *change, ready chan<- *change) error {
	cut := newCutter()
	for c := range todo {
		if p := c.page; p != nil {
			body, err := s.Body(p.Number)
			if err != nil && !errors.Is(err, store.ErrDamaged) && !errors.Is(err, store.ErrUnknown) {
				return err
			}
			says, markdown := text(body, p) // a lost body has no words; its title may still be found
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
	stmts  map[string]*sql.Stmt // of tx
	n      int                  // in tx
	report Report
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
		return ctx.Err() // not all was ready; what was entered stays out, or in
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

// languages are those of the pages, the most frequent first.
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
