package train

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"fossick/datasets"
	"fossick/internal/fulltest"
)

// pagesOf is the variable by which TestMemoryIsBounded tells its child how many pages to train on.
const pagesOf = "FOSSICK_TEST_TRAIN_PAGES"

// endless makes n pages of four classes whose rare words never come again.
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

// TestMemoryChild is the process that TestMemoryIsBounded measures.
func TestMemoryChild(t *testing.T) {
	pages, err := strconv.Atoi(os.Getenv(pagesOf))
	if err != nil {
		t.Skip("runs for TestMemoryIsBounded only")
	}
	const memory = 32 << 20
	debug.SetMemoryLimit(memory + 64<<20)
	_, rep, err := Train(context.Background(), endless(pages), Options{Classifier: "nb", Words: 60, Memory: memory, Tmp: t.TempDir()})
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

// TestMemoryIsBounded trains on 30,000 and on 150,000 pages of ever new words in processes of their
// own. The larger set may take a little more a page, as docs/training.md says, and nothing for its
// words.
func TestMemoryIsBounded(t *testing.T) {
	fulltest.Only(t, "trains on 180,000 pages")
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
	// What runs beside and the collector's turns only add to a peak: the least of three is what the set
	// needs.
	need := func(pages int) float64 { return min(peak(pages), peak(pages), peak(pages)) }
	small, large := need(30_000), need(150_000)
	if perPage := (large - small) / 120_000; perPage > perPageMax {
		t.Errorf("%.0f bytes more a page, want %.0f at most", perPage, perPageMax)
	}
}
