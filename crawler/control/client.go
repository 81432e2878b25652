package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"fossick/internal/usage"
)

// ErrNoCrawl reports a store in use by who does not answer.
var ErrNoCrawl = errors.New("no running crawl answers")

// Ask asks the crawl that has a store, which busy says; question is nil for GET.
func Ask(ctx context.Context, dir, path string, question, answer any, busy error) error {
	resp, err := call(ctx, dir, path, question, busy)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return readAnswer(resp, answer)
}

// call is Ask that leaves the answer to be read.
func call(ctx context.Context, dir, path string, question any, busy error) (*http.Response, error) {
	socket := filepath.Join(dir, socketName)
	if to, err := os.Readlink(socket); err == nil {
		socket = to
	}
	client := http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		},
		DisableKeepAlives: true,
	}}
	method, body := http.MethodGet, []byte(nil)
	if question != nil {
		var err error
		if body, err = json.Marshal(question); err != nil {
			return nil, fmt.Errorf("send a question to the crawl: %w", err)
		}
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://crawl"+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("send a question to the crawl: %w", err)
	}
	resp, err := client.Do(req)
	var refused *net.OpError
	if errors.As(err, &refused) && refused.Op == "dial" {
		return nil, fmt.Errorf("%w, and %w; if a crawl is just starting or ending, try again in a moment; otherwise wait until the other process ends", busy, ErrNoCrawl)
	}
	if err != nil {
		return nil, fmt.Errorf("the crawl of %s stopped in the middle of its answer: %w; try again", dir, err)
	}
	return resp, nil
}

// readAnswer reads the answer of call.
func readAnswer(resp *http.Response, answer any) error {
	dec := json.NewDecoder(resp.Body)
	if resp.StatusCode == http.StatusOK {
		if err := dec.Decode(answer); err != nil {
			return fmt.Errorf("the answer of the crawl cannot be read: %w; try again", err)
		}
		return nil
	}
	var failed failure
	if err := dec.Decode(&failed); err != nil {
		return fmt.Errorf("the crawl answered %s; use the version of fossick that runs the crawl", resp.Status)
	}
	if failed.Usage {
		return usage.Of(errors.New(failed.Error))
	}
	return errors.New(failed.Error)
}
