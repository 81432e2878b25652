package cluster

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fossick/crawler"
	"fossick/graph/orders"
	"fossick/store"
)

// marked is gold that hears what people say.
type marked struct {
	gold
	mu   sync.Mutex // guards said
	said map[string]string
}

func (*marked) Rescore(uint64) (float64, bool) { return 0, false }

func (m *marked) Mark(marks []crawler.Marked) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range marks {
		m.said[l.URL] = fmt.Sprintf("%v of %s", l.OnTopic, l.Page.Title)
	}
}

// TestLabels: what people say at one agent all hear, with its page, also after a resume.
func TestLabels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		order, err := orders.OrderingByName("relevance")
		if err != nil {
			t.Fatal(err)
		}
		var stores []*store.Store
		for range 3 {
			s, err := store.Create(t.TempDir(), store.Info{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
			stores = append(stores, s)
		}
		var url, want string
		for session := range 2 {
			var all []crawler.Options
			var scorers []*marked
			for _, s := range stores {
				scorers = append(scorers, &marked{said: map[string]string{}})
				all = append(all, crawler.Options{Store: s, Fetcher: &teamWeb{hosts: 11, pages: 100}, Scorer: scorers[len(scorers)-1], Ordering: order,
					Seeds: []string{"http://h0.test/0"}, Workers: 6, Delay: crawler.Delay{Fixed: true, Rest: 100 * time.Millisecond}, Patience: 1})
			}
			team, err := NewTeam(all)
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan error)
			go func() {
				_, err := team.Run(ctx)
				done <- err
			}()
			time.Sleep(4 * time.Second)
			if session == 0 {
				url, want = labelOne(t, team, stores)
				time.Sleep(3 * time.Second)
			}
			stop()
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			for i, s := range scorers {
				if s.said[url] != want {
					t.Errorf("session %d: agent %d was told of %s: %q, want %q", session, i, url, s.said[url], want)
				}
			}
		}
	})
}

// labelOne says of a stored page that it is on topic, at the agent that has it.
func labelOne(t *testing.T, team *Team, stores []*store.Store) (url, said string) {
	for i, engine := range team.Engines() {
		for p, err := range stores[i].Pages() {
			if err != nil {
				t.Fatal(err)
			}
			if _, err := engine.Mark(t.Context(), []crawler.Mark{{URL: p.URL, OnTopic: true}}); err != nil {
				t.Fatal(err)
			}
			return p.URL, "true of " + p.Title
		}
	}
	t.Fatal("nothing is stored")
	return "", ""
}
