package train

import (
	"context"
	"testing"

	"fossick/models"
	"fossick/models/features"
)

// walkSet has 20 Newsgroups: a learner's fit on the training part with 500 words,
// and the first test pages as it sees them.
func walkSet(b *testing.B, l learner) (f *fitted, pages []features.Vector) {
	b.Helper()
	opt := Options{Words: 500, Folds: 5}
	p := protocols[2]
	c, parts := p.read(b, &opt)
	var in, out []int
	for row, part := range parts {
		if part == "train" {
			in = append(in, row)
		} else if len(out) < 1000 {
			out = append(out, row)
		}
	}
	f, err := l.fit(context.Background(), c, in, opt.fitting())
	if err != nil {
		b.Fatal(err)
	}
	return f, f.vectors(c, out)
}

// dense returns pages with a place for each term.
func denseRows(pages []features.Vector, terms int) [][]float32 {
	rows := make([][]float32, len(pages))
	for i, v := range pages {
		rows[i] = make([]float32, terms)
		for k, t := range v.Index {
			rows[i][t] = v.Value[k]
		}
	}
	return rows
}

// BenchmarkWalk walks real models on real pages, features being there: a tree, the
// first rule of a list that holds, and all rules that hold; a page is an op.
func BenchmarkWalk(b *testing.B) {
	b.Run("tree", func(b *testing.B) {
		f, pages := walkSet(b, c45{})
		rows, w := denseRows(pages, len(f.kept)), models.NewWalker(f.tree, len(f.kept), 20)
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			w.Find(pages[i%len(pages)], rows[i%len(rows)])
		}
		b.ReportMetric(float64(len(f.tree.Term)), "nodes")
	})
	b.Run("list", func(b *testing.B) {
		f, pages := walkSet(b, newCN2(true))
		rows, m := denseRows(pages, len(f.kept)), models.NewMatcher(f.rules, len(f.kept), 20)
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			m.First(pages[i%len(pages)], rows[i%len(rows)])
		}
		b.ReportMetric(float64(f.rules.Len()), "rules")
	})
	b.Run("rules", func(b *testing.B) {
		f, pages := walkSet(b, newCN2(false))
		rows, m := denseRows(pages, len(f.kept)), models.NewMatcher(f.rules, len(f.kept), 20)
		var hold []int32
		held := 0
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			hold = m.All(hold[:0], pages[i%len(pages)], rows[i%len(rows)])
			held += len(hold)
		}
		b.ReportMetric(float64(f.rules.Len()), "rules")
		b.ReportMetric(float64(held)/float64(b.N), "held/op")
	})
}

// BenchmarkGrow trains on 20 Newsgroups' training part with 500 words, counts and
// words being there: no reading, no folds.
func BenchmarkGrow(b *testing.B) {
	opt := Options{Words: 500, Folds: 5}
	c, parts := protocols[2].read(b, &opt)
	var in []int
	for row, part := range parts {
		if part == "train" {
			in = append(in, row)
		}
	}
	for name, l := range map[string]learner{"c45": c45{}, "cn2": newCN2(false)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := l.fit(context.Background(), c, in, opt.fitting()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
