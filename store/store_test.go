//go:build unix

package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"fossick/internal/fileio"
	"fossick/internal/testkit"
	"fossick/store/change"
)

func lookedUp(s *Store, h Hash) (Seen, error) {
	seen, err := s.Lookup([]Hash{h})
	if err != nil {
		return Seen{}, err
	}
	return seen[0], nil
}

func create(t testing.TB) *Store {
	t.Helper()
	s := testkit.Call(Create(filepath.Join(t.TempDir(), "s"), Info{Version: "1.2.3", Topic: "banking", Settings: []byte(`{"rho":0.3}`)})).Must(t)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func alter(t testing.TB, s *Store, f func(b *Batch)) {
	t.Helper()
	b := s.Batch()
	f(b)
	testkit.Must(t, b.Commit())
}

func equal(t testing.TB, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %+v, want %+v", what, got, want)
	}
}

const u1, u2 = "http://a.example/", "http://b.example/x"

func somePage() *Page {
	return &Page{
		Number: 1, ID: 2, URL: u2, ContentType: "text/html", RobotsTag: "noarchive", Checksum: bytes.Repeat([]byte{7}, 16),
		Sketch: 1<<63 + 5, Title: "T", Lang: "en", Links: []ID{3, 9}, Score: 0.58, Terms: []Term{{"lambda", 0.4, "8 of 20"}},
		Relevant: true, Label: "banking", Probability: 0.9, Bytes: 11, At: 1234, ETag: `"e"`, Modified: "Sat", Depth: 3,
	}
}

func TestRoundTrips(t *testing.T) {
	s := create(t)
	discovery := Discovery{URL: u2, From: 1, Via: ViaLink, Depth: 1, Hops: 2, At: 99}
	outcome := Outcome{State: "ok", Reason: "r", Page: 1, At: 100, Score: 0.7, Parent: 1}
	visits := []Visit{{Start: 1, Millis: 2, State: "code", Code: 503, Error: "busy"}, {Start: 5, Millis: 1, State: "ok", Code: 200, Location: 4, Bytes: 11}}
	host := &Host{Name: "b.example:80", Robots: []byte("r"), RobotsAt: 1, Next: 2, Failures: 3, Pages: 4, Requests: 5, Address: "192.0.2.1", RobotsCode: 200}
	counts := Counts{URLs: 2, Pages: 1, Relevant: 1, Requests: 3, States: map[string]uint64{"ok": 1}, Codes: map[int]uint64{503: 1}, Skipped: 1, Bytes: 11, Elapsed: 5, Schemes: 6}
	label := Label{Label: "banking", Score: 0.97, Kept: true, Rule: "loan > 1", Model: "m"}
	body := bytes.Repeat([]byte("body "), 1000)
	alter(t, s, func(b *Batch) {
		testkit.Must(t, b.PutDiscovery(1, Discovery{URL: u1, Via: ViaSeed, At: 98}), b.PutSeen(HashURL(u1), 1, false))
		testkit.Must(t, b.PutDiscovery(2, discovery), b.PutSeen(HashURL(u2), 2, true), b.PutVisit(2, 1, visits[0]), b.PutVisit(2, 2, visits[1]))
		testkit.Must(t, b.PutPage(somePage(), s.Compress(body)), b.PutOutcome(2, outcome), b.PutHost(host), b.PutCounts(&counts), b.PutLabel(1, label))
	})

	got := testkit.Call(s.Body(1)).Must(t)
	equal(t, "body", string(got), string(body))
	p := testkit.Call(s.Page(1)).Must(t)
	equal(t, "page", p, somePage())
	h := testkit.Call(s.Host("b.example:80")).Must(t)
	equal(t, "host", h, host)
	c := testkit.Call(s.Counts()).Must(t)
	equal(t, "counts", c, counts)
	l := testkit.Call(s.Label(1)).Must(t)
	equal(t, "label", l, &label)
	urls := testkit.Call(s.URLs().Names([]ID{2, 1})).Must(t)
	equal(t, "URLs", urls, []string{u2, u1})
	equal(t, "pages", all(t, s.Pages()), []*Page{somePage()})
	equal(t, "hosts", all(t, s.Hosts()), []*Host{host})
	equal(t, "labels", all(t, s.Labels()), []NumberedLabel{{1, label}})

	life := testkit.Call(s.URLs().Life(u2)).Must(t)
	equal(t, "life", life, &Life{ID: 2, Discovery: discovery, FoundBy: u1, Visits: visits, Outcome: &outcome, Parent: u1, Page: somePage(), Label: &label})
}

