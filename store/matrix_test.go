package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4/fb"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"

	"fossick/internal/testkit"
)

// TestDamageMatrix damages each file of a store in each way, then verifies it, explains a page,
// repairs, resumes or evaluates it, each in its own process. After that, a repair has
//
//   - every page in undamaged blocks and undamaged parts of logs;
//   - named each lost page and queued its URL again, or returned an error;
//   - left a store that verify finds sound, or said what remains.
//
// Nothing panics, and nothing succeeds silently despite a loss.
func TestDamageMatrix(t *testing.T) {
	m := newMatrix(t)
	cells := m.cells()
	if !testkit.Asked() {
		rng := rand.New(rand.NewPCG(15, 1))
		rng.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
		cells = cells[:5] // two seconds of processor time each
	}
	if only := os.Getenv("FOSSICK_MATRIX"); only != "" {
		cells = slices.DeleteFunc(m.cells(), func(c cell) bool { return !strings.Contains(c.String(), only) })
	}
	damaged := testkit.Tries(t, "damaged stores")
	for _, c := range cells {
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			red := m.try(t, c)
			damaged.Try(len(red) == 0, "%s: %s", c, strings.Join(red, "; "))
		})
	}
}

type cell struct{ file, harm, verb string }

func (c cell) String() string { return c.file + " " + c.harm + " " + c.verb }

var (
	matrixHarms = []string{"deleted", "empty", "half", "last byte", "flip", "zeros", "garbage", "older"}
	matrixVerbs = []string{"verify", "why", "repair", "resume", "eval"}
)

// matrix holds a store's files, now and at an earlier time.
type matrix struct {
	now, older image
	pages      map[string]uint64 // stored pages: URL → number
}

type image map[string]fileImage

type fileImage struct {
	data []byte
	size int64 // including the zeros that follow
}

func takeImage(t *testing.T, dir string) image {
	t.Helper()
	im := image{}
	for _, pattern := range []string{"*", database + "/*"} {
		names := testkit.Call(filepath.Glob(filepath.Join(dir, pattern))).Must(t)
		for _, name := range names {
			if info, err := os.Stat(name); err != nil || info.IsDir() {
				continue
			}
			body, size := readData(t, name)
			short := testkit.Call(filepath.Rel(dir, name)).Must(t)
			if size > 1<<20-1 { // a log is mapped larger than its content
				body = bytes.TrimRight(body, "\x00")
			}
			im[short] = fileImage{body, size}
		}
	}
	return im
}

func (im image) write(t *testing.T, dir string) {
	t.Helper()
	testkit.Must(t, os.MkdirAll(filepath.Join(dir, database), 0o755))
	for name, f := range im {
		name = filepath.Join(dir, name)
		testkit.Must(t, os.WriteFile(name, f.data, 0o600), os.Truncate(name, f.size))
	}
}

// newMatrix makes the store from two sessions that ended, each with a table and a value log, and
// one that was killed. One more table could trigger a compaction.
func newMatrix(t *testing.T) *matrix {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "s")
	s := testkit.Call(Create(dir, Info{Topic: "banking", Settings: []byte(strings.Repeat(`{"rho":0.3}`, 40))})).Must(t)
	m := &matrix{}
	for session := range 3 {
		for range 20 {
			alter(t, s, func(b *Batch) { testkit.Must(t, storePage(s, b)) })
		}
		switch session {
		case 1:
			m.older = takeImage(t, dir)
		case 2:
			m.now = takeImage(t, dir)
		}
		testkit.Must(t, s.Close())
		s = testkit.Call(Open(dir)).Must(t)
	}
	problems := testkit.Call(s.Verify(t.Context())).Must(t)
	if len(problems) > 0 {
		t.Fatalf("the store is not sound to begin with: %v", problems)
	}
	m.pages = map[string]uint64{}
	for _, p := range all(t, s.Pages()) {
		m.pages[p.URL] = p.Number
	}
	testkit.Must(t, s.Close())
	return m
}

