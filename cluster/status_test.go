package cluster

import (
	"maps"
	"testing"
)

// TestStatusOf: what agents and coordinator wrote is told as they wrote it, and what nobody
// can have written is an error.
func TestStatusOf(t *testing.T) {
	if s, err := StatusOf(nil); err != nil || len(s.Agents) != 0 || s.Partitions != 0 {
		t.Errorf("of nothing: %+v, %v", s, err)
	}
	w := simulate(ofSeed(0, sound))
	values := maps.Clone(w.values)
	s, err := StatusOf(values)
	if err != nil || len(s.Agents) == 0 || s.Coordinator == "" || s.Ended == "" {
		t.Fatalf("%+v, %v", s, err)
	}
	owned := 0
	for _, a := range s.Agents {
		owned += a.Partitions
	}
	if owned != s.Partitions || owned == 0 {
		t.Errorf("%d partitions are owned, of agents %d", s.Partitions, owned)
	}
	for key := range values {
		v := values[key]
		values[key] = Value{Bytes: []byte{0xff}, Revision: 1}
		if _, err := StatusOf(values); err == nil {
			t.Errorf("%s: no error of a value that nobody wrote", key)
		}
		values[key] = v
	}
}
