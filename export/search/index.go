package search

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"
	"github.com/ncruces/go-sqlite3/ext/fts5"

	"fossick/store"
)

// version is that of the database's layout and of how text is cut into words.
const version = 1

// schema is what a new index has. The columns of words are as in columns, in their order.
// The table keeps no text (content=”): it would double the index, and the store has it.
// Words come cut and stemmed, so the plainest tokenizer does.
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

// errStale reports an index of another version.
var errStale = errors.New("another version")

// Index is the search index of a store, as it was when it was opened. Several processes may
// have it; one at a time writes. Safe for concurrent use.
type Index struct {
	dir   string // of the index
	db    *sql.DB
	langs []string // of its pages, the most frequent first
}

func folderOf(dir string) string { return filepath.Join(dir, store.Derived) }

// damaged says whether an error means that the index is to be made anew.
func damaged(err error) bool {
	for _, code := range []error{errStale, sqlite3.CORRUPT, sqlite3.NOTADB, sqlite3.SCHEMA, sqlite3.ERROR} {
		if errors.Is(err, code) {
			return true
		}
	}
	return false
}

// Remove throws the index of a store away; the next search makes it anew.
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
	// A kill costs nothing in this mode. After a power cut the index may be damaged, and
	// is made anew: that is cheaper than waiting for the disk.
	name.RawQuery = "_txlock=immediate&_pragma=busy_timeout(60000)&_pragma=journal_mode(WAL)&_pragma=synchronous(OFF)&_pragma=secure_delete(ON)&_pragma=cache_size(-32768)"
	db, err := driver.Open(name.String(), fts5.Register)
	if err != nil {
		return nil, fmt.Errorf("search index %s: %w", dir, err)
	}
	db.SetMaxOpenConns(1) // its cache is the memory that the index takes
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
	defer func() { _ = tx.Rollback() }() // of no effect after Commit
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

// Close ends the use of the index.
func (x *Index) Close() error {
	return x.wrap(x.db.Close())
}

// wrap says of an error where it is from.
func (x *Index) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("search index %s: %w", x.dir, err)
}
