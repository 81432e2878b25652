package store

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"fossick/internal/testkit"
)

func marked(t *testing.T, s *Store, id ID, m Mark) (Counts, error) {
	t.Helper()
	counts := testkit.Call(s.Counts()).Must(t)
	b := s.Batch()
	defer b.Cancel()
	if err := b.Mark(id, m, &counts); err != nil {
		return counts, err
	}
	testkit.Must(t, b.Commit())
	counts = testkit.Call(s.Counts()).Must(t)
	return counts, nil
}

// TestMark: the model found page 1 relevant, page 2 not; URL 6 waits, 7 failed.
func TestMark(t *testing.T) {
	s := crawled(t)
	for _, step := range []struct {
		id       ID
		mark     Mark
		relevant uint64 // relevant pages; 3 before
	}{
		{1, Mark{OnTopic: false, At: 5, After: 5}, 2},
		{2, Mark{OnTopic: true, At: 6, After: 5}, 3},
		{2, Mark{OnTopic: true, At: 7, After: 5}, 3},
		{6, Mark{OnTopic: true, At: 8, After: 5}, 3}, // has no page yet
		{1, Mark{OnTopic: true, At: 9, After: 5}, 4}, // a person may change their mind
		{1, Mark{OnTopic: false, At: 10, After: 5}, 3},
	} {
		counts := testkit.Call(marked(t, s, step.id, step.mark)).Must(t)
		equal(t, "relevant", counts.Relevant, step.relevant)
	}
	if _, err := marked(t, s, 7, Mark{}); err == nil {
		t.Error("a URL whose fetch failed was marked")
	}
	for n, want := range map[uint64]Label{
		1: {Label: "not banking", Rule: "marked no by a person"},
		2: {Label: "banking", Score: 1, Kept: true, Rule: "marked yes by a person"},
		3: {Label: "x"},
	} {
		got := testkit.Call(s.Label(n)).Must(t)
		got.Was = nil
		equal(t, "label", *got, want)
	}
	l := testkit.Call(s.URLs().Life("http://h1.test/")).Must(t)
	equal(t, "mark", *l.Mark, Mark{At: 10, After: 5})
	var ids []ID
	for m, err := range s.Marks(false) {
		testkit.Must(t, err)
		ids = append(ids, m.ID)
	}
	equal(t, "marks", ids, []ID{1, 2, 6})
	problems := testkit.Call(s.Verify(t.Context())).Must(t)
	equal(t, "problems", len(problems), 0)
}

// TestMarkTopics: with several topics, a mark changes one verdict, its counts and its label.
func TestMarkTopics(t *testing.T) {
	s := testkit.Call(Create(filepath.Join(t.TempDir(), "s"), Info{Topic: "a,b", Topics: []string{"a", "b"}})).Must(t)
	defer s.Close()
	record := somePage()
	record.Number, record.ID, record.URL, record.Links, record.Relevant = 1, 1, "http://h.test/", nil, true
	record.Topics = []Verdict{{Score: 0.9, Relevant: true, Paid: 1, Rule: "w"}, {Score: 0.1}}
	counts := Counts{URLs: 1, Pages: 1, Relevant: 1, Bytes: uint64(record.Bytes), States: map[string]uint64{"ok": 1}}
	counts.Judged(record.Topics, false)
	alter(t, s, func(b *Batch) {
		testkit.Must(t, b.PutDiscovery(1, Discovery{URL: record.URL}), b.PutSeen(HashURL(record.URL), 1, false), b.PutOutcome(1, Outcome{State: "ok", Page: 1}),
			b.PutPage(record, s.Compress([]byte(strings.Repeat("x", int(record.Bytes))))), b.PutLabel(1, Label{Label: "a", Kept: true, Topic: "a"}), b.PutCounts(&counts))
	})
	for _, step := range []struct {
		mark     Mark
		relevant uint64
		byTopic  string
		label    Label
	}{
		{Mark{Topic: 2, OnTopic: true, At: 1}, 1, "1 1", Label{Label: "a", Kept: true, Topic: "a"}},
		{Mark{Topic: 1, At: 2}, 1, "0 1", Label{Label: "not a", Topic: "a", Rule: "marked no by a person"}},
		{Mark{Topic: 2, At: 3}, 0, "0 0", Label{Label: "not a", Topic: "a", Rule: "marked no by a person"}},
		{Mark{Topic: 1, OnTopic: true, At: 4}, 1, "1 0", Label{Label: "a", Score: 1, Kept: true, Topic: "a", Rule: "marked yes by a person"}},
	} {
		counts := testkit.Call(marked(t, s, 1, step.mark)).Must(t)
		equal(t, "relevant", counts.Relevant, step.relevant)
		equal(t, "by topic", fmt.Sprint(counts.Topics[0].Relevant, counts.Topics[1].Relevant), step.byTopic)
		equal(t, "paid", counts.Topics[0].Paid, 1.0)
		got := testkit.Call(s.Label(1)).Must(t)
		got.Was = nil
		equal(t, "label", *got, step.label)
		problems := testkit.Call(s.Verify(t.Context())).Must(t)
		equal(t, "problems", problems, []Problem(nil))
	}
	l := testkit.Call(s.URLs().Life(record.URL)).Must(t)
	equal(t, "marks", l.Marks, []Mark{{Topic: 1, OnTopic: true, At: 4}, {Topic: 2, At: 3}})
	var all []MarkedURL
	for m, err := range s.Marks(false) {
		testkit.Must(t, err)
		all = append(all, m)
	}
	equal(t, "all marks", all, []MarkedURL{{1, l.Marks[0]}, {1, l.Marks[1]}})

	record.Topics[1].Relevant = true // contradicts its mark
	alter(t, s, func(b *Batch) { testkit.Must(t, b.PutPageRecord(record)) })
	problems := testkit.Call(s.Verify(t.Context())).Must(t)
	equal(t, "problems of a page that is not as its mark says", len(problems), 1)
	testkit.Call(s.repair(t.Context())).Must(t)
	problems = testkit.Call(s.Verify(t.Context())).Must(t)
	equal(t, "problems left", problems, []Problem(nil))
}

