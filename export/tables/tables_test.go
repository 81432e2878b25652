package tables

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"fossick/export"
	"fossick/internal/testkit"
	"fossick/store"
)

// decoded parses a binary COPY file after PostgreSQL's manual. types are those of the columns.
func decoded(t *testing.T, path string, types ...uint32) (rows []string) {
	t.Helper()
	b := read(t, path)
	head := "PGCOPY\n\377\r\n\000" + strings.Repeat("\000", 8)
	if !bytes.HasPrefix(b, []byte(head)) {
		t.Fatalf("%s begins with % x", path, b[:min(len(b), 30)])
	}
	b = b[len(head):]
	take := func(n int) []byte {
		if len(b) < n {
			t.Fatalf("%s ends too early", path)
		}
		taken := b[:n]
		b = b[n:]
		return taken
	}
	m := pgtype.NewMap()
	for {
		n := int16(binary.BigEndian.Uint16(take(2)))
		if n == -1 {
			if len(b) > 0 {
				t.Fatalf("%s: %d bytes behind the end", path, len(b))
			}
			return rows
		}
		if int(n) != len(types) {
			t.Fatalf("%s: %d columns", path, n)
		}
		values := make([]any, n)
		for i, oid := range types {
			size := int32(binary.BigEndian.Uint32(take(4)))
			if size == -1 {
				values[i] = null
				continue
			}
			var err error
			values[i], err = value(m, oid, take(int(size)))
			if err != nil {
				t.Fatal(err)
			}
		}
		rows = append(rows, row(values...))
	}
}

func value(m *pgtype.Map, oid uint32, b []byte) (any, error) {
	switch oid {
	case pgtype.Int8OID:
		var v int64
		err := m.Scan(oid, pgtype.BinaryFormatCode, b, &v)
		return v, err
	case pgtype.Float8OID:
		var v float64
		err := m.Scan(oid, pgtype.BinaryFormatCode, b, &v)
		return v, err
	case pgtype.TimestamptzOID:
		var v time.Time
		err := m.Scan(oid, pgtype.BinaryFormatCode, b, &v)
		return v.UnixMilli(), err
	}
	var v string
	err := m.Scan(oid, pgtype.BinaryFormatCode, b, &v)
	return v, err
}

const (
	integer = pgtype.Int8OID
	text    = pgtype.TextOID
)

// TestBytes compares with bytes written by hand after PostgreSQL's manual.
func TestBytes(t *testing.T) {
	m := &manifest{dir: t.TempDir()}
	rows, err := m.table("a.copy")
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(
		rows.add(-2, 1.0, "é", time.Date(2000, 1, 1, 0, 0, 1, 0, time.UTC)),
		rows.add(258, -0.5, "\x00", time.Date(1999, 12, 31, 23, 59, 59, 999999000, time.UTC)),
		rows.Close())
	want := "5047434f50590aff0d0a00" + "00000000" + "00000000" +
		"0004" + "00000008fffffffffffffffe" + "000000083ff0000000000000" + "00000002c3a9" + "0000000800000000000f4240" +
		"0004" + "000000080000000000000102" + "00000008bfe0000000000000" + "ffffffff" + "00000008ffffffffffffffff" +
		"ffff"
	if got := hex.EncodeToString(read(t, filepath.Join(m.dir, "a.copy"))); got != want || err != nil {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
}

func compare(t *testing.T, out string, want expected) {
	t.Helper()
	file := func(name string) string { return filepath.Join(out, name) }
	for _, table := range []struct {
		name string
		got  []string
		want []string
	}{
		{"pages", decoded(t, file("pages.copy"), integer, integer, text, text, text, text, text, pgtype.Float8OID, pgtype.TimestamptzOID, integer), want.pages},
		{"sites", decoded(t, file("sites.copy"), integer, integer, integer, text, integer, text, text, integer), want.sites},
		{"domains", decoded(t, file("domains.copy"), integer, text, integer, integer), want.domains},
		{"communities", decoded(t, file("communities.copy"), integer, text, integer, integer), want.communities},
		{"links", decoded(t, file("links.copy"), integer, integer), want.links},
		{"link file", linksIn(t, file("links.bin"), len(want.pages)), want.links},
		{"names", strings.Split(strings.TrimSuffix(string(read(t, file("links.urls.tsv"))), "\n"), "\n"), named(want.pages)},
	} {
		if !slices.Equal(table.got, table.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", table.name, strings.Join(table.got, "\n"), strings.Join(table.want, "\n"))
		}
	}
}

func named(pages []string) (lines []string) {
	for _, p := range pages {
		parts := strings.Split(p, "\t")
		lines = append(lines, parts[0]+"\t"+parts[2])
	}
	return lines
}

func linksIn(t *testing.T, path string, pages int) (rows []string) {
	t.Helper()
	r, done, err := export.OpenLinks(path)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	if r.Pages != uint64(pages) {
		t.Errorf("the link file has %d pages, want %d", r.Pages, pages)
	}
	for {
		source, destinations, err := r.Next()
		if errors.Is(err, io.EOF) {
			return rows
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, to := range destinations {
			rows = append(rows, row(source, to))
		}
	}
}

// TestDefinition compares random conversions with their definition, and their bytes with small sorters.
func TestDefinition(t *testing.T) {
	for seed := range uint64(testkit.Rounds(2, 20)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			crawls := world(rng, 1+rng.IntN(3), 20+rng.IntN(60))
			if seed%2 == 1 { // an agent without pages
				crawls = append(crawls, crawl{})
			}
			dirs, want := written(t, crawls), expect(crawls)
			loose, tight := options(dirs, filepath.Join(t.TempDir(), "loose")), options(dirs, filepath.Join(t.TempDir(), "tight"))
			tight.Tight()
			r, err := Run(t.Context(), loose)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, loose.Dir, want)
			if c := (Counts{Pages: uint64(len(want.pages)), Sites: uint64(len(want.sites)), Domains: uint64(len(want.domains)),
				Communities: uint64(len(want.communities)), Links: uint64(len(want.links)), Repeated: want.repeated}); r.Counts != c {
				t.Errorf("counted %+v, want %+v", r.Counts, c)
			}
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			if _, err := Run(t.Context(), tight); err != nil {
				t.Fatal(err)
			}
			if same, err := export.Equal(loose.Dir, tight.Dir); !same || err != nil {
				t.Errorf("with sorters that spill, on one processor, the bytes are others, %v", err)
			}
		})
	}
}