// TestStringsOfBytes: strings from servers need not be UTF-8, and are stored byte for byte.
func TestStringsOfBytes(t *testing.T) {
	s := create(t)
	odd := "\xff\xfe \"\x80\""
	page := somePage()
	page.ETag, page.Modified, page.ContentType, page.RobotsTag, page.Title = odd, odd, odd, odd, odd
	host := &Host{Name: "a.example:80", RobotsETag: odd}
	visit := Visit{State: "header_error", Error: odd}
	alter(t, s, func(b *Batch) {
		testkit.Must(t, b.PutDiscovery(2, Discovery{URL: u2, Via: ViaSeed}), b.PutSeen(HashURL(u2), 2, false), b.PutVisit(2, 1, visit))
		testkit.Must(t, b.PutPage(page, s.Compress([]byte("body"))), b.PutHost(host))
	})
	equal(t, "pages", all(t, s.Pages()), []*Page{page})
	equal(t, "hosts", all(t, s.Hosts()), []*Host{host})
	life := testkit.Call(s.URLs().Life(u2)).Must(t)
	equal(t, "visits", life.Visits, []Visit{visit})
}

func all[T any](t *testing.T, seq func(func(T, error) bool)) (records []T) {
	t.Helper()
	for r, err := range seq {
		testkit.Must(t, err)
		records = append(records, r)
	}
	return records
}

func TestPageWithSameContent(t *testing.T) {
	s := create(t)
	p := somePage()
	b := s.Batch()
	n := testkit.Call(b.PageWith(p.Checksum)).Must(t)
	equal(t, "before", n, uint64(0))
	testkit.Must(t, b.PutPage(p, s.Compress(nil)))
	n = testkit.Call(b.PageWith(p.Checksum)).Must(t)
	equal(t, "in the batch", n, uint64(1))
	testkit.Must(t, b.Commit())
	body := testkit.Call(s.Body(1)).Must(t)
	equal(t, "an empty body", len(body), 0)
}

// TestHostilePageFitsABatch: a page of 10,000 new links of the worst length fits on top of a nearly
// full batch. Badger counts values fully only below the value log's threshold.
func TestHostilePageFitsABatch(t *testing.T) {
	s := create(t)
	for _, length := range []int{1, 200, 500, 960, 2083} {
		b := s.Batch()
		id := ID(1)
		for b.Size() <= MaxBatchBytes {
			testkit.Must(t, b.PutQueued(id, Queued{Priority: 0.1, Score: 0.2, Parent: 3}))
			id++
		}
		base := strings.Repeat("x", length)
		links := make([]ID, 10_000)
		for i := range links {
			links[i] = id
			url := fmt.Sprint("http://h.example/", base, i)
			if err := errors.Join(
				b.PutDiscovery(id, Discovery{URL: url, From: 1, Via: ViaLink, Depth: 9, At: 1 << 41}),
				b.PutSeen(HashURL(url), id, false),
				b.PutQueued(id, Queued{Priority: 0.1, Score: 0.2, Parent: 1 << 33})); err != nil {
				t.Fatalf("URLs of %d bytes: link %d: %v", length, i, err)
			}
			id++
		}
		p := somePage()
		p.Links, p.Title = links, strings.Repeat("t", 1024)
		testkit.Must(t, b.PutPage(p, make([]byte, 4<<20)), b.PutOutcome(2, Outcome{State: "ok", Page: 1}),
			b.PutWire(2, 1, WireRecord{Kind: WirePage, Packed: make([]byte, 40<<10)}), b.PutCounts(&Counts{URLs: uint64(id)}))
		testkit.Must(t, b.Commit())
	}
}

