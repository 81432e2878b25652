package train

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"fossick/datasets"
	"fossick/models/features"
)

// TestWeka sets our trees and rules beside Weka's on the same rows and columns,
// in one run, and prints a line of a table for each:
//
//	FOSSICK_WEKA=/usr/share/java/weka.jar FOSSICK_DATA=data go test ./train -run TestWeka -v
//
// SETS picks some of webkb, wikispeedia and 20news, WEKA some of J48, JRip and
// PART, WORDS another number of words. Weka's time is its own "Time taken to
// build model", without the start of Java and the reading of the file.
func TestWeka(t *testing.T) {
	jar := os.Getenv("FOSSICK_WEKA")
	if jar == "" {
		t.Skip("no Weka; set FOSSICK_WEKA to weka.jar")
	}
	for _, p := range protocols {
		if !picked("SETS", p.name) {
			continue
		}
		opt := Options{Target: Target{Labels: p.labels}, Folds: 5, Words: p.words}
		if n, err := strconv.Atoi(os.Getenv("WORDS")); err == nil {
			opt.Words = n
		}
		c, parts := p.read(t, &opt)
		for _, part := range p.parts {
			var in, out []int
			for row, its := range parts {
				if its == part {
					out = append(out, row)
				} else {
					in = append(in, row)
				}
			}
			for _, l := range []learner{c45{}, newCN2(false)} {
				accuracy, size, took := ours(t, c, l, in, out, &opt)
				t.Logf("| %s %s | %s | %.3f | %d | %.2f s |", p.name, part, l.name(), accuracy, size, took.Seconds())
			}
			for name, args := range map[string]string{"J48": "trees.J48", "JRip": "rules.JRip", "PART": "rules.PART"} {
				if picked("WEKA", name) {
					accuracy, took := theirs(t, jar, "weka.classifiers."+args, c, in, out, &opt)
					t.Logf("| %s %s | %s | %.3f | | %.2f s |", p.name, part, name, accuracy, took.Seconds())
				}
			}
		}
	}
}

// protocol is how a corpus is parted into training and test.
type protocol struct {
	name, data string
	labels     []string
	words      int
	parts      []string // each held out in turn
	part       func(n int, e *datasets.Example) string
}

var protocols = []protocol{
	{"webkb", "webkb", []string{"student", "faculty", "course", "project"}, 77,
		[]string{"texas", "washington", "cornell", "misc"},
		func(_ int, e *datasets.Example) string { return e.Site }},
	{"wikispeedia", "wikispeedia/train.jsonl.zst", nil, 77, []string{"0", "1", "2", "3", "4"},
		func(n int, _ *datasets.Example) string { return strconv.Itoa(n % 5) }},
	{"20news", "20news", nil, 500, []string{"test"},
		func(_ int, e *datasets.Example) string { return e.Split }},
}

func picked(env, name string) bool {
	list := strings.Fields(os.Getenv(env))
	for _, s := range list {
		if s == name {
			return true
		}
	}
	return len(list) == 0
}

// read returns the rows of a corpus and the part that each belongs to.
func (p *protocol) read(t testing.TB, opt *Options) (*corpus, []string) {
	var parts []string
	set := examples(t, p.data)
	n := -1
	c, err := gather(context.Background(), func(yield func(*datasets.Example, error) bool) {
		for e, err := range set.Examples() {
			n++
			if err == nil {
				if opt.Class(e) == "" {
					continue
				}
				parts = append(parts, p.part(n, e))
			}
			if !yield(e, err) {
				return
			}
		}
	}, opt, &Report{})
	if err != nil {
		t.Fatal(err)
	}
	return c, parts
}

func ours(t *testing.T, c *corpus, l learner, in, out []int, opt *Options) (accuracy float64, size int, took time.Duration) {
	start := time.Now()
	f, err := l.fit(context.Background(), c, in, opt.fitting())
	if err != nil {
		t.Fatal(err)
	}
	took = time.Since(start)
	right, s := 0, make([]float64, len(c.classes))
	for _, row := range out {
		if f.scores(s, c, row); best(s) == c.y[row] {
			right++
		}
	}
	if f.rules != nil {
		size = f.rules.Len()
	} else {
		size = len(f.tree.Term)/2 + 1
	}
	return float64(right) / float64(len(out)), size, took
}

var (
	wekaTime  = regexp.MustCompile(`Time taken to build model: ([0-9.]+) seconds`)
	wekaRight = regexp.MustCompile(`Correctly Classified Instances\s+\d+\s+([0-9.]+)\s+%`)
)

// theirs trains Weka on the columns that ours would have.
func theirs(t *testing.T, jar, class string, c *corpus, in, out []int, opt *Options) (accuracy float64, took time.Duration) {
	kept, _ := c.vocabulary(in, opt.fitting().or(0, features.ByTFDFGain))
	f := newFitted(c, kept)
	dir := t.TempDir()
	for name, pages := range map[string][]int{"in.arff": in, "out.arff": out} {
		if err := writeARFF(filepath.Join(dir, name), c, f, pages); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("java", "-Xmx1500m", "-cp", jar, class, "-t", "in.arff", "-T", "out.arff")
	cmd.Args = append(cmd.Args, strings.Fields(os.Getenv("WEKAFLAGS"))...)
	cmd.Dir = dir
	printed, err := cmd.CombinedOutput()
	seconds, percent := wekaTime.FindSubmatch(printed), wekaRight.FindAllSubmatch(printed, -1)
	if err != nil || seconds == nil || len(percent) != 2 { // of the training set, then of the test
		t.Fatalf("%s: %v\n%s", class, err, printed[max(0, len(printed)-500):])
	}
	s, _ := strconv.ParseFloat(string(seconds[1]), 64)
	a, _ := strconv.ParseFloat(string(percent[1][1]), 64)
	return a / 100, time.Duration(s * float64(time.Second))
}

// writeARFF writes pages as Weka reads them: a column of counts a term, with
// PRESENCE=1 of 0 or 1, and the class last.
func writeARFF(path string, c *corpus, f *fitted, pages []int) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	w := bufio.NewWriter(file)
	fmt.Fprintln(w, "@relation pages")
	for i := range f.kept {
		fmt.Fprintf(w, "@attribute w%d numeric\n", i)
	}
	fmt.Fprint(w, "@attribute class {")
	for i := range c.classes {
		fmt.Fprint(w, strings.Repeat(",", min(i, 1)), "c", i)
	}
	fmt.Fprintln(w, "}\n@data")
	dense := make([]float32, len(f.kept))
	for i, v := range f.vectors(c, pages) {
		clear(dense)
		fill(dense, v)
		for _, x := range dense {
			fmt.Fprintf(w, "%v,", x)
		}
		fmt.Fprintf(w, "c%d\n", c.y[pages[i]])
	}
	return w.Flush()
}

func fill(dense []float32, v features.Vector) {
	for k, i := range v.Index {
		dense[i] = v.Value[k]
		if os.Getenv("PRESENCE") != "" {
			dense[i] = 1
		}
	}
}
