package train

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"

	"fossick/models"

	"golang.org/x/sync/errgroup"
)

// linear trains one support vector machine a class, against the rest, on tf-idf
// weights of all terms. Cross-validation may add naive Bayes to it, see blend.
type linear struct{}

func (linear) name() string { return models.LinearSVM }

// svmDefaults hold for unit vectors, where C matters little; chosen by
// cross-validation on training parts of WebKB and Wikispeedia (docs/classifiers.md).
var svmDefaults = svmOptions{c: 3, eps: 0.05, maxIter: 200}

func (linear) fit(ctx context.Context, c *corpus, pages []int, opt *Options) (*fitted, error) {
	kept, counts := c.vocabulary(pages, opt.Words, opt.Mu)
	f := newFitted(c, kept)
	f.tfidf(c, counts, len(pages))
	f.settings["svm_c"] = fmt.Sprint(svmDefaults.c)
	k, n := len(c.classes), len(f.kept)
	f.linear = &models.Linear{Weights: make([]float32, n*k), Bias: make([]float32, k)}
	rows := f.vectors(c, pages)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for class := range k {
		if k == 2 && class == 1 {
			break // the mirror image of class 0
		}
		g.Go(func() error {
			y := make([]int8, len(pages))
			for i, p := range pages {
				y[i] = -1
				if c.y[p] == class {
					y[i] = 1
				}
			}
			w, b := svm(ctx, rows, y, n, svmDefaults, rand.New(rand.NewPCG(uint64(opt.Seed), uint64(class))))
			f.linear.Bias[class] = float32(b)
			for i, v := range w {
				f.linear.Weights[i*k+class] = float32(v) // each class writes places of its own
			}
			return ctx.Err()
		})
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("training %s: %w", models.LinearSVM, err)
	}
	if k == 2 {
		mirror(f.linear)
	}
	return f, nil
}

// mirror gives class 1 of two the opposite of class 0's weights.
func mirror(l *models.Linear) {
	l.Bias[1] = -l.Bias[0]
	for i := 0; i < len(l.Weights); i += 2 {
		l.Weights[i+1] = -l.Weights[i]
	}
}