// TestMakingCutOff: Create succeeds over whatever a kill leaves of a new database.
func TestMakingCutOff(t *testing.T) {
	for name, manifest := range map[string]string{"empty": "", "half": "Bdgr", "nonsense": "this is no manifest of anything"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			testkit.Must(t, os.Mkdir(filepath.Join(dir, making), 0o755))
			for _, file := range []string{"MANIFEST", "000001.vlog", "00001.mem"} {
				testkit.Must(t, os.WriteFile(filepath.Join(dir, making, file), []byte(manifest), 0o644))
			}
			if _, err := Open(dir); !errors.Is(err, ErrNone) {
				t.Fatalf("open: %v, want no store", err)
			}
			s, err := Create(dir, Info{Topic: "x"})
			if err != nil {
				t.Fatal(err)
			}
			testkit.Must(t, s.Close())
			if _, err := os.Stat(filepath.Join(dir, making)); err == nil {
				t.Error("the folder of the making is still there")
			}
			if s, err = Open(dir); err != nil || s.Info().Topic != "x" {
				t.Fatalf("opened again: %v", err)
			}
			testkit.Must(t, s.Close())
		})
	}
}

// TestFieldNumbers: no two fields of a record share a number. The encoder would silently drop both.
func TestFieldNumbers(t *testing.T) {
	for _, record := range []any{Info{}, Counts{}, TopicCounts{}, Verdict{}, Discovery{}, Queued{}, Visit{}, Outcome{}, Page{}, Rendering{}, Quote{}, Yield{}, Label{}, Host{}, Sitemaps{}, SitemapFile{}, Exchange{}, Mark{}, Ranking{}, Forget{}, Round{}, change.Visit{}} {
		typ, seen := reflect.TypeOf(record), map[string]string{}
		for i := range typ.NumField() {
			f := typ.Field(i)
			number, _, _ := strings.Cut(f.Tag.Get("cbor"), ",")
			if number == "" || number == "-" {
				continue
			}
			if other := seen[number]; other != "" {
				t.Errorf("%s: %s and %s are both number %s", typ, other, f.Name, number)
			}
			seen[number] = f.Name
		}
	}
}

func hashes(t *testing.T, dir string) map[string]string {
	t.Helper()
	sums := map[string]string{}
	testkit.Must(t, filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		body, err := os.ReadFile(name)
		sums[name] = fmt.Sprintf("%x", sha256.Sum256(body))
		return err
	}))
	return sums
}

// TestForeignDatabase: nothing opens or changes another program's database, closed or killed.
func TestForeignDatabase(t *testing.T) {
	testkit.Only(t, "seconds of processor time")
	many := map[string]string{}
	for n := range 2000 {
		many[fmt.Sprintf("user:%04d", n)] = strings.Repeat("x", n%400)
	}
	info := testkit.Call(encode(Info{Topic: "x"})).Must(t)
	for name, keys := range map[string]map[string]string{
		"many keys":                many,
		"one key":                  {"a": "1"},
		"a key as our Info has":    {"i": "settings of another program"},
		"an Info of no format":     {"i": string(info)},
		"keys shaped as ours":      {"b12345678": "x", "p12345678": "y"},
		"our Info's key and large": {"i": strings.Repeat("x", 1000)},
	} {
		for _, killed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, killed %v", name, killed), func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "s")
				path := filepath.Join(dir, database)
				db := testkit.Call(badger.Open(badger.DefaultOptions(path).WithLogger(nil).WithMemTableSize(1 << 20).WithValueThreshold(300).WithValueLogFileSize(2 << 20))).Must(t)
				defer db.Close()
				wb := db.NewWriteBatch()
				for k, v := range keys {
					testkit.Must(t, wb.Set([]byte(k), []byte(v)))
				}
				testkit.Must(t, wb.Flush())
				if killed { // with all its data still in the logs
					dir = copyOf(t, dir)
				} else {
					testkit.Must(t, db.Close())
				}
				before := hashes(t, dir)
				_, created := Create(dir, Info{})
				_, opened := Open(dir)
				_, mended := mendTables(dir)
				_, compacted := Compact(t.Context(), dir)
				for verb, err := range map[string]error{"create": created, "open": opened, "mend": mended, "compact": compacted} {
					if !errors.Is(err, ErrForeign) {
						t.Errorf("%s: %v, want ErrForeign", verb, err)
					}
				}
				if after := hashes(t, dir); !maps.Equal(before, after) {
					t.Errorf("files changed: %d before, %d afterwards", len(before), len(after))
				}
			})
		}
	}
}

