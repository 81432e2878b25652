package cluster

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestStatusOf: what agents and coordinator wrote is told as they wrote it. A value that no agent
// can have written is named, and the rest is told all the same.
func TestStatusOf(t *testing.T) {
	if s := StatusOf(nil); len(s.Agents) != 0 || s.Partitions != 0 || len(s.Unreadable) != 0 {
		t.Errorf("of nothing: %+v", s)
	}
	w := simulate(ofSeed(0, sound))
	values := maps.Clone(w.values)
	s := StatusOf(values)
	if len(s.Agents) == 0 || s.Coordinator == "" || s.Ended == "" || len(s.Unreadable) != 0 {
		t.Fatalf("%+v", s)
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
		left := StatusOf(values)
		if !slices.Equal(left.Unreadable, []string{key}) {
			t.Errorf("%s cannot be read, and these are said to be so: %q", key, left.Unreadable)
		}
		if ok := strings.HasPrefix(key, agentKeys); len(left.Agents) < len(s.Agents)-1 || !ok && len(left.Agents) != len(s.Agents) {
			t.Errorf("without %s there are %d agents of %d", key, len(left.Agents), len(s.Agents))
		}
		values[key] = v
	}
}
