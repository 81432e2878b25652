package cluster

import (
	"errors"
	"testing"
)

// An agent that is opened again has left its first exchange.
func TestHubOpen(t *testing.T) {
	hub := NewHub()
	first, err := hub.Open(agentName(1))
	if err != nil {
		t.Fatal(err)
	}
	second, err := hub.Open(agentName(1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.Receive(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("the first hears %v", err)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	if err := second.Send(t.Context(), agentName(1), []byte("x")); err != nil {
		t.Error(err)
	}
	if m, err := second.Receive(t.Context()); err != nil || string(m) != "x" {
		t.Errorf("the second hears %q, %v", m, err)
	}
	if _, err := hub.Open("someone"); !errors.Is(err, ErrName) {
		t.Errorf("a name that is none: %v", err)
	}
}
