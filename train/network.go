package train

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"

	"fossick/models"
	"fossick/models/features"
)

// nn trains back-propagation networks on tf-idf weights of the terms that gain
// most.
//
// One network depends on its first weights and on the order of the rows. The mean of
// several does so less, and is right more often (Hansen and Salamon 1990). Each holds
// out another tenth of the rows, whose loss tells it when to stop, so that together
// they learn from every row (Parmanto, Munro, Doyle 1996). As their scores are
// averaged, not their probabilities, they are one wider network.
type nn struct {
	hidden   int // units of the hidden layer
	networks int // trained apart and averaged
}

var fiveNets = nn{hidden: 32, networks: 5}

func (nn) name() string { return models.NN }

// nnWords is the number of terms when none is asked for.
const nnWords = 500

// golearn trains the networks of small vocabularies, for it costs the square of
// all neurons a row, whatever the page has. At 77 words a row takes it a
// hundred times as long as sparseNet. That one gives the same weights to nine
// digits (a test holds it to that). So sparseNet finds the number of epochs and
// stands in folds and trials, and golearn trains the networks of the model, unless it
// takes more than about a minute.
const (
	golearnWords = 100
	golearnWork  = 1 << 32 // weights visited
)

// auto tries networks where words are limited, to fewWords at most, and pages are
// not more than fewPages, which keeps five folds below a minute or so. With all
// words a linear model does better in less time.
const (
	fewWords = 500
	fewPages = 20000
)

// few reports whether auto tries networks.
func (c *corpus) few(o *Options) bool {
	if len(c.rows) > fewPages || !o.selected() || o.Words > fewWords {
		return false
	}
	kept, _ := c.vocabulary(c.all(), o.fitting().selection.or(0, features.ByTFDFGain))
	return 0 < len(kept) && len(kept) <= fewWords
}

func (l nn) fit(ctx context.Context, c *corpus, pages []int, by fitting) (*fitted, error) {
	f := c.weighed(pages, by.or(nnWords, features.ByTFDFGain), false)
	if len(f.kept) == 0 {
		return nil, fmt.Errorf("training %s: %w", models.NN, errNoWord)
	}
	lessons := f.lessons(c, pages, l, uint64(by.seed))
	nets, epochs, err := teach(ctx, lessons)
	if err != nil {
		return nil, fmt.Errorf("training %s: %w", models.NN, err)
	}
	engine := "sparse"
	if final := len(pages) == len(c.rows) && !by.trial; final && affordable(lessons, epochs) {
		engine = "golearn"
		if nets, err = relearn(ctx, lessons, epochs); err != nil {
			return nil, fmt.Errorf("training %s: %w", models.NN, err)
		}
	}
	f.network = committee(nets)
	f.settings["terms"] = strconv.Itoa(len(f.kept))
	f.settings["hidden"] = strconv.Itoa(l.hidden)
	f.settings["networks"] = strconv.Itoa(l.networks)
	f.settings["epochs"] = fmt.Sprint(epochs)
	f.settings["engine"] = engine
	return f, nil
}

// tenths is how many parts the rows are dealt into, of which a network holds out
// one.
const tenths = 10

// lessons prepares the networks' training on pages.
func (f *fitted) lessons(c *corpus, pages []int, set nn, seed uint64) []*lesson {
	rows, y := f.vectors(c, pages), c.classesOf(pages)
	part := dealEvenly(y, len(c.classes), tenths, rand.New(rand.NewPCG(seed, 0x7e27)))
	lessons := make([]*lesson, set.networks)
	for m := range lessons {
		l := &lesson{rows: rows, y: y, seed: seed, number: uint64(m),
			shape: shape{terms: len(f.kept), hidden: set.hidden, classes: len(c.classes)}}
		for i, p := range part {
			if p == m%tenths {
				l.held = append(l.held, i)
			} else {
				l.learn = append(l.learn, i)
			}
		}
		lessons[m] = l
	}
	return lessons
}

// teach trains a network a lesson, and says how many epochs each took.
func teach(ctx context.Context, lessons []*lesson) ([]*sparseNet, []int, error) {
	nets, epochs := make([]*sparseNet, len(lessons)), make([]int, len(lessons))
	return nets, epochs, parallel(ctx, runtime.GOMAXPROCS(0), len(lessons), func(ctx context.Context, m int) (err error) {
		nets[m], epochs[m], err = lessons[m].study(ctx)
		return err
	})
}

// affordable reports whether golearn trains these networks in tolerable time.
func affordable(lessons []*lesson, epochs []int) bool {
	work := 0
	for m, l := range lessons {
		if l.shape.terms > golearnWords {
			return false
		}
		work += epochs[m] * len(l.learn) * l.shape.neurons() * l.shape.neurons()
	}
	return work <= golearnWork
}

// relearn trains the networks anew, by golearn.
func relearn(ctx context.Context, lessons []*lesson, epochs []int) ([]*sparseNet, error) {
	nets := make([]*sparseNet, len(lessons))
	return nets, parallel(ctx, runtime.GOMAXPROCS(0), len(lessons), func(ctx context.Context, m int) (err error) {
		nets[m], err = lessons[m].repeat(ctx, epochs[m])
		return err
	})
}

// committee returns the network whose scores are the mean of those of nets, which
// have one shape.
func committee(nets []*sparseNet) *models.Network {
	s, by := nets[0].shape, 1/float64(len(nets))
	n := &models.Network{OutputBias: make([]float32, s.classes)}
	for _, net := range nets {
		n.HiddenBias = append(n.HiddenBias, narrow(net.inBias, 1)...)
		n.Output = append(n.Output, narrow(net.out, by)...)
	}
	for c := range s.classes {
		var sum float64
		for _, net := range nets {
			sum += net.outBias[c]
		}
		n.OutputBias[c] = float32(sum * by)
	}
	for i := range s.terms {
		for _, net := range nets {
			n.Input = append(n.Input, narrow(net.in[i*s.hidden:][:s.hidden], 1)...)
		}
	}
	return n
}

// narrow returns weights times by, in half the bits.
func narrow(weights []float64, by float64) []float32 {
	out := make([]float32, len(weights))
	for i, w := range weights {
		out[i] = float32(w * by)
	}
	return out
}

var _ teachable = (*golearnNet)(nil)
var _ teachable = (*sparseNet)(nil)
