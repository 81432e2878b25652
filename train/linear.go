package train

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"

	"fossick/models"
	"fossick/models/features"
)

// linear trains one support vector machine a class, against the rest, on weights of
// all terms. Cross-validation chooses the weights, see tune, and may add naive Bayes
// to it, see blend.
type linear struct {
	odds   bool  // terms are weighed by log odds in place of idf
	passes int   // after which to stop, even if the solution is not there yet; 0 is svmDefaults's
	warm   *dual // of a part of the pages, to start from; nil is none
}

// dual is the solution of the machines' dual problems: page → class → α; nil for
// a page that was not trained on.
type dual struct{ alpha [][]float32 }

// page returns a copy of a page's αs, for k classes.
func (d *dual) page(p, k int) []float32 {
	alpha := make([]float32, k)
	if d != nil {
		copy(alpha, d.alpha[p])
	}
	return alpha
}

func (linear) name() string { return models.LinearSVM }

// svmDefaults hold for unit vectors, where C matters little; chosen by
// cross-validation on training parts of WebKB and Wikispeedia (docs/classifiers.md).
var svmDefaults = svmOptions{c: 3, eps: 0.2, maxIter: 200}

func (l linear) fit(ctx context.Context, c *corpus, pages []int, by fitting) (*fitted, error) {
	return l.solve(ctx, c, c.weighed(pages, by.selection, l.odds), pages, by)
}

// solve is fit once f has weighed its terms.
func (l linear) solve(ctx context.Context, c *corpus, f *fitted, pages []int, by fitting) (*fitted, error) {
	k := len(c.classes)
	f.linear = &models.Linear{Weights: make([]float32, len(f.kept)*k), Bias: make([]float32, k)}
	f.dual = &dual{make([][]float32, len(c.y))}
	y, alpha := c.classesOf(pages), make([][]float32, len(pages))
	for i, p := range pages {
		alpha[i] = l.warm.page(p, k)
		f.dual.alpha[p] = alpha[i]
	}
	f.settings["svm_c"] = fmt.Sprint(svmDefaults.c)
	if err := l.machines(ctx, f.linear, f.vectors(c, pages), y, alpha, by.seed); err != nil {
		return nil, fmt.Errorf("training %s: %w", models.LinearSVM, err)
	}
	return f, nil
}

// machines trains a machine a class, in groups that share a pass over the rows, and
// leaves their weights in m and their αs in alpha.
func (l linear) machines(ctx context.Context, m *models.Linear, rows []features.Vector, y []int, alpha [][]float32, seed int64) error {
	k := len(m.Bias)
	n, end := len(m.Weights)/k, k
	if k == 2 {
		end = 1 // the other is its mirror image
	}
	opt := svmDefaults
	opt.maxIter = cmp.Or(l.passes, opt.maxIter)
	err := parallel(ctx, runtime.GOMAXPROCS(0), (end+lanes-1)/lanes, func(ctx context.Context, i int) error {
		first := i * lanes
		w := svm(ctx, rows, y, first, end, n, alpha, opt, rand.New(rand.NewPCG(uint64(seed), uint64(first))))
		for class := first; class < min(first+lanes, end); class++ { // places of its own
			m.Bias[class] = float32(w[n][class-first])
			for i := range n {
				m.Weights[i*k+class] = float32(w[i][class-first])
			}
		}
		return ctx.Err()
	})
	if k == 2 {
		mirror(m)
	}
	return err
}

// mirror gives class 1 of two the opposite of class 0's weights.
func mirror(l *models.Linear) {
	l.Bias[1] = -l.Bias[0]
	for i := 0; i < len(l.Weights); i += 2 {
		l.Weights[i+1] = -l.Weights[i]
	}
}
