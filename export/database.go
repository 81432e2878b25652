package export

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/jackc/pgx/v5"
	"github.com/ncruces/go-sqlite3/driver"
	"github.com/ncruces/go-sqlite3/ext/fts5"
)

func tableOf(types [4]string) string {
	var defs []string
	for _, c := range columns {
		def := `"` + c.name + `" ` + types[c.kind]
		if c.name == "id" {
			def += " PRIMARY KEY"
		}
		defs = append(defs, def)
	}
	return strings.Join(defs, ", ")
}

// cells returns the values of a page's row.
func cells(p *Page) []any {
	values := make([]any, len(columns))
	for i, c := range columns {
		values[i] = c.of(p)
		if text, ok := values[i].(string); ok {
			values[i] = clean(text)
		}
	}
	return values
}

// clean removes what databases reject in text: NUL and invalid UTF-8.
func clean(s string) string { return strings.ReplaceAll(valid(s), "\x00", "") }

// WithoutPassword returns a server's address for display.
func WithoutPassword(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "a server"
	}
	return u.Redacted()
}

// sqlite writes a file with tables pages and links (between nodes), and the full-text index pages_text.
type sqlite struct {
	db         *sql.DB
	tx         *sql.Tx
	page, link *sql.Stmt
}

func newSQLite(at target, name string) (Sink, error) {
	path, err := at.Path(name)
	if err != nil {
		return nil, err
	}
	// The file is unnamed until it is complete and synced, so it needs no journal.
	address := "file:" + (&url.URL{Path: path}).EscapedPath() + "?_pragma=journal_mode(OFF)&_pragma=synchronous(OFF)&_pragma=locking_mode(EXCLUSIVE)"
	db, err := driver.Open(address, fts5.Register)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	s := &sqlite{db: db}
	if err := s.begin(); err != nil {
		return nil, errors.Join(fmt.Errorf("sqlite: %w", err), s.Close())
	}
	return s, nil
}

func (s *sqlite) begin() (err error) {
	if s.tx, err = s.db.Begin(); err != nil {
		return err
	}
	for _, statement := range []string{
		"CREATE TABLE pages (" + tableOf([4]string{textual: "TEXT", integer: "INTEGER", real: "REAL", boolean: "INTEGER"}) + ")",
		"CREATE TABLE links (source INTEGER NOT NULL, target INTEGER NOT NULL)",
		"CREATE VIRTUAL TABLE pages_text USING fts5(title, text, content='pages', tokenize='porter unicode61 remove_diacritics 2')",
	} {
		if _, err := s.tx.Exec(statement); err != nil {
			return err
		}
	}
	if s.page, err = s.tx.Prepare("INSERT INTO pages VALUES (?" + strings.Repeat(",?", len(columns)-1) + ")"); err != nil {
		return err
	}
	s.link, err = s.tx.Prepare("INSERT INTO links VALUES (?,?)")
	return err
}

func (s *sqlite) Write(ctx context.Context, p *Page) error {
	if _, err := s.page.ExecContext(ctx, cells(p)...); err != nil {
		return fmt.Errorf("sqlite: %s: %w", p.URL, err)
	}
	for _, to := range p.Links {
		if _, err := s.link.ExecContext(ctx, p.Node, to); err != nil {
			return fmt.Errorf("sqlite: %s: %w", p.URL, err)
		}
	}
	return nil
}

