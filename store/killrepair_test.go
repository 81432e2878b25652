package store

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"fossick/internal/testkit"
)

// childDir is set for a child process that writes to the store there and prints its progress.
const childDir = "FOSSICK_TEST_STORE_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		work := commitForever
		switch {
		case os.Getenv(childRepairs) != "":
			work = repairOnce
		case os.Getenv(childCompacts) != "":
			work = compactOnce
		case os.Getenv(childStarves) != "":
			work = starve
		case os.Getenv(childMatrix) != "":
			work = matrixVerb
		}
		if err := work(dir, os.Stdout); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// commitForever commits batches of one to three exchanges, each with all records of a stored page.
// Only an error or a kill ends it.
func commitForever(dir string, acknowledge io.Writer) error {
	s, err := Open(dir)
	if err != nil {
		return err
	}
	c, err := s.Counts()
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(c.URLs, 1))
	for {
		b := s.Batch()
		for range 1 + r.IntN(3) {
			c.URLs++
			if err := putExchange(s, b, c.URLs); err != nil {
				return err
			}
		}
		if err := errors.Join(b.PutCounts(&Counts{URLs: c.URLs, Pages: c.URLs}), b.Commit()); err != nil {
			return err
		}
		fmt.Fprintln(acknowledge, c.URLs)
	}
}

func putExchange(s *Store, b *Batch, n uint64) error {
	url := fmt.Sprint("http://h.example/", n)
	p := &Page{Number: n, ID: ID(n), URL: url, Checksum: fmt.Appendf(nil, "%016d", n), Links: make([]ID, n%200), Bytes: int64(len(bodyOf(n)))}
	return errors.Join(
		b.PutSeen(HashURL(url), ID(n), false), b.PutDiscovery(ID(n), Discovery{URL: url}), b.PutQueued(ID(n), Queued{}),
		b.PutVisit(ID(n), 1, Visit{State: "ok"}), b.PutPage(p, s.Compress(bodyOf(n))), b.PutOutcome(ID(n), Outcome{State: "ok", Page: n}))
}