// TestCutOff: an interrupted conversion has no folder, and resumed runs give the same bytes.
func TestCutOff(t *testing.T) {
	t.Parallel()
	crawls := world(rand.New(rand.NewPCG(5, 2)), 2, 60)
	dirs := written(t, crawls)
	whole := options(dirs, filepath.Join(t.TempDir(), "out"))
	whole.Tight()
	things := 0
	whole.Did, whole.Step = func(int) { things++ }, func(string, int) { things++ }
	if _, err := Run(t.Context(), whole); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, each := range []int{things / 2, things / 3, things / 5, things / 7, things / 11}[:testkit.Rounds(1, 5)] {
		opt := options(dirs, filepath.Join(t.TempDir(), "out"))
		opt.Tight()
		for runs := 0; ; runs++ {
			if runs > 100 {
				t.Fatal("it makes no way")
			}
			if runs == 1 { // a kill during the write of the manifest leaves this
				if err := os.WriteFile(filepath.Join(filepath.Dir(opt.Dir), ".out.convert", ".manifest.json-1"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			left := each + runs*7
			count := func() {
				if left--; left == 0 {
					cancel()
				}
			}
			opt.Did, opt.Step = func(int) { count() }, func(string, int) { count() }
			r, err := Run(ctx, opt)
			cancel()
			if err == nil {
				found += r.Found
				break
			}
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			if _, err := os.Stat(opt.Dir); err == nil {
				t.Fatal("it has its name before it is whole")
			}
		}
		if same, err := export.Equal(opt.Dir, whole.Dir); !same || err != nil {
			t.Errorf("after runs that were cut off the bytes are others, %v", err)
		}
		if entries, err := os.ReadDir(filepath.Dir(opt.Dir)); len(entries) != 1 || err != nil {
			t.Errorf("beside it there are %v, %v", entries, err)
		}
	}
	if found == 0 {
		t.Error("no run took anything over")
	}
}

func cutOff(t *testing.T, opt Options, after string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	opt.Step = func(what string, _ int) {
		if strings.HasPrefix(what, after) {
			cancel()
		}
	}
	if _, err := Run(ctx, opt); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

// TestGoesOn interrupts a conversion at each step; the next run keeps the finished parts.
func TestGoesOn(t *testing.T) {
	t.Parallel()
	dirs := written(t, world(rand.New(rand.NewPCG(9, 2)), 2, 40))
	whole := options(dirs, filepath.Join(t.TempDir(), "out"))
	if _, err := Run(t.Context(), whole); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		name  string
		found int
		done  []string // steps not to be repeated
	}{
		{"joining links", 13, []string{"writing tables"}},
		{"resolving links of crawl1", 4, nil},
		{"resolving links of crawl0", 1, nil},
		{"reading crawl1", 3, nil},
		{"numbering pages", 6, nil},
		{"writing tables", 6, nil},
	}[:testkit.Rounds(2, 6)] {
		opt := options(dirs, filepath.Join(t.TempDir(), "out"))
		cutOff(t, opt, step.name)
		opt.Step = func(what string, _ int) {
			if slices.Contains(step.done, what) {
				t.Errorf("after %s, %s again", step.name, what)
			}
		}
		r, err := Run(t.Context(), opt)
		if err != nil || r.Found != step.found {
			t.Errorf("after %s: %+v, %v; want %d files found", step.name, r, err, step.found)
		}
		if same, err := export.Equal(opt.Dir, whole.Dir); !same || err != nil {
			t.Errorf("after %s the bytes are others, %v", step.name, err)
		}
	}
}

// TestGoesOnInAStore interrupts reading a store; the next run keeps the finished chunks.
func TestGoesOnInAStore(t *testing.T) {
	t.Parallel()
	dirs := written(t, world(rand.New(rand.NewPCG(10, 2)), 1, 160))
	whole, opt := options(dirs, filepath.Join(t.TempDir(), "out")), options(dirs, filepath.Join(t.TempDir(), "out"))
	whole.Tight()
	opt.Tight()
	if _, err := Run(t.Context(), whole); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cut, reading, looked := opt, false, 0
	cut.Step = func(what string, _ int) { reading = what == "reading crawl0" }
	cut.Did = func(int) {
		if !reading {
			return
		}
		if looked++; looked == 45 { // of about 70; a few are in flight
			cancel()
		}
	}
	if _, err := Run(ctx, cut); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), opt)
	if err != nil || r.Found < 2 || r.Found > 4 {
		t.Errorf("%+v, %v; want some chunks found", r, err)
	}
	if same, err := export.Equal(opt.Dir, whole.Dir); !same || err != nil {
		t.Errorf("the bytes are others, %v", err)
	}
}

// TestRefused: a conversion started with other inputs is not resumed, and the error says why.
func TestRefused(t *testing.T) {
	t.Parallel()
	crawls := world(rand.New(rand.NewPCG(6, 2)), 3, 30)
	dirs := written(t, crawls)
	half, done := options(dirs[:2], filepath.Join(t.TempDir(), "half")), options(dirs[:2], filepath.Join(t.TempDir(), "done"))
	cutOff(t, half, "writing tables")
	if r, err := Run(t.Context(), done); err != nil || r.Found != 0 {
		t.Fatal(r, err)
	}
	if r, err := Run(t.Context(), done); err != nil || r.Found == 0 {
		t.Errorf("the same once more: %+v, %v", r, err)
	}
	for _, opt := range []Options{half, done} {
		others, version := opt, opt
		others.Stores = dirs[1:]
		version.Version = "later"
		for says, opt := range map[string]Options{"other stores: crawl0, crawl1": others, "another version of fossick (test)": version} {
			if _, err := Run(t.Context(), opt); !errors.Is(err, errChanged) || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v", says, err)
			}
		}
	}
	s, err := store.Open(dirs[1])
	if err != nil {
		t.Fatal(err)
	}
	b := s.Batch()
	if err := errors.Join(b.PutLabel(1, store.Label{Label: "sport", Kept: true}), b.Commit(), s.Close()); err != nil {
		t.Fatal(err)
	}
	for _, opt := range []Options{half, done} {
		if _, err := Run(t.Context(), opt); !errors.Is(err, errChanged) || !strings.Contains(err.Error(), "crawl1, which has changed since") {
			t.Errorf("a store that was refined meanwhile: %v", err)
		}
	}
	if _, err := Run(t.Context(), options([]string{dirs[0], dirs[0]}, half.Dir)); err == nil {
		t.Error("a store that is named twice")
	}
	moved := options(dirs[:2], filepath.Join(t.TempDir(), "moved"))
	if err := os.Rename(filepath.Join(filepath.Dir(half.Dir), ".half.convert"), moved.Dir); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), moved); !errors.Is(err, export.ErrThere) {
		t.Errorf("a half that was given the name: %v", err)
	}
	if _, err := Run(t.Context(), options(dirs, filepath.Dir(dirs[0]))); !errors.Is(err, export.ErrThere) {
		t.Errorf("a folder with something else: %v", err)
	}
}