func (s *sqlite) Finish(ctx context.Context) error {
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

func (s *sqlite) Close() error {
	if s.tx != nil {
		_ = s.tx.Rollback() // no effect after a commit
	}
	return s.db.Close()
}

var errSchema = errors.New("already exists with other columns; give another schema with ?search_path=NAME, or drop it")

// postgres writes the tables pages and links of a schema (the address's search_path, or "fossick"), replacing
// pages with known ids together with their links. Each batch is a transaction.
type postgres struct {
	conn  *pgx.Conn
	first bool // the table was empty, so nothing needs replacing

	rows, links, nodes [][]any
	bytes              int
}

var postgresTypes = [4]string{textual: "text", integer: "bigint", real: "double precision", boolean: "boolean"}

func newPostgres(ctx context.Context, address string) (Sink, error) {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	schema := config.RuntimeParams["search_path"]
	if schema == "" {
		schema = "fossick"
	}
	config.RuntimeParams["search_path"] = schema
	config.RuntimeParams["synchronous_commit"] = "off" // an interrupted export is repeated anyway
	s := &postgres{}
	if s.conn, err = pgx.ConnectConfig(ctx, config); err != nil {
		return nil, fmt.Errorf("postgres: %w; want an address such as postgres://name:password@host/database", err)
	}
	if err := s.begin(ctx, schema); err != nil {
		return nil, errors.Join(fmt.Errorf("postgres: %w", err), s.Close())
	}
	return s, nil
}

func (s *postgres) begin(ctx context.Context, schema string) error {
	if err := s.exec(ctx,
		"CREATE SCHEMA IF NOT EXISTS "+pgx.Identifier{schema}.Sanitize(),
		"CREATE TABLE IF NOT EXISTS pages ("+tableOf(postgresTypes)+")",
		"CREATE TABLE IF NOT EXISTS links (source text NOT NULL, target text NOT NULL)",
	); err != nil {
		return err
	}
	if err := s.check(ctx, schema); err != nil {
		return err
	}
	if err := s.exec(ctx,
		"CREATE INDEX IF NOT EXISTS pages_url ON pages (url)",
		"CREATE TEMPORARY TABLE arriving (LIKE pages)",
		"CREATE TEMPORARY TABLE arriving_links (source text NOT NULL, target bigint NOT NULL)",
		"CREATE TEMPORARY TABLE arriving_nodes (node bigint NOT NULL, id text NOT NULL)",
	); err != nil {
		return err
	}
	return s.conn.QueryRow(ctx, "SELECT NOT EXISTS (SELECT FROM pages)").Scan(&s.first)
}

func (s *postgres) exec(ctx context.Context, statements ...string) error {
	for _, statement := range statements {
		if _, err := s.conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

func (s *postgres) check(ctx context.Context, schema string) error {
	var pages []string
	for _, c := range columns {
		pages = append(pages, c.name+" "+postgresTypes[c.kind])
	}
	for name, want := range map[string]string{"pages": strings.Join(pages, ","), "links": "source text,target text"} {
		rows, err := s.conn.Query(ctx, "SELECT column_name || ' ' || data_type FROM information_schema.columns WHERE table_schema = $1 AND table_name = $2 ORDER BY ordinal_position", schema, name)
		if err != nil {
			return err
		}
		have, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}
		if strings.Join(have, ",") != want {
			return fmt.Errorf("table %s.%s %w", schema, name, errSchema)
		}
	}
	return nil
}

// Limits of a batch.
const (
	batchRows  = 2000
	batchBytes = 16 << 20
)

func (s *postgres) Write(ctx context.Context, p *Page) error {
	id := clean(p.ID)
	s.rows = append(s.rows, cells(p))
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

// flush writes a batch. Links go to a temporary table, since their target pages may come later.
func (s *postgres) flush(ctx context.Context) error {
	names, set := make([]string, len(columns)), make([]string, len(columns))
	for i, c := range columns {
		names[i], set[i] = c.name, fmt.Sprintf(`"%[1]s" = EXCLUDED."%[1]s"`, c.name)
	}
	into := "arriving"
	if s.first {
		into = "pages"
	}
	err := pgx.BeginFunc(ctx, s.conn, func(tx pgx.Tx) error {
		for _, t := range []struct {
			name    string
			columns []string
			rows    [][]any
		}{
			{into, names, s.rows}, {"arriving_links", []string{"source", "target"}, s.links}, {"arriving_nodes", []string{"node", "id"}, s.nodes},
		} {
			if _, err := tx.CopyFrom(ctx, pgx.Identifier{t.name}, t.columns, pgx.CopyFromRows(t.rows)); err != nil {
				return err
			}
		}
		if s.first {
			return nil
		}
		if _, err := tx.Exec(ctx, "INSERT INTO pages SELECT * FROM arriving ON CONFLICT (id) DO UPDATE SET "+strings.Join(set, ", ")); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "TRUNCATE arriving")
		return err
	})
	if err != nil {
		return fmt.Errorf("postgres: %w", err)
	}
	s.rows, s.links, s.nodes, s.bytes = s.rows[:0], s.links[:0], s.nodes[:0], 0
	return nil
}

// Finish replaces the nodes in links by ids: nodes are valid in one export only, ids in all.
func (s *postgres) Finish(ctx context.Context) error {
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

func (s *postgres) Close() error { return s.conn.Close(context.Background()) }

// appendBulk appends a page for OpenSearch's bulk API: an action line and a document line.
func appendBulk(to []byte, p *Page) ([]byte, error) {
	to = append(to, `{"index":{"_id":`...)
	to, err := jsontext.AppendQuote(to, clean(p.ID))
	if err != nil {
		return nil, err
	}
	before := "}}\n{"
	for i, v := range cells(p) {
		of, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		to = append(append(append(append(append(to, before...), '"'), columns[i].name...), `":`...), of...)
		before = ","
	}
	return append(to, "}\n"...), nil
}

// openSearch sends pages to an OpenSearch server, replacing those with known ids.
type openSearch struct {
	bulk   string // URL of the index's bulk API
	client *http.Client
	wait   func(ctx context.Context, d time.Duration) error
	lines  []byte
}

const (
	bulkBytes = 5 << 20 // per request
	bulkTries = 6       // attempts while the server is overloaded
	firstWait = time.Second
)

// newOpenSearch takes an index URL, such as http://host:9200/pages, with optional user and password. It follows
// no redirect: pages and passwords are for the named host only.
func newOpenSearch(address string) (*openSearch, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || strings.Trim(u.Path, "/") == "" || strings.Contains(strings.Trim(u.Path, "/"), "/") {
		return nil, fmt.Errorf("opensearch: %s: want the address of an index, as http://localhost:9200/pages", WithoutPassword(address))
	}
	u.Path = "/" + strings.Trim(u.Path, "/") + "/_bulk"
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &openSearch{bulk: u.String(), client: &http.Client{Timeout: 2 * time.Minute, CheckRedirect: stay}, wait: sleep}, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *openSearch) Write(ctx context.Context, p *Page) (err error) {
	if s.lines, err = appendBulk(s.lines, p); err != nil || len(s.lines) < bulkBytes {
		return err
	}
	return s.flush(ctx)
}

func (s *openSearch) Finish(ctx context.Context) error {
	if len(s.lines) == 0 {
		return nil
	}
	return s.flush(ctx)
}

func (s *openSearch) Close() error {
	s.client.CloseIdleConnections()
	return nil
}

var errBusy = errors.New("the server is overloaded")

func (s *openSearch) flush(ctx context.Context) error {
	for try := 1; ; try++ {
		err := s.send(ctx)
		if err == nil {
			s.lines = s.lines[:0]
			return nil
		}
		if !errors.Is(err, errBusy) || try == bulkTries {
			return fmt.Errorf("opensearch: %w", err)
		}
		if err := s.wait(ctx, firstWait<<(try-1)); err != nil {
			return err
		}
	}
}

func (s *openSearch) send(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.bulk, bytes.NewReader(s.lines))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-ndjson")
	response, err := s.client.Do(request)
	if err != nil {
		return errors.New(strings.ReplaceAll(err.Error(), s.bulk, WithoutPassword(s.bulk)))
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 64<<20))
	switch {
	case err != nil:
		return err
	case response.StatusCode == http.StatusTooManyRequests, response.StatusCode == http.StatusServiceUnavailable:
		return errBusy
	case response.StatusCode != http.StatusOK:
		return fmt.Errorf("%s: %.300s", response.Status, body)
	}
	return bulkProblem(body)
}

// bulkProblem returns the first page error in a bulk answer; errBusy makes the caller send all of it again.
func bulkProblem(answer []byte) error {
	var a struct {
		Errors bool `json:"errors"`
		Items  []map[string]struct {
			ID     string `json:"_id"`
			Status int    `json:"status"`
			Error  struct {
				Type   string `json:"type"`
				Reason string `json:"reason"`
			} `json:"error"`
		} `json:"items"`
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return fmt.Errorf("the server's answer is not that of a bulk request: %w", err)
	}
	if !a.Errors {
		return nil
	}
	for _, item := range a.Items {
		for _, did := range item {
			switch {
			case did.Status == http.StatusTooManyRequests:
				return errBusy
			case did.Status >= 300:
				return fmt.Errorf("page %s: %s: %s", did.ID, did.Error.Type, did.Error.Reason)
			}
		}
	}
	return errors.New("the server reports errors and does not say which")
}