func TestFolderOfOthers(t *testing.T) {
	for name, ok := range map[string]bool{"thesis.txt": false, "MANIFEST": false, ".DS_Store": true, "model.fossick": true, "seeds.txt": true} {
		dir := t.TempDir()
		testkit.Must(t, os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o644))
		s, err := Create(dir, Info{})
		if err == nil {
			testkit.Must(t, s.Close())
		}
		if ok != (err == nil) || !ok && !errors.Is(err, ErrForeign) {
			t.Errorf("beside %s: %v", name, err)
		}
		if entries, err := os.ReadDir(dir); !ok && (err != nil || len(entries) != 1) {
			t.Errorf("beside %s: something was made, %v", name, err)
		}
	}
}

// TestOldStoreIsOurs: a store without an info file is recognised and gets one.
func TestOldStoreIsOurs(t *testing.T) {
	killed := crawled(t)
	testkit.Must(t, killed.SetSettings([]byte(strings.Repeat("x", 999)))) // long enough for the value log
	dir := copyOf(t, killed.Dir())
	testkit.Must(t, os.Remove(filepath.Join(dir, infoFile)))
	if _, err := Create(dir, Info{}); !errors.Is(err, ErrExists) {
		t.Errorf("created over it: %v, want ErrExists", err)
	}
	s, err := Open(dir)
	testkit.Must(t, err)
	want := s.Info()
	if beside, ok := readInfoFile(dir); !ok || beside.Created != want.Created {
		t.Errorf("the Info beside it is %+v, %v", beside, ok)
	}
	testkit.Must(t, s.db.Update(func(txn *badger.Txn) error { return txn.Delete(key(keyInfo)) }), s.Close())
	if s, err = Open(dir); err != nil || s.Info().Created != want.Created {
		t.Fatalf("without the database's Info: %v", err)
	}
	testkit.Must(t, s.Close(), os.Remove(filepath.Join(dir, infoFile)))
	if whose, err := ownerOf(dir); err != nil || whose != ours {
		t.Errorf("without any Info it is of owner %d, %v", whose, err)
	}
}

func TestInfoFile(t *testing.T) {
	s := create(t)
	testkit.Must(t, s.SetSettings([]byte(`{"rho":0.3}`)))
	name := filepath.Join(s.Dir(), infoFile)
	whole := testkit.Call(os.ReadFile(name)).Must(t)
	if info, ok := readInfoFile(s.Dir()); !ok || string(info.Settings) != `{"rho":0.3}` {
		t.Fatalf("%+v, %v", info, ok)
	}
	for at := range whole {
		b := append([]byte(nil), whole...)
		b[at] ^= 1
		testkit.Must(t, os.WriteFile(name, b, 0o600))
		if info, ok := readInfoFile(s.Dir()); ok {
			t.Errorf("with byte %d flipped: %+v", at, info)
		}
		testkit.Must(t, os.WriteFile(name, whole[:at], 0o600))
		if info, ok := readInfoFile(s.Dir()); ok {
			t.Errorf("cut at %d: %+v", at, info)
		}
	}
}