func storePage(s *Store, b *Batch) error {
	c, err := s.Counts()
	if err != nil {
		return err
	}
	c.Pages++
	c.Requests++
	id := ID(c.Pages)
	if c.URLs == 0 {
		c.URLs = 1
		err = b.PutDiscovery(1, Discovery{URL: matrixURL(1), Via: ViaSeed, At: 1})
		err = errors.Join(err, b.PutSeen(HashURL(matrixURL(1)), 1, false))
	}
	body := bodyOf(c.Pages)
	p := &Page{
		Number: c.Pages, ID: id, URL: matrixURL(id), Title: strings.Repeat("t", int(c.Pages%7)*40), Checksum: fmt.Appendf(nil, "%016d", c.Pages),
		Signature: signatureOf(byte(c.Pages), byte(c.Pages>>8)), Bytes: int64(len(body)), Relevant: c.Pages%2 == 0, At: int64(c.Pages),
	}
	for range 3 {
		c.URLs++
		to, url := ID(c.URLs), matrixURL(ID(c.URLs))
		p.Links = append(p.Links, to)
		err = errors.Join(err, b.PutDiscovery(to, Discovery{URL: url, From: id, Via: ViaLink, At: 2}), b.PutSeen(HashURL(url), to, false),
			b.PutQueued(to, Queued{Priority: 0.5, Score: 0.5, Parent: id}))
	}
	c.Bytes += uint64(len(body))
	c.States["ok"]++
	if p.Relevant {
		c.Relevant++
	}
	return errors.Join(err, b.PutVisit(id, 1, Visit{State: "ok", Code: 200}), b.PutPage(p, s.Compress(body)),
		b.PutOutcome(id, Outcome{State: "ok", Page: p.Number, Score: 0.5}), b.PutLabel(p.Number, Label{Label: "x"}),
		b.PutHost(&Host{Name: fmt.Sprintf("h%d.test:80", id%10), Pages: 1}), b.PutCounts(&c))
}

func matrixURL(id ID) string { return fmt.Sprintf("http://h%d.test/%d", id%10, id) }

func (m *matrix) cells() (cells []cell) {
	for _, name := range slices.Sorted(maps.Keys(m.now)) {
		if filepath.Base(name) == "LOCK" {
			continue // holds the number of the killed process
		}
		for _, harm := range matrixHarms {
			if _, _, ok := m.harmed(name, harm); !ok {
				continue
			}
			for _, verb := range matrixVerbs {
				cells = append(cells, cell{name, harm, verb})
			}
		}
	}
	return cells
}

// harmed returns a damaged file, nil if removed, and the byte range; not ok if nothing changes.
func (m *matrix) harmed(name, harm string) (f *fileImage, at [2]int, ok bool) {
	whole := m.now[name]
	n := len(whole.data)
	rng := rand.New(rand.NewPCG(uint64(len(name)), uint64(n)))
	b := bytes.Clone(whole.data)
	switch harm {
	case "deleted":
		return nil, [2]int{0, n}, true
	case "empty":
		return &fileImage{}, [2]int{0, n}, n > 0
	case "half":
		return &fileImage{b[:n/2], int64(n / 2)}, [2]int{n / 2, n}, n > 1
	case "last byte":
		if n > 0 {
			return &fileImage{b[:n-1], int64(n - 1)}, [2]int{n - 1, n}, true
		}
	case "flip":
		if n > 0 {
			i := rng.IntN(n)
			b[i] ^= 1 << rng.IntN(8)
			return &fileImage{b, whole.size}, [2]int{i, i + 1}, true
		}
	case "zeros":
		if n > 0 {
			i := rng.IntN(max(1, n-4096))
			end := min(n, i+4096)
			clear(b[i:end])
			return &fileImage{b, whole.size}, [2]int{i, end}, true
		}
	case "garbage":
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		return &fileImage{b, whole.size}, [2]int{0, n}, n > 0
	case "older":
		if old, ok := m.older[name]; ok && !bytes.Equal(old.data, whole.data) {
			return &old, [2]int{same(old.data, whole.data), n}, true
		}
	}
	return nil, at, false
}

func same(a, b []byte) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// held returns the URLs of the pages whose records are undamaged.
func (m *matrix) held(t *testing.T, name string, at [2]int) map[string]bool {
	held := map[string]bool{}
	gone := lostKeys(t, name, m.now[name].data, at)
	for url, n := range m.pages {
		if !gone(numKey(keyPage, n)) && !gone(numKey(keyBody, n)) {
			held[url] = true
		}
	}
	return held
}

