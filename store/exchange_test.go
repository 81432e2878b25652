package store

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"fossick/internal/testkit"
)

func TestExchanges(t *testing.T) {
	s := create(t)
	whole := Exchange{For: ForSitemap, URL: u1, Start: 1, Millis: 2, State: "redirect", Code: 301, Bytes: 3, Location: u2, Error: "e",
		Note: "n", Owner: "o:80", Rest: 2000, RetryAfter: 5}
	want := []HostExchange{
		{"a.test:80", 1, whole}, {"a.test:80", 2, Exchange{For: ForRobots}}, {"a.test:8080", 1, Exchange{For: ForAddress}},
		{"b.test:80", 1, Exchange{Start: 7}},
	}
	alter(t, s, func(b *Batch) {
		for _, x := range want {
			testkit.Must(t, b.PutExchange(x.Host, x.Number, x.Exchange))
		}
	})
	equal(t, "all", all(t, s.Exchanges("")), want)
	equal(t, "of a host whose name begins another's", all(t, s.Exchanges("a.test:80")), want[:2])
	equal(t, "of an unknown host", len(all(t, s.Exchanges("a.test"))), 0)
	got := testkit.Call(s.Exchange("a.test:80", 1)).Must(t)
	equal(t, "one", got, whole)
}

func TestLifeOfAURLFromASitemap(t *testing.T) {
	s := create(t)
	alter(t, s, func(b *Batch) {
		testkit.Must(t, b.PutSeen(HashURL(u2), 1, false), b.PutDiscovery(1, Discovery{URL: u2, Via: ViaSitemap, Exchange: 2, AtHost: "a:80"}),
			b.PutQueued(1, Queued{}), b.PutExchange("a:80", 2, Exchange{For: ForSitemap, URL: u1}))
	})
	l, err := s.URLs().Life(u2)
	testkit.Must(t, err)
	equal(t, "found by", l.FoundBy, u1)
	testkit.Must(t, s.db.Update(func(txn *badger.Txn) error { return txn.Delete(exchangeKey("a:80", 2)) }))
	if l, err = s.URLs().Life(u2); err != nil || l.FoundBy != "" {
		t.Errorf("without the exchange: found by %q, %v", l.FoundBy, err)
	}
}

// TestRepairOfExchanges breaks the links between hosts and exchanges.
func TestRepairOfExchanges(t *testing.T) {
	at := func(host string, n uint64) []byte { return exchangeKey(host, n) }
	for name, test := range map[string]struct {
		harm func(*badger.Txn) error
		what string
		left int // exchanges of a.test afterwards
	}{
		"one is missing":     {func(txn *badger.Txn) error { return txn.Delete(at("a.test:80", 2)) }, "is missing", 3},
		"the last is gone":   {func(txn *badger.Txn) error { return txn.Delete(at("a.test:80", 3)) }, "claims 3 exchanges, but 2", 2},
		"one is unreadable":  {func(txn *badger.Txn) error { return txn.Set(at("a.test:80", 1), []byte{0xff}) }, "damaged", 3},
		"no host":            {func(txn *badger.Txn) error { return txn.Set(at("x.test:80", 1), []byte{0xa0}) }, "host that is missing", 3},
		"one too many":       {func(txn *badger.Txn) error { return txn.Set(at("a.test:80", 4), []byte{0xa0}) }, "claims 3 exchanges, but 4", 4},
		"a nonsense number":  {func(txn *badger.Txn) error { return txn.Set(at("a.test:80", 1<<40), []byte{0xa0}) }, "comes after", 3},
		"a nonsense key":     {func(txn *badger.Txn) error { return txn.Set([]byte("xa.test"), []byte{0xa0}) }, "no exchange has this key", 3},
		"all of a host gone": {func(txn *badger.Txn) error { return txn.Delete(at("b.test:80", 1)) }, "claims 1 exchanges, but 0", 3},
		"the host is gone":   {func(txn *badger.Txn) error { return txn.Delete(bytesKey(keyHost, []byte("a.test:80"))) }, "host that is missing", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := create(t)
			alter(t, s, func(b *Batch) {
				testkit.Must(t, b.PutHost(&Host{Name: "a.test:80", Exchanges: 3}), b.PutHost(&Host{Name: "b.test:80", Exchanges: 1}),
					b.PutHost(&Host{Name: "c.test:80"}), b.PutExchange("b.test:80", 1, Exchange{}))
				for n := uint64(1); n <= 3; n++ {
					testkit.Must(t, b.PutExchange("a.test:80", n, Exchange{Start: int64(n)}))
				}
			})
			if problems, err := s.Verify(t.Context()); err != nil || len(problems) > 0 {
				t.Fatalf("before: %v, %v", problems, err)
			}
			testkit.Must(t, s.db.Update(test.harm))
			found := testkit.Call(s.Verify(t.Context())).Must(t)
			if len(found) == 0 || !strings.Contains(found[0].What, test.what) {
				t.Errorf("verify finds %v, want %q", found, test.what)
			}
			mended := testkit.Call(s.repair(t.Context())).Must(t)
			equal(t, "problems of repair", mended, found)
			if after, err := s.Verify(t.Context()); err != nil || len(after) > 0 {
				t.Errorf("after repair: %v, %v", after, err)
			}
			equal(t, "exchanges left", len(all(t, s.Exchanges("a.test:80"))), test.left)
		})
	}
}

// TestRepairOfSitemapURLs: repair drops a URL's reference to a missing exchange.
func TestRepairOfSitemapURLs(t *testing.T) {
	s := create(t)
	alter(t, s, func(b *Batch) {
		testkit.Must(t, b.PutHost(&Host{Name: "a:80", Exchanges: 1, Sitemaps: &Sitemaps{Files: 1}}), b.PutExchange("a:80", 1, Exchange{For: ForSitemap}))
		for id, n := range []uint64{1, 2} {
			url := fmt.Sprintf("http://a/%d", id)
			testkit.Must(t, b.PutSeen(HashURL(url), ID(id+1), false), b.PutQueued(ID(id+1), Queued{}),
				b.PutDiscovery(ID(id+1), Discovery{URL: url, Via: ViaSitemap, Exchange: n, AtHost: "a:80"}))
		}
		testkit.Must(t, b.PutCounts(&Counts{URLs: 2, States: map[string]uint64{}}))
	})
	problems, err := s.repair(t.Context())
	if err != nil || len(problems) != 1 || !strings.Contains(problems[0].What, "http://a/1 was named in exchange 2 of a:80") {
		t.Errorf("repair: %v, %v", problems, err)
	}
	if problems, err = s.Verify(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("after repair: %v, %v", problems, err)
	}
}

// FuzzExchangeKey: exchangeOf accepts only what exchangeKey makes.
func FuzzExchangeKey(f *testing.F) {
	f.Add([]byte("xa.test:80\x00\x00\x00\x00\x00\x00\x00\x00\x01"))
	f.Add([]byte("x"))
	f.Add([]byte("x\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, k []byte) {
		if len(k) == 0 || k[0] != keyExchange {
			return
		}
		host, n, err := exchangeOf(k)
		if err == nil && string(exchangeKey(host, n)) != string(k) {
			t.Errorf("%q is read as %q, %d", k, host, n)
		}
	})
}
