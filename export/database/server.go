package database

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"fossick/export/collection"
	"fossick/export/table"
)

// Server sends pages to an OpenSearch server. A page whose id is there is replaced.
type Server struct {
	bulk    string // address of the index's bulk interface
	client  *http.Client
	wait    func(ctx context.Context, d time.Duration) error
	columns []table.Column
	lines   []byte
}

const (
	bulkBytes = 5 << 20 // of one request
	bulkTries = 6       // while the server is overloaded
	firstWait = time.Second
)

// NewServer takes the address of an index, as http://host:9200/pages. Name and password may
// stand before the host.
func NewServer(address string) (*Server, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || strings.Trim(u.Path, "/") == "" || strings.Contains(strings.Trim(u.Path, "/"), "/") {
		return nil, fmt.Errorf("opensearch: %s: want the address of an index, as http://localhost:9200/pages", WithoutPassword(address))
	}
	u.Path = "/" + strings.Trim(u.Path, "/") + "/_bulk"
	return &Server{bulk: u.String(), client: &http.Client{Timeout: 2 * time.Minute, CheckRedirect: stay}, wait: sleep, columns: table.Columns()}, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Write implements export.Sink.
func (s *Server) Write(ctx context.Context, p *collection.Page) (err error) {
	if s.lines, err = appendBulk(s.lines, s.columns, p); err != nil {
		return err
	}
	if len(s.lines) < bulkBytes {
		return nil
	}
	return s.flush(ctx)
}

// Finish implements export.Sink.
func (s *Server) Finish(ctx context.Context) error {
	if len(s.lines) == 0 {
		return nil
	}
	return s.flush(ctx)
}

// Close implements export.Sink.
func (s *Server) Close() error {
	s.client.CloseIdleConnections()
	return nil
}

// stay follows no redirect: pages and passwords are for the host that the user named.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// errBusy is a server that has too much to do.
var errBusy = errors.New("the server is overloaded")

func (s *Server) flush(ctx context.Context) error {
	wait := firstWait
	for try := 1; ; try++ {
		err := s.send(ctx)
		if err == nil {
			s.lines = s.lines[:0]
			return nil
		}
		if !errors.Is(err, errBusy) || try == bulkTries {
			return fmt.Errorf("opensearch: %w", err)
		}
		if err := s.wait(ctx, wait); err != nil {
			return err
		}
		wait *= 2
	}
}

// answer is what the bulk interface says: errors by page are no error of the request.
type answer struct {
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

func (s *Server) send(ctx context.Context) error {
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
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return fmt.Errorf("the server's answer is not that of a bulk request: %w", err)
	}
	return a.problem()
}

// problem is the first page that was not taken. One that the server had no time for makes
// the whole request be sent again.
func (a *answer) problem() error {
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
