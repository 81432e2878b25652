package corpusweb

import (
	"context"
	"errors"
	"fmt"
	"net"

	"fossick/datasets"
)

// OnLoopback serves sets at any free port of loopback until stop is called, which waits for
// the end. proxy is the URL to give to a crawl.
func OnLoopback(ctx context.Context, opt Options, sets ...*datasets.Set) (proxy string, stop func() error, err error) {
	ctx, cancel := context.WithCancel(ctx)
	web, err := New(ctx, opt, sets...)
	if err != nil {
		cancel()
		return "", nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		cancel()
		return "", nil, errors.Join(fmt.Errorf("corpus on loopback: %w", err), web.Close())
	}
	done := make(chan error, 1)
	go func() { done <- web.Serve(ctx, listener) }()
	return "http://" + listener.Addr().String(), func() error {
		cancel()
		return errors.Join(<-done, web.Close())
	}, nil
}
