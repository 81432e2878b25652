package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/ncruces/go-sqlite3/driver"
	"github.com/ncruces/go-sqlite3/ext/fts5"

	"fossick/export/collection"
	"fossick/export/table"
)

// Files is where a database library writes files by itself.
type Files interface {
	// Path reserves a file of that name, and says where it is to be written.
	Path(name string) (string, error)
}

// SQLite writes one file: the table pages, the table links of nodes, and pages_text, which
// finds pages by the words of their titles and texts.
type SQLite struct {
	db      *sql.DB
	tx      *sql.Tx
	page    *sql.Stmt
	link    *sql.Stmt
	columns []table.Column
}

var sqliteKinds = map[table.Kind]string{table.Text: "TEXT", table.Integer: "INTEGER", table.Real: "REAL", table.Truth: "INTEGER"}

// NewSQLite begins a file of that name.
func NewSQLite(at Files, name string) (*SQLite, error) {
	path, err := at.Path(name)
	if err != nil {
		return nil, err
	}
	// The file has no name yet and is synced when it gets one, so a journal is of no use.
	address := "file:" + (&url.URL{Path: path}).EscapedPath() + "?_pragma=journal_mode(OFF)&_pragma=synchronous(OFF)&_pragma=locking_mode(EXCLUSIVE)"
	db, err := driver.Open(address, fts5.Register)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	s := &SQLite{db: db, columns: table.Columns()}
	if err := s.begin(); err != nil {
		return nil, errors.Join(fmt.Errorf("sqlite: %w", err), s.Close())
	}
	return s, nil
}

func (s *SQLite) begin() (err error) {
	if s.tx, err = s.db.Begin(); err != nil {
		return err
	}
	for _, statement := range []string{
		"CREATE TABLE pages (" + definition(s.columns, sqliteKinds) + ")",
		"CREATE TABLE links (source INTEGER NOT NULL, target INTEGER NOT NULL)",
		"CREATE VIRTUAL TABLE pages_text USING fts5(title, text, content='pages', tokenize='porter unicode61 remove_diacritics 2')",
	} {
		if _, err := s.tx.Exec(statement); err != nil {
			return err
		}
	}
	marks := strings.TrimSuffix(strings.Repeat("?,", len(s.columns)), ",")
	if s.page, err = s.tx.Prepare("INSERT INTO pages VALUES (" + marks + ")"); err != nil {
		return err
	}
	s.link, err = s.tx.Prepare("INSERT INTO links VALUES (?,?)")
	return err
}

// Write implements export.Sink.
func (s *SQLite) Write(ctx context.Context, p *collection.Page) error {
	if _, err := s.page.ExecContext(ctx, row(s.columns, p)...); err != nil {
		return fmt.Errorf("sqlite: %s: %w", p.URL, err)
	}
	for _, to := range p.Links {
		if _, err := s.link.ExecContext(ctx, p.Node, to); err != nil {
			return fmt.Errorf("sqlite: %s: %w", p.URL, err)
		}
	}
	return nil
}

// Finish implements export.Sink.
func (s *SQLite) Finish(ctx context.Context) error {
	for _, statement := range []string{
		"INSERT INTO pages_text (pages_text) VALUES ('rebuild')",
		"CREATE INDEX pages_url ON pages (url)",
		"CREATE INDEX pages_node ON pages (node)",
		"CREATE INDEX links_source ON links (source)",
		"CREATE INDEX links_target ON links (target)",
	} {
		if _, err := s.tx.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("sqlite: %w", err)
		}
	}
	return s.tx.Commit()
}

// Close implements export.Sink.
func (s *SQLite) Close() error {
	if s.tx != nil {
		_ = s.tx.Rollback() // nothing is left of it after a commit
	}
	return s.db.Close()
}