func TestVerifyMarks(t *testing.T) {
	page1 := testkit.Call(encode(somePage())).Must(t)
	mark := testkit.Call(encode(Mark{At: 1})).Must(t)
	for name, harm := range map[string]func(*badger.Txn) error{
		"not as marked": func(txn *badger.Txn) error {
			return txn.Set(numKey(keyMark, 1), mark)
		},
		"of no URL":  func(txn *badger.Txn) error { return txn.Set(numKey(keyMark, 77), mark) },
		"not a mark": func(txn *badger.Txn) error { return txn.Set(numKey(keyMark, 1), page1[:3]) },
		"odd key":    func(txn *badger.Txn) error { return txn.Set([]byte{keyMark, 1}, mark) },
		"no topic":   func(txn *badger.Txn) error { return txn.Set(numKey(keyMarkFor, 1), mark) },
	} {
		t.Run(name, func(t *testing.T) {
			s := crawled(t)
			testkit.Must(t, s.db.Update(harm))
			found, err := s.Verify(t.Context())
			testkit.Must(t, err)
			if len(found) == 0 {
				t.Fatal("verify finds nothing")
			}
			_, err = s.repair(t.Context())
			wantLost(t, err, name == "of no URL")
			left, err := s.Verify(t.Context())
			testkit.Must(t, err)
			equal(t, "problems left", left, []Problem(nil))
		})
	}
}

// TestUnmark: without its marks, a store has the verdicts and counts that the model gave.
func TestUnmark(t *testing.T) {
	s := crawled(t)
	verdicts := func() (all []string) {
		counts := testkit.Call(s.Counts()).Must(t)
		all = append(all, fmt.Sprint(counts.Relevant))
		for n := range uint64(3) {
			p := testkit.Call(s.Page(n + 1)).Must(t)
			l := testkit.Call(s.Label(n + 1)).Must(t)
			all = append(all, fmt.Sprint(p.Relevant, p.Overruled, *l))
		}
		return all
	}
	before := verdicts()
	for _, m := range []struct {
		id ID
		on bool
	}{{1, false}, {2, true}, {2, false}, {2, true}, {3, true}, {6, true}, {1, true}, {1, false}} {
		testkit.Call(marked(t, s, m.id, Mark{OnTopic: m.on, At: 5, After: 5})).Must(t)
	}
	if slices.Equal(verdicts(), before) {
		t.Fatal("the marks change nothing")
	}
	for _, id := range []ID{1, 2, 3, 6, 6, 7} { // twice, and a URL that failed
		counts := testkit.Call(s.Counts()).Must(t)
		b := s.Batch()
		testkit.Must(t, b.Mark(id, Mark{Gone: true, At: 6, After: 5}, &counts))
		testkit.Must(t, b.Commit())
	}
	equal(t, "verdicts", verdicts(), before)
	for m, err := range s.Marks(false) {
		t.Errorf("mark %v is left, %v", m, err)
	}
	gone := 0
	for m, err := range s.Marks(true) {
		testkit.Must(t, err)
		if m.Gone {
			gone++
		}
	}
	equal(t, "marks taken back", gone, 5)
	problems := testkit.Call(s.Verify(t.Context())).Must(t)
	equal(t, "problems", len(problems), 0)
}
