package train

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"fossick/datasets"
	"fossick/internal/testkit"
	"fossick/models"
	"fossick/models/features"
)

// pagesOf is the variable that tells TestMemoryChild how many pages to train on.
const pagesOf = "FOSSICK_TEST_TRAIN_PAGES"

// endless makes n pages of four classes, with rare words that never recur.
func endless(n int) iter.Seq2[*datasets.Example, error] {
	return func(yield func(*datasets.Example, error) bool) {
		rng := rand.New(rand.NewPCG(13, 13))
		var text strings.Builder
		for i := range n {
			text.Reset()
			class := i % 4
			for k := range 40 {
				switch {
				case k%10 == 0:
					fmt.Fprintf(&text, "tell%cish%c ", 'a'+rune(class), 'a'+rune(rng.IntN(20)))
				case k%2 == 0:
					fmt.Fprintf(&text, "rare%sq ", letters(i*40+k))
				default:
					fmt.Fprintf(&text, "plain%sx ", letters(rng.IntN(3000)))
				}
			}
			e := &datasets.Example{URL: "http://s.test/page", Label: fmt.Sprint("class", class), Text: text.String()}
			if !yield(e, nil) {
				return
			}
		}
	}
}

func TestMemoryChild(t *testing.T) {
	pages, err := strconv.Atoi(os.Getenv(pagesOf))
	if err != nil {
		t.Skip("runs for TestMemoryIsBounded only")
	}
	const memory = 32 << 20
	debug.SetMemoryLimit(memory + 64<<20)
	_, rep, err := Train(context.Background(), endless(pages), Options{Classifier: "nb", Words: 60, Memory: memory})
	if err != nil {
		t.Fatal(err)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("accuracy %.3f, terms of %d pages lost, %d MiB in a file\n%s\n", rep.CV.Accuracy, rep.LostBelow, rep.Spilled>>20, status)
}

var (
	peakLine   = regexp.MustCompile(`VmHWM:\s*(\d+) kB`)
	childLine  = regexp.MustCompile(`accuracy ([0-9.]+), terms of (\d+) pages lost, (\d+) MiB in a file`)
	perPageMax = 250. // bytes: labels, sites, scores of the folds, and the few columns kept
)

// TestMemoryIsBounded trains on 30,000 and on 150,000 pages of ever new words, each in its own process. The
// larger set may take perPageMax more a page, and nothing for its words (docs/classifiers.md).
func TestMemoryIsBounded(t *testing.T) {
	testkit.Only(t, "trains on 180,000 pages")
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("peak memory is read from /proc")
	}
	peak := func(pages int) float64 {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestMemoryChild$", "-test.v")
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", pagesOf, pages))
		out, err := cmd.CombinedOutput()
		m, report := peakLine.FindSubmatch(out), childLine.FindSubmatch(out)
		if err != nil || m == nil || report == nil {
			t.Fatalf("%d pages: %v\n%s", pages, err, out)
		}
		kib, err := strconv.Atoi(string(m[1]))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d pages: %d MiB at most, %s", pages, kib>>10, report[0])
		if accuracy, err := strconv.ParseFloat(string(report[1]), 64); err != nil || accuracy < 0.99 {
			t.Errorf("%d pages: accuracy %v; the classes have words of their own", pages, accuracy)
		}
		return float64(kib) * 1024
	}
	// Other load and garbage collection only add to a peak, so the least of three counts.
	small, perPage := min(peak(30_000), peak(30_000), peak(30_000)), math.Inf(1)
	for try := 0; try < 3 && perPage > perPageMax; try++ {
		perPage = min(perPage, (peak(150_000)-small)/120_000)
	}
	if perPage > perPageMax {
		t.Errorf("%.0f bytes more a page, want %.0f at most", perPage, perPageMax)
	}
}