// bodyOf returns a different body for each page; only some are long enough for the value log.
func bodyOf(n uint64) []byte {
	r := rand.New(rand.NewPCG(n, 2))
	b := make([]byte, r.IntN(8000))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// TestKill kills commits at random moments: all acknowledged ones are there, and no half batch.
func TestKill(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	s := testkit.Call(Create(dir, Info{})).Must(t)
	testkit.Must(t, s.Close())
	r := rand.New(rand.NewPCG(1, 1))
	for round := range testkit.Rounds(2, 8) {
		acknowledged := runAndKill(t, dir, 1+r.IntN(150))
		s := testkit.Call(Open(dir)).Must(t)
		c := testkit.Call(s.Counts()).Must(t)
		if c.URLs < acknowledged {
			t.Fatalf("round %d: the store has %d, %d were acknowledged", round, c.URLs, acknowledged)
		}
		for n := uint64(1); n <= c.URLs; n++ {
			checkExchange(t, s, n)
		}
		if pages := all(t, s.Pages()); uint64(len(pages)) != c.URLs {
			t.Fatalf("round %d: %d pages, %d counted", round, len(pages), c.URLs)
		}
		seen := testkit.Call(lookedUp(s, HashURL(fmt.Sprint("http://h.example/", c.URLs+1)))).Must(t)
		if seen.ID != 0 {
			t.Fatalf("round %d: half of batch after %d is there", round, c.URLs)
		}
		testkit.Must(t, s.Close())
	}
}

func checkExchange(t *testing.T, s *Store, n uint64) {
	t.Helper()
	life, err := s.URLs().Life(fmt.Sprint("http://h.example/", n))
	if err != nil {
		t.Fatalf("exchange %d: %v", n, err)
	}
	body, err := s.Body(n)
	testkit.Must(t, err)
	if life.ID != ID(n) || life.Queued != nil || life.Outcome == nil || life.Page == nil || len(life.Visits) != 1 || string(body) != string(bodyOf(n)) {
		t.Fatalf("exchange %d is there in part: %+v, body of %d bytes", n, life, len(body))
	}
}

// runAndKill kills a child after some batches and returns the last acknowledged number.
func runAndKill(t *testing.T, dir string, batches int) (last uint64) {
	t.Helper()
	cmd, out := child(t, dir)
	lines := bufio.NewScanner(out)
	for lines.Scan() { // output still in the pipe after the kill counts as acknowledged
		n, err := strconv.ParseUint(lines.Text(), 10, 64)
		if err != nil {
			t.Fatalf("child: %s", lines.Text())
		}
		last = n
		if batches--; batches == 0 {
			testkit.Must(t, cmd.Process.Kill())
		}
	}
	_ = cmd.Wait()
	return last
}

func child(t *testing.T, dir string) (*exec.Cmd, io.Reader) {
	t.Helper()
	self := testkit.Call(os.Executable()).Must(t)
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^$")
	cmd.Env = append(os.Environ(), childDir+"="+dir)
	out := testkit.Call(cmd.StdoutPipe()).Must(t)
	testkit.Must(t, cmd.Start())
	return cmd, out
}

func TestSecondProcessIsRefused(t *testing.T) {
	s := create(t)
	cmd, out := child(t, s.Dir())
	said := testkit.Call(io.ReadAll(out)).Must(t)
	if err := cmd.Wait(); err == nil || !strings.Contains(string(said), ErrBusy.Error()) {
		t.Errorf("got %v and %q, want exit 1 and %q", err, said, ErrBusy)
	}
}

const childRepairs = "FOSSICK_TEST_STORE_REPAIRS"

func repairOnce(dir string, _ io.Writer) error {
	s, err := Open(dir)
	if err != nil {
		return err
	}
	_, err = s.repair(context.Background())
	if errors.Is(err, ErrLost) { // lost URLs that a killed repair had queued again
		err = nil
	}
	return errors.Join(err, s.Close())
}

// TestKillRepair kills repairs at random moments. After one that completes, verify finds nothing,
// and every unharmed page has its body.
func TestKillRepair(t *testing.T) {
	pages := uint64(testkit.Rounds(150, 600))
	dir := filepath.Join(t.TempDir(), "s")
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	harmed := harmedStore(t, dir, pages, r)
	took := repairInChild(t, dir, 0)
	checkRepaired(t, dir, harmed)
	testkit.Must(t, os.RemoveAll(dir))
	harmed = harmedStore(t, dir, pages, r)
	kills, most, ended := 0, testkit.Rounds(2, 10), 0
	if n, err := strconv.Atoi(os.Getenv("FOSSICK_KILLS")); err == nil {
		most = n
	}
	for kills+ended < most {
		if repairInChild(t, dir, time.Duration(r.Int64N(int64(took*5/4)))) > 0 {

			ended++
			checkRepaired(t, dir, harmed)
			testkit.Must(t, os.RemoveAll(dir))
			harmed = harmedStore(t, dir, pages, r)
			continue
		}
		kills++
	}
	repairInChild(t, dir, 0)
	checkRepaired(t, dir, harmed)
	t.Logf("%d kills, %d repairs came to their end before, %d pages of the last store had been harmed", kills, ended, len(harmed))
}

// harmedStore makes a store, damages every fifth page and returns the IDs of these pages.
func harmedStore(t *testing.T, dir string, pages uint64, r *rand.Rand) map[ID]bool {
	t.Helper()
	s := testkit.Call(Create(dir, Info{})).Must(t)
	for n := uint64(1); n <= pages; n++ {
		alter(t, s, func(b *Batch) { testkit.Must(t, putExchange(s, b, n), b.PutCounts(&Counts{URLs: n, Pages: n})) })
	}
	testkit.Call(s.repair(t.Context())).Must(t)
	harmed := map[ID]bool{}
	testkit.Must(t, s.db.Update(func(txn *badger.Txn) error {
		for n := uint64(1); n <= s.mustPages(t); n++ {
			if r.IntN(5) > 0 {
				continue
			}
			p := testkit.Call(s.Page(n)).Must(t)
			harmed[p.ID] = true
			switch h := HashURL(p.URL); r.IntN(4) {
			case 0:
				testkit.Must(t, txn.Delete(numKey(keyBody, n)))
			case 1:
				testkit.Must(t, txn.Delete(numKey(keyPage, n)))
			case 2:
				testkit.Must(t, txn.Delete(bytesKey(keySeen, h[:])))
			case 3:
				testkit.Must(t, txn.Set(numKey(keyOutcome, uint64(p.ID)), []byte{0xff}))
			}
		}
		return nil
	}))
	testkit.Must(t, s.Close())
	return harmed
}

func (s *Store) mustPages(t *testing.T) uint64 {
	t.Helper()
	c := testkit.Call(s.Counts()).Must(t)
	return c.Pages
}

func repairInChild(t *testing.T, dir string, d time.Duration) time.Duration {
	t.Helper()
	return workInChild(t, dir, childRepairs, d)
}

// workInChild runs a child's work, named by its environment variable, in a process that is killed
// after d (0: never). It returns how long that took, or 0 if killed.
func workInChild(t *testing.T, dir, work string, d time.Duration) time.Duration {
	t.Helper()
	self, err := os.Executable()
	testkit.Must(t, err)
	cmd := exec.Command(self, "-test.run=^$")
	cmd.Env = append(os.Environ(), childDir+"="+dir, work+"=1")
	var said bytes.Buffer
	cmd.Stdout = &said
	start := time.Now()
	testkit.Must(t, cmd.Start())
	if d > 0 {
		timer := time.AfterFunc(d, func() { _ = cmd.Process.Kill() })
		defer timer.Stop()
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() < 0 {
		return 0
	}
	if err != nil {
		t.Fatalf("%v: %s", err, said.Bytes())
	}
	return time.Since(start)
}

func checkRepaired(t *testing.T, dir string, harmed map[ID]bool) {
	t.Helper()
	s := testkit.Call(Open(dir)).Must(t)
	defer s.Close()
	if problems, err := s.Verify(t.Context()); err != nil || len(problems) > 0 {
		t.Fatalf("after the repair: %d problems: %.300v, %v", len(problems), problems, err)
	}
	c := testkit.Call(s.Counts()).Must(t)
	for id := ID(1); id <= ID(c.URLs); id++ {
		if harmed[id] {
			continue
		}
		life, err := s.URLs().Life(fmt.Sprint("http://h.example/", id))
		if err != nil || life.Page == nil {
			t.Fatalf("page %d, which was not harmed: %v, %+v", id, err, life)
		}
		if body, err := s.Body(life.Page.Number); err != nil || string(body) != string(bodyOf(uint64(id))) {
			t.Fatalf("page %d, which was not harmed: %d bytes, %v", id, len(body), err)
		}
	}
}
