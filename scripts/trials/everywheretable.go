//go:build ignore

// The table that everywhere.go makes of its rows: docs/data/everywhere.tsv.
package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

// areaRow is a corpus, a topic and a budget.
type areaRow struct {
	corpus, topic  string
	targets, pages int
}

// of is what a row's crawls found, by policy and start set.
type of struct {
	found     map[string]map[string]float64
	positives map[string]float64 // training pages on topic, by set
}

// areaTable writes what crawls came to, a line a row, and their means by half.
func areaTable(files []string) error {
	rows, order := map[areaRow]*of{}, []areaRow(nil)
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			c := strings.Split(lines.Text(), "\t")
			if len(c) != 8 {
				return fmt.Errorf("%s: %q is no line of a crawl", file, lines.Text())
			}
			var n [6]float64
			for i, at := range []int{2, 3, 6, 7} {
				if n[i], err = strconv.ParseFloat(c[at], 64); err != nil {
					return fmt.Errorf("%s: %w", file, err)
				}
			}
			r := areaRow{c[0], c[1], int(n[0]), int(n[1])}
			if rows[r] == nil {
				rows[r] = &of{map[string]map[string]float64{}, map[string]float64{}}
				order = append(order, r)
			}
			if rows[r].found[c[4]] == nil {
				rows[r].found[c[4]] = map[string]float64{}
			}
			rows[r].found[c[4]][c[5]] = n[3] / n[1]
			rows[r].positives[c[5]] = n[2]
		}
		if err := lines.Err(); err != nil {
			return err
		}
	}
	writeAreas(os.Stdout, rows, order)
	return nil
}

const oracle = "target-oracle"

// writeAreas writes the table. The best known policy is that of the row: no one policy is it
// everywhere. It was chosen by the same draws as it is judged by, which flatters it. So the
// ratio is given too to what the best by the other draws finds in each draw, with two
// standard errors; and what that policy has itself of the row's best.
func writeAreas(w io.Writer, rows map[areaRow]*of, order []areaRow) {
	var known []string
	for _, r := range rows {
		for p := range r.found {
			if !strings.HasPrefix(p, "learned") && p != oracle && !slices.Contains(known, p) {
				known = append(known, p)
			}
		}
	}
	slices.Sort(known)
	slices.SortStableFunc(order, func(a, b areaRow) int {
		return cmp.Or(cmp.Compare(a.corpus, b.corpus), cmp.Compare(b.targets, a.targets), cmp.Compare(a.topic, b.topic), cmp.Compare(a.pages, b.pages))
	})
	fmt.Fprintf(w, "corpus\ttopic\tconstants\ton topic\ttrained on\tpages\t%s\tlearned\toracle\tbest known\tratio\tby other draws\t±\tof the best\n", strings.Join(known, "\t"))
	byHalf := map[string]*totals{}
	add := func(half string, ratio float64, o others) {
		if byHalf[half] == nil {
			byHalf[half] = &totals{}
		}
		byHalf[half].add(ratio, o)
	}
	for _, r := range order {
		x, half := rows[r], "held out"
		if slices.Contains(areas[r.corpus].tuned, r.topic) {
			half = "tuned on"
		}
		best, name := 0.0, ""
		var cells []string
		for _, p := range known {
			m := mean(x.found[p])
			cells = append(cells, fmt.Sprintf("%.3f", m))
			if m > best {
				best, name = m, p
			}
		}
		learned, top := mean(x.found["learned"]), mean(x.found[oracle])
		ratio, o := learned/best, x.byOthers(known)
		o.ofBest /= best
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%.0f\t%d\t%s\t%.3f\t%.3f\t%s\t%.3f\t%.3f\t%.3f\t%.3f\n", r.corpus, r.topic, half, r.targets, mean(x.positives), r.pages,
			strings.Join(cells, "\t"), learned, top, name, ratio, o.ratio, o.error, o.ofBest)
		add(half, ratio, o)
		if best < 0.95*top {
			add(half+", room left", ratio, o)
		}
	}
	for _, half := range slices.Sorted(maps.Keys(byHalf)) {
		fmt.Fprintf(w, "# %s: %s\n", half, byHalf[half])
	}
}

// others is how learned does against the known policy that is best by the other draws.
type others struct{ ratio, error, ofBest float64 }

// byOthers compares a row's crawls, draw by draw; ofBest is what the policies found, in the
// mean.
func (x *of) byOthers(known []string) (o others) {
	draws := slices.Sorted(maps.Keys(x.found["learned"]))
	found := make([]float64, len(draws)) // by the policy that is best in the others
	sum := 0.0
	for i, d := range draws {
		best := -1.0
		for _, p := range known {
			if elsewhere := mean(x.found[p])*float64(len(draws)) - x.found[p][d]; elsewhere > best {
				best, found[i] = elsewhere, x.found[p][d]
			}
		}
		sum += found[i]
	}
	n := float64(len(draws))
	o.ofBest = sum / n
	o.ratio = mean(x.found["learned"]) / o.ofBest
	squares := 0.0
	for i, d := range draws {
		e := (x.found["learned"][d] - o.ratio*found[i]) / o.ofBest
		squares += e * e
	}
	o.error = 2 * math.Sqrt(squares/n/max(1, n-1))
	return o
}

// totals sums rows up.
type totals struct {
	ratios, byOthers, ofBest []float64
	sure                     int // below least by more than two standard errors
}

// least is what no row should be below.
const least = .98

func (t *totals) add(ratio float64, o others) {
	t.ratios, t.byOthers, t.ofBest = append(t.ratios, ratio), append(t.byOthers, o.ratio), append(t.ofBest, o.ofBest)
	if o.ratio+o.error < least {
		t.sure++
	}
}

func (t *totals) String() string {
	of := func(rows []float64) string {
		sum, below := 0.0, 0
		for _, v := range rows {
			if sum += v; v < least {
				below++
			}
		}
		return fmt.Sprintf("mean %.3f, least %.3f, %d below %g", sum/float64(len(rows)), slices.Min(rows), below, least)
	}
	return fmt.Sprintf("%d rows: ratio to the best known %s; to the best by other draws %s, %d of these surely; that policy to the best known %s",
		len(t.ratios), of(t.ratios), of(t.byOthers), t.sure, of(t.ofBest))
}

func mean(by map[string]float64) float64 {
	sum := 0.0
	for _, set := range slices.Sorted(maps.Keys(by)) {
		sum += by[set]
	}
	return sum / float64(max(1, len(by)))
}