// wide makes n pages of three classes and twelve sites, with telling, common and rare words.
func wide(n, words int) iter.Seq2[*datasets.Example, error] {
	return func(yield func(*datasets.Example, error) bool) {
		rng := rand.New(rand.NewPCG(11, 11))
		for i := range n {
			label := []string{"gull", "crow", "wren"}[i%3]
			var text strings.Builder
			for range 40 {
				switch rng.IntN(8) {
				case 0:
					fmt.Fprintf(&text, "%sish%c ", label, 'a'+rune(rng.IntN(20)))
				case 1:
					fmt.Fprintf(&text, "rare%sq ", letters(rng.IntN(words)))
				default:
					fmt.Fprintf(&text, "plain%c%c ", 'a'+rune(rng.IntN(10)), 'a'+rune(rng.IntN(10)))
				}
			}
			e := &datasets.Example{URL: fmt.Sprintf("http://s%d.test/%d", i%12, i), Label: label,
				Site: fmt.Sprint("s", i%12), Text: text.String()}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// letters writes a number in letters, because numbers are another kind of term.
func letters(n int) string {
	s := ""
	for ; n > 0 || s == ""; n /= 26 {
		s += string(rune('a' + n%26))
	}
	return s
}

func bytesOf(t *testing.T, m *models.Model) []byte {
	t.Helper()
	var b bytes.Buffer
	testkit.Must(t, m.Write(&b))
	return b.Bytes()
}

// little is a memory with room for the vocabulary of these tests, but not for all rows.
const little = 300 << 10

// TestSameModelFromFile: if the selected words fit, rows from a file and from memory give the same bytes.
func TestSameModelFromFile(t *testing.T) {
	testkit.Only(t, "seconds of processor time")
	for _, opt := range []Options{
		{Classifier: "c45", Words: 25}, {Classifier: "cn2", Words: 8}, {Classifier: "linear", Words: 40},
		{Classifier: "nb", Mu: 0.02}, {Classifier: "nb", Words: 30, Select: features.ByGain},
		{Classifier: "nb", Words: 30, MinSites: 5, BySite: true}, {Classifier: "linear", Words: 20, Target: Target{Topic: "crow"}},
	} {
		name := fmt.Sprintf("%s words %d mu %v %s", opt.Classifier, opt.Words, opt.Mu, opt.Topic)
		want, rep, err := Train(context.Background(), wide(600, 500), opt)
		if err != nil {
			t.Fatal(err)
		}
		if rep.Spilled != 0 || rep.LostBelow != 0 {
			t.Fatalf("%s: %d bytes in a file, terms of %d pages lost: the first was to be in memory", name, rep.Spilled, rep.LostBelow)
		}
		opt.Memory = little
		got, rep, err := Train(context.Background(), wide(600, 500), opt)
		if err != nil {
			t.Fatal(err)
		}
		if rep.Spilled == 0 || rep.LostBelow != 0 {
			t.Fatalf("%s: %d bytes in a file, terms of %d pages lost: the second was to be in a file", name, rep.Spilled, rep.LostBelow)
		}
		if !bytes.Equal(bytesOf(t, want), bytesOf(t, got)) {
			t.Errorf("%s: not the same model from a file: %v and %v", name, want.Terms, got.Terms)
		}
	}
}

// TestAllWordsInLittleMemory: learners of all words get as many as fit, and the model's card says so.
func TestAllWordsInLittleMemory(t *testing.T) {
	all, _, err := Train(context.Background(), wide(600, 500), Options{Classifier: "linear"})
	if err != nil {
		t.Fatal(err)
	}
	opt := Options{Classifier: "linear", Memory: little}
	m, rep, err := Train(context.Background(), wide(600, 500), opt)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Terms) >= len(all.Terms) || len(m.Terms) < 60 || m.Card.Settings["words_at_most"] != fmt.Sprint(len(m.Terms)) {
		t.Errorf("%d of %d words, %q in the card", len(m.Terms), len(all.Terms), m.Card.Settings["words_at_most"])
	}
	if !slices.Contains(m.Terms, "gullisha") {
		t.Errorf("a telling word is missing: %v", m.Terms)
	}
	if rep.CV.Accuracy < 0.95 {
		t.Errorf("accuracy %v of the words that fit", rep.CV.Accuracy)
	}
}

// TestVocabularyInLittleMemory: rare words go, words that tell a class stay, and the loss is reported.
func TestVocabularyInLittleMemory(t *testing.T) {
	opt := Options{Classifier: "nb", Words: 60, Memory: 2 * little}
	m, rep, err := Train(context.Background(), wide(2000, 100_000), opt)
	if err != nil {
		t.Fatal(err)
	}
	if rep.LostBelow < 1 || rep.LostBelow > 50 || m.Card.Settings["terms_lost_below"] != fmt.Sprint(rep.LostBelow) {
		t.Errorf("terms of %d pages lost, %q in the card", rep.LostBelow, m.Card.Settings["terms_lost_below"])
	}
	for _, w := range []string{"gullisha", "crowishb", "wrenishc"} {
		if !slices.Contains(m.Terms, w) {
			t.Errorf("the telling word %s is missing", w)
		}
	}
	if rep.CV.Accuracy < 0.95 {
		t.Errorf("accuracy %v", rep.CV.Accuracy)
	}
	again, _, err := Train(context.Background(), wide(2000, 100_000), opt)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytesOf(t, m), bytesOf(t, again)) {
		t.Error("the same set gives another model the second time")
	}
}

// TestNothingLeftBehind: the file is gone after a run, a broken stream and an interruption.
func TestNothingLeftBehind(t *testing.T) {
	errBroken := errors.New("the line broke")
	ctx, cancel := context.WithCancel(context.Background())
	for _, c := range []struct {
		name string
		ctx  context.Context
		end  func(yield func(*datasets.Example, error) bool)
		want error
	}{
		{"a whole run", context.Background(), func(func(*datasets.Example, error) bool) {}, nil},
		{"a broken stream", context.Background(), func(yield func(*datasets.Example, error) bool) { yield(nil, errBroken) }, errBroken},
		{"an interruption", ctx, func(func(*datasets.Example, error) bool) { cancel() }, context.Canceled},
	} {
		dir, filed := t.TempDir(), false
		t.Setenv("TMPDIR", dir)
		examples := func(yield func(*datasets.Example, error) bool) {
			for e, err := range wide(600, 500) {
				if !yield(e, err) {
					return
				}
			}
			c.end(yield)
		}
		_, rep, err := Train(c.ctx, examples, Options{Classifier: "nb", Words: 30, Memory: little})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		filed = err != nil || rep.Spilled > 0
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 || !filed {
			t.Errorf("%s: %v left behind, %v", c.name, left, err)
		}
	}
}

// TestFormsAreBounded: forms stay below their limit, and frequent stems keep their most frequent form.
func TestFormsAreBounded(t *testing.T) {
	n := newNouns(100)
	for i := range 500 {
		n.add("any", features.Doc{Text: fmt.Sprintf("banks banks bank rare%sq rare%su", letters(i), letters(i)), Lang: "en"})
		if len(n.forms) > n.limit {
			t.Fatalf("page %d: %d forms, want %d at most", i, len(n.forms), n.limit)
		}
	}
	n.settle()
	if got := n.form("bank"); got != "banks" {
		t.Errorf("the form of bank is %q, want banks", got)
	}
}

// TestNoRoomForFoldsOnly: memory for all rows but not for two folds gives a large memory's model.
func TestNoRoomForFoldsOnly(t *testing.T) {
	for _, opt := range []Options{{Classifier: "nb"}, {Classifier: "nb", Mu: 0.001}} {
		want, _, err := Train(context.Background(), wide(600, 300), opt)
		if err != nil {
			t.Fatal(err)
		}
		distinct := func(words []string) int { return len(slices.Compact(slices.Sorted(slices.Values(words)))) }
		cells := 0
		for e := range wide(600, 300) {
			words := strings.Fields(e.Text)
			cells += distinct(words) + distinct(words[:min(opt.lead(false), len(words))])
		}
		opt.Memory = int64(cells) * 20 * 4 / 3 // between 24 bytes and 16 for each, of three quarters
		if !(int64(cells) < opt.cells(1) && int64(cells) > opt.cells(2)) {
			t.Fatalf("%d terms of pages: not between %d and %d", cells, opt.cells(2), opt.cells(1))
		}
		got, rep, err := Train(context.Background(), wide(600, 300), opt)
		if err != nil {
			t.Fatal(err)
		}
		if rep.LostBelow != 0 {
			t.Fatalf("μ %v: terms of %d pages lost; all were to fit", opt.Mu, rep.LostBelow)
		}
		if !bytes.Equal(bytesOf(t, want), bytesOf(t, got)) {
			t.Errorf("μ %v: not the same model in little memory", opt.Mu)
		}
	}
}

func randomRow(rng *rand.Rand) features.Vector {
	var v features.Vector
	term := int32(rng.IntN(3))
	for range rng.IntN(40) {
		count := float32(1 + rng.IntN(5))
		switch rng.IntN(20) {
		case 0:
			count = rng.Float32() * 9 // as a weight that is no count would be
		case 1:
			count = 1 << 24
		}
		v.Index, v.Value = append(v.Index, term), append(v.Value, count)
		term += 1 + int32(rng.IntN(1000))
	}
	return v
}

// TestRowLog: rows come back the same from memory, from both, and from a file alone, each time.
func TestRowLog(t *testing.T) {
	for _, limit := range []int{1 << 30, 5000, 0} {
		dir := t.TempDir()
		t.Setenv("TMPDIR", dir)
		l := &rowLog{limit: limit}
		rng := rand.New(rand.NewPCG(1, 2))
		var want []features.Vector
		for range 3 {
			for range 200 {
				v := randomRow(rng)
				want = append(want, v)
				testkit.Must(t, l.add(v))
			}
			pages := 0
			err := l.each(context.Background(), func(page int, v features.Vector) error {
				if pages++; !slices.Equal(v.Index, want[page].Index) || !slices.Equal(v.Value, want[page].Value) {
					t.Fatalf("limit %d, page %d: %v, want %v", limit, page, v, want[page])
				}
				return nil
			})
			if err != nil || pages != len(want) {
				t.Fatalf("limit %d: %d pages, %v; want %d", limit, pages, err, len(want))
			}
		}
		if inFile := l.file != nil; inFile != (limit < 1<<30) {
			t.Errorf("limit %d: in a file: %v", limit, inFile)
		}
		if err := l.close(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("limit %d: %v left behind, %v", limit, left, err)
		}
	}
}

func TestRowLogErrors(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "nowhere"))
	l := &rowLog{}
	err := l.add(features.Vector{Index: []int32{1}, Value: []float32{1}})
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("no folder for the file: %v", err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	l = &rowLog{}
	testkit.Must(t, l.add(features.Vector{Index: []int32{1, 5}, Value: []float32{1, 2}}))
	defer l.close()
	testkit.Must(t, l.file.Truncate(2))
	read := func() error {
		return l.each(context.Background(), func(int, features.Vector) error { return nil })
	}
	if err := read(); !errors.Is(err, errRow) {
		t.Errorf("a file that is cut short: %v, want %v", err, errRow)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := l.each(ctx, func(int, features.Vector) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("after an interruption: %v", err)
	}
}

// FuzzReadRow: readRow accepts only what appendRow would write.
func FuzzReadRow(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 5 {
		f.Add(appendRow(nil, randomRow(rng)))
	}
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2})
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := readRow(features.Vector{}, b)
		if err != nil {
			return
		}
		again, err := readRow(features.Vector{}, appendRow(nil, v))
		if err != nil || !slices.Equal(again.Index, v.Index) || !slices.EqualFunc(again.Value, v.Value, func(a, b float32) bool {
			return a == b || math.IsNaN(float64(a)) && math.IsNaN(float64(b))
		}) {
			t.Fatalf("%v became %v, %v", v, again, err)
		}
	})
}