// try returns the promises that a case breaks.
func (m *matrix) try(t *testing.T, c cell) (red []string) {
	f, at, _ := m.harmed(c.file, c.harm)
	want := m.held(t, c.file, at)
	harmed := maps.Clone(m.now)
	if delete(harmed, c.file); f != nil {
		harmed[c.file] = *f
	}
	dir := filepath.Join(t.TempDir(), "s")
	harmed.write(t, dir)
	say := func(format string, args ...any) { red = append(red, fmt.Sprintf(format, args...)) }

	ask := matrixURL(1) // a damaged page, if there is one
	for url := range m.pages {
		if !want[url] {
			ask = url
		}
	}
	first := matrixChild(t, dir, c.verb, ask)
	if first.died != "" {
		say("%s dies: %s", c.verb, first.died)
	}
	between := answer{Code: 1}
	if c.verb != "repair" {
		if between = matrixChild(t, dir, "verify", ""); between.died != "" {
			say("verify dies: %s", between.died)
		}
	}
	repaired := first
	for range 3 { // a repair may say that more is to be done
		if c.verb == "repair" && repaired.Code == 0 && repaired.died == "" {
			break
		}
		repaired = merged(repaired, matrixChild(t, dir, "repair", ""))
		if repaired.died != "" {
			say("repair dies: %s", repaired.died)
		}
		if repaired.Code == 0 {
			break
		}
	}
	verified, counted := matrixChild(t, dir, "verify", ""), matrixChild(t, dir, "count", "")
	if verified.Code != 0 {
		say("verify after repair (%d, %.200s): %.300s", repaired.Code, repaired.Text, verified.Text)
	}
	missing := 0
	for url := range want {
		if !counted.Pages[url] {
			missing++
		}
	}
	if missing > 0 {
		say("%d of %d pages that are undamaged are gone (%.200s)", missing, len(want), counted.Text)
	}
	lost, silent := 0, 0
	for url := range m.pages {
		if counted.Pages[url] {
			continue
		}
		if lost++; !repaired.Unnamed && (!repaired.Named[url] || !counted.Queued[url]) {
			silent++
		}
	}
	if silent > 0 {
		say("repair does not name %d of %d lost pages, or did not queue them again", silent, lost)
	}
	if lost > 0 && between.Code == 0 {
		say("verify after %s sees nothing of %d lost pages", c.verb, lost)
	}
	switch {
	case first.Code != 0:
	case c.verb == "eval" && len(first.Pages) < len(m.pages):
		say("eval ends well with %d of %d pages", len(first.Pages), len(m.pages))
	case c.verb == "why" && !first.Pages[ask]:
		say("why ends well without the page %s", ask)
	}
	return red
}

type answer struct {
	Code    int
	Text    string          // error, or findings of verify
	Named   map[string]bool // by repair
	Pages   map[string]bool // that were read
	Queued  map[string]bool
	Unnamed bool // repair reports lost records that it cannot name

	died string // the panic or kill that ended it
}

func merged(a, b answer) answer {
	maps.Copy(b.Named, a.Named)
	b.Unnamed = b.Unnamed || a.Unnamed
	return b
}

// childMatrix is the child's verb, which answers as JSON; childURL is the URL to explain.
const (
	childMatrix = "FOSSICK_TEST_STORE_MATRIX"
	childURL    = "FOSSICK_TEST_STORE_URL"
)

func matrixChild(t *testing.T, dir, verb, url string) (a answer) {
	t.Helper()
	self := testkit.Call(os.Executable()).Must(t)
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^$")
	cmd.Env = append(os.Environ(), childDir+"="+dir, childMatrix+"="+verb, childURL+"="+url)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	a.Named = map[string]bool{}
	if err := cmd.Run(); err == nil {
		err = json.Unmarshal(out.Bytes(), &a)
		testkit.Must(t, err)
	} else {
		a.Code, a.died = -1, said.String()
		if i := strings.Index(a.died, "panic:"); i >= 0 {
			a.died = a.died[i:]
		}
		a.died = fmt.Sprintf("%v: %.200s", err, strings.Join(strings.Fields(a.died), " "))
	}
	a.Text, a.died = strings.ReplaceAll(a.Text, dir, "S"), strings.ReplaceAll(a.died, dir, "S")
	return a
}

func matrixVerb(dir string, to io.Writer) error {
	a := answer{Named: map[string]bool{}, Pages: map[string]bool{}, Queued: map[string]bool{}}
	verb, err := os.Getenv(childMatrix), error(nil)
	if verb == "repair" {
		err = a.repair(dir)
	} else if s, openErr := openFor(verb, dir); openErr != nil {
		err = openErr
	} else {
		err = errors.Join(a.verb(s, verb), s.Damaged(), s.Close())
	}
	if err != nil {
		a.Code, a.Text = 1, err.Error()
	}
	return json.NewEncoder(to).Encode(a)
}

func openFor(verb, dir string) (*Store, error) {
	if verb == "resume" {
		return Open(dir)
	}
	return OpenToRead(dir)
}

func (a *answer) repair(dir string) error {
	problems, err := RepairAll(context.Background(), dir)
	for _, p := range problems {
		if p.URL != "" {
			a.Named[p.URL] = true
		}
	}
	a.Unnamed = errors.Is(err, ErrLost)
	return err
}

func (a *answer) verb(s *Store, verb string) error {
	switch verb {
	case "verify":
		problems, err := s.Verify(context.Background())
		if err == nil && len(problems) > 0 {
			err = fmt.Errorf("%d problems: %.300v", len(problems), problems)
		}
		return err
	case "why":
		life, err := s.URLs().Life(os.Getenv(childURL))
		if err == nil && life.Page != nil {
			a.Pages[life.URL] = true
		}
		return err
	case "resume":
		return a.resume(s)
	}
	return a.read(s, verb == "count")
}

