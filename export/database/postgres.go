package database

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"

	"fossick/export/collection"
	"fossick/export/table"
)

// ErrSchema reports tables of another shape than an export writes.
var ErrSchema = errors.New("already exists with other columns; give another schema with ?search_path=NAME, or drop it")

// Postgres writes the tables pages and links of a schema: "fossick", or the one that the
// address names as its search_path. A page whose id is there is replaced, with its links.
// Each batch is a transaction.
type Postgres struct {
	conn    *pgx.Conn
	columns []table.Column
	first   bool // no page is there that could be replaced

	rows, links, nodes [][]any
	bytes              int
}

var postgresKinds = map[table.Kind]string{table.Text: "text", table.Integer: "bigint", table.Real: "double precision", table.Truth: "boolean"}

// NewPostgres connects to a server, and makes or checks the tables.
func NewPostgres(ctx context.Context, address string) (_ *Postgres, err error) {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	schema := config.RuntimeParams["search_path"]
	if schema == "" {
		schema = "fossick"
	}
	config.RuntimeParams["search_path"] = schema
	config.RuntimeParams["synchronous_commit"] = "off" // a run that is cut off is run again
	s := &Postgres{columns: table.Columns()}
	if s.conn, err = pgx.ConnectConfig(ctx, config); err != nil {
		return nil, fmt.Errorf("postgres: %w; want an address such as postgres://name:password@host/database", err)
	}
	if err := s.begin(ctx, schema); err != nil {
		return nil, errors.Join(fmt.Errorf("postgres: %w", err), s.Close())
	}
	return s, nil
}

func (s *Postgres) begin(ctx context.Context, schema string) error {
	statements := []string{
		"CREATE SCHEMA IF NOT EXISTS " + quote(schema),
		"CREATE TABLE IF NOT EXISTS pages (" + definition(s.columns, postgresKinds) + ")",
		"CREATE TABLE IF NOT EXISTS links (source text NOT NULL, target text NOT NULL)",
		"CREATE INDEX IF NOT EXISTS pages_url ON pages (url)",
		"CREATE TEMPORARY TABLE arriving (LIKE pages)",
		"CREATE TEMPORARY TABLE arriving_links (source text NOT NULL, target bigint NOT NULL)",
		"CREATE TEMPORARY TABLE arriving_nodes (node bigint NOT NULL, id text NOT NULL)",
	}
	for i, statement := range statements {
		if _, err := s.conn.Exec(ctx, statement); err != nil {
			return err
		}
		if i != 2 {
			continue
		}
		if err := s.check(ctx, schema); err != nil {
			return err
		}
	}
	var some bool
	if err := s.conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pages)").Scan(&some); err != nil {
		return err
	}
	s.first = !some
	return nil
}

// check says whether the tables have the columns that are written.
func (s *Postgres) check(ctx context.Context, schema string) error {
	want := map[string][]string{"links": {"source text", "target text"}}
	for _, c := range s.columns {
		want["pages"] = append(want["pages"], c.Name+" "+postgresKinds[c.Kind])
	}
	for _, name := range []string{"pages", "links"} {
		rows, err := s.conn.Query(ctx, "SELECT column_name || ' ' || data_type FROM information_schema.columns WHERE table_schema = $1 AND table_name = $2 ORDER BY ordinal_position", schema, name)
		if err != nil {
			return err
		}
		have, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}
		if strings.Join(have, ",") != strings.Join(want[name], ",") {
			return fmt.Errorf("table %s.%s %w", schema, name, ErrSchema)
		}
	}
	return nil
}

// batch is how much is written at once.
const (
	batchRows  = 2000
	batchBytes = 16 << 20
)

// Write implements export.Sink.
func (s *Postgres) Write(ctx context.Context, p *collection.Page) error {
	id := clean(p.ID)
	s.rows = append(s.rows, row(s.columns, p))
	s.nodes = append(s.nodes, []any{int64(p.Node), id})
	for _, to := range p.Links {
		s.links = append(s.links, []any{id, int64(to)})
	}
	s.bytes += len(p.Text) + 64*len(p.Links)
	if len(s.rows) < batchRows && s.bytes < batchBytes {
		return nil
	}
	return s.flush(ctx)
}

// flush writes a batch. Links go to a table of this session, as the pages that they lead to
// may be still to come.
func (s *Postgres) flush(ctx context.Context) error {
	tx, err := s.conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }() // nothing is left of it after a commit
	into := pgx.Identifier{"pages"}
	if !s.first {
		into = pgx.Identifier{"arriving"}
	}
	for _, t := range []struct {
		name    pgx.Identifier
		columns []string
		rows    [][]any
	}{
		{into, names(s.columns), s.rows},
		{pgx.Identifier{"arriving_links"}, []string{"source", "target"}, s.links},
		{pgx.Identifier{"arriving_nodes"}, []string{"node", "id"}, s.nodes},
	} {
		if _, err := tx.CopyFrom(ctx, t.name, t.columns, pgx.CopyFromRows(t.rows)); err != nil {
			return fmt.Errorf("postgres: %w", err)
		}
	}
	if !s.first {
		if err := s.replace(ctx, tx); err != nil {
			return fmt.Errorf("postgres: %w", err)
		}
	}
	s.rows, s.links, s.nodes, s.bytes = s.rows[:0], s.links[:0], s.nodes[:0], 0
	return tx.Commit(ctx)
}

// replace makes pages of those that have arrived.
func (s *Postgres) replace(ctx context.Context, tx pgx.Tx) error {
	set := list(names(s.columns), func(n string) string { return quote(n) + " = EXCLUDED." + quote(n) })
	if _, err := tx.Exec(ctx, "INSERT INTO pages SELECT * FROM arriving ON CONFLICT (id) DO UPDATE SET "+set); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, "TRUNCATE arriving")
	return err
}

// Finish implements export.Sink. The nodes of links become ids: nodes are numbers of one
// export, ids those of all.
func (s *Postgres) Finish(ctx context.Context) error {
	if err := s.flush(ctx); err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, s.conn, func(tx pgx.Tx) error {
		for _, statement := range []string{
			"DROP INDEX IF EXISTS links_source, links_target",
			"DELETE FROM links USING arriving_nodes WHERE source = id",
			"INSERT INTO links SELECT l.source, n.id FROM arriving_links l JOIN (SELECT DISTINCT ON (node) node, id FROM arriving_nodes ORDER BY node, id) n ON l.target = n.node",
			"CREATE INDEX links_source ON links (source)",
			"CREATE INDEX links_target ON links (target)",
		} {
			if _, err := tx.Exec(ctx, statement); err != nil {
				return fmt.Errorf("postgres: %w", err)
			}
		}
		return nil
	})
}

// Close implements export.Sink.
func (s *Postgres) Close() error { return s.conn.Close(context.Background()) }

// WithoutPassword is a server's address as people may read it.
func WithoutPassword(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "a server"
	}
	return u.Redacted()
}