// TestLossy: with room for a tenth of Zipf's words, the bound holds and is useful.
func TestLossy(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	zipf := func() int { return int(math.Pow(20000, rng.Float64())) } // about 1/x
	lex := features.NewLexicon()
	x := features.NewExtractor(features.ExtractorOptions{Analyzer: features.AnalyzerOptions{NoStem: true}}, lex)
	tl := lossy{lex: lex, limit: 2000}
	truth := map[string]int32{}
	var v features.Vector
	const pages = 4000
	dropped := 0
	for page := range pages {
		text, seen := "", map[string]bool{}
		for range 20 {
			w := fmt.Sprintf("w%dx", zipf())
			text += w + " "
			if !seen[w] {
				seen[w] = true
				truth[w]++
			}
		}
		v = x.Count(v, features.Doc{Text: text})
		if tl.add(page, v) {
			x.Forget()
			dropped++
		}
		if lex.Live() > tl.limit {
			t.Fatalf("page %d: %d terms, want %d at most", page, lex.Live(), tl.limit)
		}
	}
	if len(truth) < 3*tl.limit || dropped < 3 {
		t.Fatalf("%d words, dropped %d times: the test does not test", len(truth), dropped)
	}
	if tl.bound < 1 || tl.bound > pages/50 {
		t.Errorf("bound %d of %d pages", tl.bound, pages)
	}
	number := map[string]int32{}
	for i, term := range lex.Terms() {
		number[term] = int32(i)
	}
	exact := 0
	for w, n := range truth {
		i, kept := number[w]
		if !kept {
			if n > tl.bound {
				t.Fatalf("%s is on %d pages and missing; bound %d", w, n, tl.bound)
			}
			continue
		}
		if df := tl.df[i]; df > n || n > df+tl.lost[i] || tl.lost[i] > tl.bound {
			t.Fatalf("%s is on %d pages, counted on %d, lost %d at most; bound %d", w, n, df, tl.lost[i], tl.bound)
		}
		if tl.df[i] == n {
			exact++
		}
	}
	t.Logf("%d words, %d kept, %d of them exact, dropped %d times, bound %d", len(truth), lex.Live(), exact, dropped, tl.bound)
}
