package exchangetest

import (
	"context"
	"errors"
	"sync"
	"testing"

	"fossick/crawler/cluster"
)

// closing: Close wakes all who wait, may be called twice, and ends nobody else's exchange.
func closing(ctx context.Context, t *testing.T, open Open) {
	a, b := open(t, ID(1)), open(t, ID(2))
	var wait, ready sync.WaitGroup
	for range 8 {
		ready.Add(1)
		wait.Go(func() {
			ready.Done()
			if m, err := a.Receive(ctx); !errors.Is(err, cluster.ErrClosed) {
				t.Errorf("who waits hears %q, %v", m, err)
			}
		})
	}
	ready.Wait()
	for range 2 {
		if err := a.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	wait.Wait()
	if err := a.Send(ctx, ID(2), nil); !errors.Is(err, cluster.ErrClosed) {
		t.Errorf("send: %v", err)
	}
	if _, err := a.Swap(ctx, "a", nil, 0); !errors.Is(err, cluster.ErrClosed) {
		t.Errorf("swap: %v", err)
	}
	if _, err := a.Values(ctx); !errors.Is(err, cluster.ErrClosed) {
		t.Errorf("values: %v", err)
	}
	if err := b.Send(ctx, ID(1), nil); err != nil {
		t.Errorf("to an agent that closed: %v", err)
	}
	if err := b.Send(ctx, ID(2), []byte("x")); err != nil {
		t.Errorf("send: %v", err)
	}
	if m, err := b.Receive(ctx); err != nil || string(m) != "x" {
		t.Errorf("the other's message %q, %v", m, err)
	}
	again := open(t, ID(1))
	if err := b.Send(ctx, ID(1), []byte("y")); err != nil {
		t.Errorf("send: %v", err)
	}
	if m, err := again.Receive(ctx); err != nil || string(m) != "y" {
		t.Errorf("opened again: %q, %v", m, err)
	}
}

// contexts: a context ends a wait, and the exchange goes on.
func contexts(ctx context.Context, t *testing.T, open Open) {
	a := open(t, ID(1))
	waiting, cancel := context.WithCancel(ctx)
	heard := make(chan error)
	for range 4 {
		go func() {
			_, err := a.Receive(waiting)
			heard <- err
		}()
	}
	cancel()
	for range 4 {
		if err := <-heard; !errors.Is(err, context.Canceled) {
			t.Errorf("receive: %v", err)
		}
	}
	if err := a.Send(waiting, ID(1), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("send: %v", err)
	}
	if _, err := a.Swap(waiting, "a", nil, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("swap: %v", err)
	}
	if _, err := a.Values(waiting); !errors.Is(err, context.Canceled) {
		t.Errorf("values: %v", err)
	}
	if err := a.Send(ctx, ID(1), []byte("x")); err != nil {
		t.Error(err)
	}
	if m, err := a.Receive(ctx); err != nil || string(m) != "x" {
		t.Errorf("afterwards: %q, %v", m, err)
	}
}
