package local

import (
	"errors"
	"testing"

	"fossick/crawler/cluster"
	"fossick/crawler/cluster/exchangetest"
	"fossick/crawler/cluster/limits"
)

func TestPromises(t *testing.T) {
	exchangetest.Promises(t, func(*testing.T) exchangetest.Open {
		hub := New()
		return func(t testing.TB, id cluster.AgentID) cluster.Exchange {
			e, err := hub.Open(id)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := e.Close(); err != nil {
					t.Error(err)
				}
			})
			return e
		}
	})
}

// An agent that is opened again has left its first exchange.
func TestOpen(t *testing.T) {
	hub := New()
	first, err := hub.Open(exchangetest.ID(1))
	if err != nil {
		t.Fatal(err)
	}
	second, err := hub.Open(exchangetest.ID(1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.Receive(t.Context()); !errors.Is(err, cluster.ErrClosed) {
		t.Errorf("the first hears %v", err)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	if err := second.Send(t.Context(), exchangetest.ID(1), []byte("x")); err != nil {
		t.Error(err)
	}
	if m, err := second.Receive(t.Context()); err != nil || string(m) != "x" {
		t.Errorf("the second hears %q, %v", m, err)
	}
	if _, err := hub.Open("someone"); !errors.Is(err, limits.ErrName) {
		t.Errorf("a name that is none: %v", err)
	}
}