// TestPipes: no opening blocks on a file that is a named pipe or links to a device.
func TestPipes(t *testing.T) {
	class := testkit.Tries(t, "pipes and devices in a store")
	whole := filepath.Join(t.TempDir(), "whole")
	s := testkit.Call(Create(whole, Info{})).Must(t)
	testkit.Must(t, s.Close())
	names := []string{"bad", database + "/LOCK", database + "/999999.sst", database + "/000009.vlog", database + "/reached", Derived + "/x", "model.fossick", "seeds.txt", "nats/jetstream/x"}
	testkit.Must(t, filepath.WalkDir(whole, func(path string, d fs.DirEntry, err error) error {
		if name, _ := filepath.Rel(whole, path); err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	}))
	for _, name := range names {
		for kind, put := range map[string]func(path string) error{
			"a pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
			"a device": func(path string) error { return os.Symlink("/dev/zero", path) },
		} {
			dir := filepath.Join(t.TempDir(), "store")
			at := filepath.Join(dir, name)
			testkit.Must(t, os.CopyFS(dir, os.DirFS(whole)))
			if err := os.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			testkit.Must(t, errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), put(at)))
			for how, open := range map[string]func() (*Store, error){
				"open": func() (*Store, error) { return Open(dir) }, "read": func() (*Store, error) { return OpenToRead(dir) },
				"create": func() (*Store, error) { return Create(dir, Info{}) }, "repair": func() (*Store, error) { _, err := RepairAll(t.Context(), dir); return nil, err },
			} {
				ended := make(chan error, 1)
				go func() { _, err := open(); ended <- err }()
				select {
				case err := <-ended:
					class.Try(errors.Is(err, fileio.ErrKind) || errors.Is(err, ErrNone), "%s where %s is %s: %v", how, name, kind, err)
				case <-time.After(20 * time.Second):
					class.Try(false, "%s where %s is %s waits", how, name, kind)
				}
			}
		}
	}
}

// TestPlain: a store works without any knowledge of Badger's files, with the same result.
func TestPlain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	t.Run("plain", func(t *testing.T) {
		t.Setenv("FOSSICK_STORE_PLAIN", "1")
		s, err := Create(dir, Info{Topic: "banking"})
		testkit.Must(t, err)
		for n := uint64(1); n <= 20; n++ {
			alter(t, s, func(b *Batch) { testkit.Must(t, putExchange(s, b, n), b.PutCounts(&Counts{URLs: n, Pages: n})) })
		}
		testkit.Must(t, s.Close())
		_, err = mendTables(dir)
		testkit.Must(t, err)
		_, err = Compact(t.Context(), dir)
		testkit.Must(t, err)
		s, err = Open(dir)
		testkit.Must(t, err)
		_, err = s.repair(t.Context())
		testkit.Must(t, err, s.Close())
	})
	s := testkit.Call(Open(dir)).Must(t)
	defer func() { testkit.Must(t, s.Close()) }()
	if problems, err := s.Verify(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	for n := uint64(1); n <= 20; n++ {
		if body, err := s.Body(n); err != nil || string(body) != string(bodyOf(n)) {
			t.Errorf("page %d has another body (%v)", n, err)
		}
	}
}

func TestOpenWhenFree(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	other := testkit.Call(Create(dir, Info{Topic: "banking"})).Must(t)
	waits := 0
	s := testkit.Call(openWhenFree(dir, func() bool {
		if waits++; waits == 3 {
			testkit.Must(t, other.Close())
		}
		return true
	})).Must(t)
	if waits != 3 || s.Info().Topic != "banking" {
		t.Errorf("opened after %d waits, as %+v; want 3", waits, s.Info())
	}
	over, stop := context.WithCancel(t.Context())
	stop()
	if _, err := OpenWhenFree(over, dir); !errors.Is(err, ErrBusy) {
		t.Errorf("nobody waits any longer: %v, want ErrBusy", err)
	}
	testkit.Must(t, s.Close())
	if _, err := OpenWhenFree(t.Context(), filepath.Join(dir, "none")); !errors.Is(err, ErrNone) {
		t.Errorf("no store: %v, want ErrNone", err)
	}
}

// TestSettingsChange: readers may look at the Info while a running crawl changes its settings.
func TestSettingsChange(t *testing.T) {
	s := create(t)
	changed := make(chan error, 1)
	go func() { changed <- s.SetSettings([]byte(`{"rho":0.5}`)) }()
	for range 100 {
		_ = s.Info()
	}
	if err := <-changed; err != nil {
		t.Fatal(err)
	}
	if got := string(s.Info().Settings); got != `{"rho":0.5}` {
		t.Error(got)
	}
}
