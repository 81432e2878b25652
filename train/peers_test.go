package train

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"fossick/datasets"
	"fossick/models"
	"fossick/models/features"
)

// peersOf names the classifiers of testdata/peers.py.
var peersOf = []string{"mlp", "mlp-early", "logistic", "forest"}

// TestPeers compares nn with scikit-learn's classifiers, page by page, on the
// features that nn itself gets (docs/classifiers.md). It takes minutes, and so runs only on demand:
//
//	FOSSICK_TEST_PEERS=1 FOSSICK_DATA=data go test ./train -run TestPeers -v -timeout 1h
func TestPeers(t *testing.T) {
	if os.Getenv("FOSSICK_TEST_PEERS") == "" {
		t.Skip("takes minutes; set FOSSICK_TEST_PEERS=1 to compare with scikit-learn")
	}
	if err := exec.Command(python(), "-c", "import sklearn").Run(); err != nil {
		t.Skipf("%s has no scikit-learn: %v; install python3-sklearn, or name a Python that has it in PYTHON", python(), err)
	}
	roles := Options{Target: Target{Labels: []string{"student", "faculty", "course", "project"}}, Words: 77}
	for _, set := range []struct {
		name, data string
		opt        Options
		rounds     []string
		test       func(round string) func(n int, e *datasets.Example) bool
	}{
		{"WebKB", "webkb", roles, []string{"texas", "washington", "cornell", "misc"},
			func(r string) func(int, *datasets.Example) bool {
				return func(_ int, e *datasets.Example) bool { return e.Site == r }
			}},
		{"Wikispeedia", "wikispeedia/train.jsonl.zst", Options{Words: 77}, []string{"0", "1", "2", "3", "4"},
			func(r string) func(int, *datasets.Example) bool {
				return func(n int, _ *datasets.Example) bool { return strconv.Itoa(n%5) == r }
			}},
		{"20 Newsgroups", "20news", Options{Words: 500}, []string{"test"},
			func(string) func(int, *datasets.Example) bool {
				return func(_ int, e *datasets.Example) bool { return e.Split == "test" }
			}},
	} {
		t.Run(set.name, func(t *testing.T) {
			all := &duel{t: t, hits: map[string][]float64{}, only: map[string][2]int{}}
			for _, round := range set.rounds {
				opt := set.opt
				opt.Classifier, opt.Folds, opt.Seed = models.NN, 2, 1
				all.round(examples(t, set.data), set.test(round), opt)
			}
			all.print()
		})
	}
}

func python() string { return cmp.Or(os.Getenv("PYTHON"), "python3") }

// duel sums up rounds of nn against its peers.
type duel struct {
	t    *testing.T
	hits map[string][]float64 // accuracy by round
	only map[string][2]int    // pages that nn alone, and that the peer alone, had right
}

// round trains on what test leaves, and has all classifiers predict the rest.
func (d *duel) round(set *datasets.Set, test func(int, *datasets.Example) bool, opt Options) {
	m, _, err := Train(context.Background(), where(set, func(n int, e *datasets.Example) bool { return !test(n, e) }), opt)
	if err != nil {
		d.t.Fatal(err)
	}
	dir := d.t.TempDir()
	truth, ours := d.write(dir, set, test, m, &opt)
	cmd := exec.Command(python(), "testdata/peers.py", dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		d.t.Fatalf("%v: %s", err, out)
	}
	right := 0
	for i := range truth {
		if ours[i] == truth[i] {
			right++
		}
	}
	d.hits[models.NN] = append(d.hits[models.NN], float64(right)/float64(len(truth)))
	for _, name := range peersOf {
		theirs := classesIn(d.t, filepath.Join(dir, name+".txt"))
		if len(theirs) != len(truth) {
			d.t.Fatalf("%s predicts %d of %d pages", name, len(theirs), len(truth))
		}
		right, only := 0, d.only[name]
		for i, c := range truth {
			switch {
			case theirs[i] == c && ours[i] != c:
				only[1]++
			case theirs[i] != c && ours[i] == c:
				only[0]++
			}
			if theirs[i] == c {
				right++
			}
		}
		d.only[name] = only
		d.hits[name] = append(d.hits[name], float64(right)/float64(len(truth)))
		d.t.Logf("%d pages: nn %.4f, %s %.4f", len(truth), d.hits[models.NN][len(d.hits[models.NN])-1], name, d.hits[name][len(d.hits[name])-1])
	}
}

// write puts the features of all rows into dir, and returns the classes of the
// test rows and what m says of them.
func (d *duel) write(dir string, set *datasets.Set, test func(int, *datasets.Example) bool, m *models.Model, opt *Options) (truth, predicted []int) {
	x := features.NewExtractor(m.Extractor, features.FixedLexicon(m.Terms))
	w := m.Weighting
	w.Bind(m.Terms)
	var lines [2]strings.Builder // train, test
	s, hidden := make([]float64, len(m.Classes)), make([]float32, m.Network.Units())
	n := -1
	for e, err := range set.Examples() {
		if err != nil {
			d.t.Fatal(err)
		}
		n++
		class := m.Class(opt.Class(e))
		if class < 0 {
			continue
		}
		doc, err := Doc(e)
		if err != nil {
			d.t.Fatal(err)
		}
		v := x.Count(features.Vector{}, doc)
		w.Apply(v)
		part := 0
		if test(n, e) {
			part = 1
			m.Network.Scores(s, v, hidden)
			m.Calibration.Apply(s)
			truth, predicted = append(truth, class), append(predicted, best(s))
		}
		fmt.Fprint(&lines[part], class)
		for k, i := range v.Index {
			fmt.Fprintf(&lines[part], " %d:%g", i, v.Value[k])
		}
		// The last term even where it is 0, so that both files have all columns.
		if last := int32(len(m.Terms) - 1); !slices.Contains(v.Index, last) {
			fmt.Fprintf(&lines[part], " %d:0", last)
		}
		lines[part].WriteByte('\n')
	}
	for part, name := range [...]string{"train.svm", "test.svm"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(lines[part].String()), 0o644); err != nil {
			d.t.Fatal(err)
		}
	}
	return truth, predicted
}

func classesIn(t *testing.T, path string) (classes []int) {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		c, err := strconv.Atoi(sc.Text())
		if err != nil {
			t.Fatal(err)
		}
		classes = append(classes, c)
	}
	return classes
}

// print logs the means, and fails where a peer is better beyond chance: a handful of
// pages more or less decide nothing on test parts of 226 to 273 pages.
func (d *duel) print() {
	mean := func(name string) (sum float64) {
		for _, v := range d.hits[name] {
			sum += v / float64(len(d.hits[name]))
		}
		return sum
	}
	ours := mean(models.NN)
	d.t.Logf("nn %.4f %.3f", ours, d.hits[models.NN])
	for _, name := range peersOf {
		only, worst := d.only[name], math.Inf(1)
		for i, v := range d.hits[name] {
			worst = min(worst, d.hits[models.NN][i]-v)
		}
		test := mcNemar(only[0], only[1])
		d.t.Logf("%s %.4f %.3f: nn alone right on %d pages, the peer on %d, p = %.2g; worst round %+.3f",
			name, mean(name), d.hits[name], only[0], only[1], test.P, worst)
		if only[1] > only[0] && test.P < 0.05 {
			d.t.Errorf("%s is better than nn, which has %d pages fewer right; p = %.2g", name, only[1]-only[0], test.P)
		}
	}
}