// read reads all pages, as eval does; when counting, it skips unreadable ones.
func (a *answer) read(s *Store, count bool) error {
	c, err := s.Counts()
	if err != nil && !count {
		return err
	}
	for n := uint64(1); n <= max(c.Pages, 200); n++ {
		p, err := s.Page(n)
		var body []byte
		if err == nil {
			body, err = s.Body(n)
		}
		switch {
		case err == nil && int64(len(body)) == p.Bytes && bytes.Equal(body, bodyOf(uint64(p.ID))):
			if life, err := s.URLs().Life(p.URL); !count || err == nil && life.Page != nil && life.Page.Number == n {
				a.Pages[p.URL] = true
			}
		case !count && n <= c.Pages:
			return errors.Join(err, fmt.Errorf("page %d", n))
		}
	}
	for id := range ID(400) {
		if b, _, err := s.URLs().Waiting(id); err == nil {
			a.Queued[b.URL] = true
		}
	}
	return nil
}

// resume uses the store like a crawl: it fills filters, reads the queue and stores pages.
func (a *answer) resume(s *Store) error {
	s.FilterSeen()
	for _, err := range s.URLs().Waiters() {
		if err != nil {
			return err
		}
	}
	b := s.Batch()
	if err := storePage(s, b); err != nil {
		b.Cancel()
		return err
	}
	return b.Commit()
}

// lostKeys tells which keys are lost with bytes at[0] to at[1] of a file: those in a table's blocks
// or a log's entries. Other files hold no records.
func lostKeys(t *testing.T, name string, data []byte, at [2]int) func(k []byte) bool {
	t.Helper()
	gone := map[string]bool{}
	switch filepath.Ext(name) {
	case ".sst":
		for _, b := range blocksOf(t, data) {
			if b.from < at[1] && at[0] < b.to {
				for _, k := range b.keys {
					gone[k] = true
				}
			}
		}
	case ".vlog":
		for _, e := range entriesOf(data) {
			if e.from < at[1] && at[0] < e.to {
				gone[e.key] = true
			}
		}
	case ".mem": // a transaction is there as a whole or not at all
		var together []string
		harmed := false
		for _, e := range entriesOf(data) {
			together = append(together, e.key)
			harmed = harmed || e.from < at[1] && at[0] < e.to
			if !strings.HasPrefix(e.key, "!badger!txn") {
				continue
			}
			if harmed {
				for _, k := range together {
					gone[k] = true
				}
			}
			together, harmed = nil, false
		}
	}
	return func(k []byte) bool { return gone[string(k)] }
}

type part struct {
	from, to int
	keys     []string
	key      string
}

func blocksOf(t *testing.T, data []byte) (blocks []part) {
	t.Helper()
	end := len(data) - 4
	end -= int(binary.BigEndian.Uint32(data[end:])) + 4
	n := int(binary.BigEndian.Uint32(data[end:]))
	index := fb.GetRootAsTableIndex(data[end-n:end], 0)
	var firsts [][]byte
	for i := range index.OffsetsLength() {
		var o fb.BlockOffset
		index.Offsets(&o, i)
		firsts = append(firsts, bytes.Clone(o.KeyBytes()))
		blocks = append(blocks, part{from: int(o.Offset()), to: int(o.Offset() + o.Len())})
	}
	tab := testkit.Call(table.OpenInMemoryTable(bytes.Clone(data), 1, &table.Options{})).Must(t)
	it := tab.NewIterator(0)
	defer it.Close()
	i := 0
	for it.Rewind(); it.Valid(); it.Next() {
		for i+1 < len(firsts) && y.CompareKeys(it.Key(), firsts[i+1]) >= 0 {
			i++
		}
		blocks[i].keys = append(blocks[i].keys, string(y.ParseKey(it.Key())))
	}
	return blocks
}

// entriesOf returns the entries of a log:
//
//	head (20) · entry…
//	entry = meta (2) · key length · value length · expiry (uvarints) · key · value · CRC (4)
func entriesOf(data []byte) (entries []part) {
	for at := 20; at+6 < len(data); {
		from, lengths := at, [3]uint64{}
		at += 2
		for i := range lengths {
			v, n := binary.Uvarint(data[at:])
			lengths[i], at = v, at+n
		}
		if lengths[0] < 8 || at+int(lengths[0]+lengths[1]) > len(data) {
			break
		}
		k := data[at : at+int(lengths[0])-8] // without its version
		at += int(lengths[0]+lengths[1]) + 4
		entries = append(entries, part{from: from, to: at, key: string(k)})
	}
	return entries
}