// TestDamagedParts: a changed file is reported, whether or not the conversion was finished.
func TestDamagedParts(t *testing.T) {
	t.Parallel()
	dirs := written(t, world(rand.New(rand.NewPCG(7, 2)), 1, 30))
	half, done := options(dirs, filepath.Join(t.TempDir(), "out")), options(dirs, filepath.Join(t.TempDir(), "out"))
	cutOff(t, half, "numbering")
	if _, err := Run(t.Context(), done); err != nil {
		t.Fatal(err)
	}
	for path, opt := range map[string]Options{
		filepath.Join(filepath.Dir(half.Dir), ".out.convert", "parts", "0", "pages-00000"): half,
		filepath.Join(done.Dir, "links.bin"):                                               done,
	} {
		b := read(t, path)
		b[len(b)/2]++
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Run(t.Context(), opt); !errors.Is(err, errDamaged) || !strings.Contains(err.Error(), filepath.Base(path)) {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
	}
	for _, other := range []string{"{", `{"name": "an app of the web"}`} {
		if err := os.WriteFile(filepath.Join(done.Dir, "manifest.json"), []byte(other), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Run(t.Context(), done); !errors.Is(err, errDamaged) {
			t.Errorf("a manifest of %s: %v", other, err)
		}
	}
}

func TestPartial(t *testing.T) {
	t.Parallel()
	c := crawl{pages: []made{{url: "http://a.test/", title: "a", text: "words", links: []string{"http://a.test/b"}}, {url: "http://a.test/b", text: "more"}}}
	dir := written(t, []crawl{c})[0]
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Page(1)
	if err != nil {
		t.Fatal(err)
	}
	b := s.Batch()
	body := s.Compress([]byte(strings.Repeat("words ", 100)))
	if err := errors.Join(b.PutPage(p, body[:len(body)/2]), b.Commit(), s.Close()); err != nil {
		t.Fatal(err)
	}
	opt := options([]string{dir}, filepath.Join(t.TempDir(), "out"))
	if _, err := Run(t.Context(), opt); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("a damaged body: %v", err)
	}
	opt = options([]string{dir}, filepath.Join(t.TempDir(), "out"))
	opt.Collection.Partial = true
	r, err := Run(t.Context(), opt)
	if err != nil || r.Damaged != 1 || r.Pages != 2 || r.Links != 1 {
		t.Errorf("with partial: %+v, %v", r, err)
	}
	opt.Collection.Partial = false
	if _, err := Run(t.Context(), opt); !errors.Is(err, errChanged) || !strings.Contains(err.Error(), "with --partial") {
		t.Errorf("what lacks something is taken for the whole: %v", err)
	}
}

// TestRanges: ranges are disjoint, consecutive, and in agent order.
func TestRanges(t *testing.T) {
	got, err := idRanges([]uint64{3, 0, 5})
	if want := []idRange{{0, 3}, {3, 0}, {3, 5}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	if _, err := idRanges([]uint64{1 << 31, 1<<31 - 1}); err != nil {
		t.Error(err)
	}
	if _, err := idRanges([]uint64{1 << 31, 1 << 31}); err == nil {
		t.Error("more pages than there are ids")
	}
}

// TestPostgresLoads loads a conversion with psql and its own script, twice, and reads the tables back.
func TestPostgresLoads(t *testing.T) {
	testkit.Only(t, "starts a PostgreSQL; by default what is loaded is decoded")
	t.Parallel()
	psql, address := testkit.Program(t, "psql"), testkit.Postgres(t)
	crawls := world(rand.New(rand.NewPCG(8, 2)), 3, 200)
	want := expect(crawls)
	opt := options(written(t, crawls), filepath.Join(t.TempDir(), "out"))
	if _, err := Run(t.Context(), opt); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), psql, append([]string{"-X", "-q", "-d", address}, args...)...)
		c.Dir = opt.Dir
		return strings.TrimSuffix(string(testkit.Output(t, c)), "\n")
	}
	run("-f", "load.sql")
	run("-v", "schema=again", "-f", "load.sql")
	for _, schema := range []string{"converted", "again"} {
		for table, rows := range map[string][]string{
			"pages":   want.pages,
			"sites":   want.sites,
			"domains": want.domains, "communities": want.communities, "links": want.links,
		} {
			columns, order := "*", "1"
			switch table {
			case "pages":
				columns = "page_id, site_id, url, title, description, language, label, score, (extract(epoch FROM fetched) * 1000)::bigint, bytes"
			case "links":
				order = "1, 2"
			}
			got := run("-A", "-t", "-F", "\t", "-P", "null="+null, "-c", fmt.Sprintf("SELECT %s FROM %s.%s ORDER BY %s", columns, schema, table, order))
			if got != strings.Join(rows, "\n") {
				t.Errorf("%s.%s has\n%s\nwant\n%s", schema, table, got, strings.Join(rows, "\n"))
			}
		}
	}
	if got := run("-A", "-t", "-c", "SELECT count(*) FROM converted.links l JOIN converted.pages p ON p.page_id = l.target JOIN converted.sites USING (site_id)"); got != fmt.Sprint(len(want.links)) {
		t.Errorf("%s links lead to sites, want %d", got, len(want.links))
	}
}

// Tight makes sorters spill and chunks end after a few items.
func (o *Options) Tight() { o.limits = limits{15, 400, 300} }
