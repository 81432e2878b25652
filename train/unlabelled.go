package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"fossick/classify"
	"fossick/datasets"
	"fossick/internal/cli"
	"fossick/models"
)

// Print writes the report as text.
func (r *PU) Print(w io.Writer) {
	cli.Fprintf(w, "  model: trained on %d examples and %d unlabelled pages (%s), of which about %.1f %% are on topic:\n",
		r.Given, r.Pool, strings.Join(r.From, ", "), 100*r.Share)
	cli.Fprintf(w, "    %d of them were taken as on topic, %d as off topic, and the others were left out\n", r.Taken, r.Reliable)
	cli.Fprintf(w, "    it finds %s\n    (estimated, with 95 %% intervals: no page was known to be off topic)\n", r.words())
	switch {
	case r.Elsewhere != nil:
		cli.Fprintf(w, "    on sites without examples %s\n    (the examples' %d sites were held out in turn)\n", r.Elsewhere.words(), r.Sites)
	case r.Sites == 1:
		io.WriteString(w, "    all examples come from one site, so the quality on other sites is not known\n")
	default:
		io.WriteString(w, "    the sites of the examples are not known, so the quality on other sites is not known\n")
	}
}

func (p *promised) words() string {
	return fmt.Sprintf("%.0f %% of the topic (%.0f to %.0f), precision about %.2f (%.2f to %.2f)",
		100*p.Recall, 100*p.RecallCI[0], 100*p.RecallCI[1], p.Precision, p.PrecisionCI[0], p.PrecisionCI[1])
}

// Apart removes from a pool the rows with the same body as an example, to the byte, because these are not
// unlabelled. Read the pool after the examples.
func Apart(on, pool datasets.Stream) (datasets.Stream, datasets.Stream) {
	given := map[[16]byte]bool{}
	on = datasets.Only(on, func(e *datasets.Example) bool {
		given[datasets.RowOf(e).Sum] = true
		return true
	})
	return on, datasets.Only(pool, func(e *datasets.Example) bool { return !given[datasets.RowOf(e).Sum] })
}

// onlyOn reports whether all training pages are of --topic, so that --unlabelled shows what is off topic.
func (p *Plan) onlyOn(ctx context.Context) (bool, error) {
	if p.Options.Topic == "" || len(p.Unlabelled) == 0 || p.Tried {
		return false, nil
	}
	parts, err := p.parts()
	if err != nil {
		return false, err
	}
	on := false
	for e, err := range datasets.Readable(parts.Train) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return false, err
		}
		switch p.Options.Class(e) {
		case p.Options.Topic:
			on = true
		case Other:
			return false, nil
		}
	}
	return on, nil
}

// checkPool rejects options that training without pages off topic cannot serve.
func (p *Plan) checkPool() error {
	switch name := p.Options.Classifier; {
	case name != "" && name != Auto && name != models.LinearSVM:
		return cli.Usagef("--classifier %s: where all training pages are on topic, only linear learns from --unlabelled; or add pages that are off topic", name)
	case p.Options.Explain:
		return cli.Usagef("--explain needs pages that are known to be off topic, and all training pages are on topic; leave it out, or add some")
	}
	return nil
}

// withPool adds the unlabelled pages to the training pages, all with the label Other.
func (p *Plan) withPool(parts *rowParts) {
	pool := datasets.Map(p.readable(), func(e *datasets.Example) *datasets.Example { return e.Labelled(Other) })
	on, off := Apart(parts.Train, pool)
	parts.Train = datasets.Chain(on, off)
}

// adaptation says how unlabelled pages were used.
type adaptation struct {
	Pages    int            `json:"pages"`     // that could be read
	PerClass map[string]int `json:"per_class"` // labelled in the last round
}

// adapt trains the model again, in rounds, with the unlabelled pages of which the model before is surest. So
// the model learns the words of the place where it will be used.
func (p *Plan) adapt(ctx context.Context, first *models.Model, opt Options) (*models.Model, *adaptation, error) {
	opt.Explain, opt.Log = false, nil // the first model has both
	m, taken := first, 0              // pages that the last round labelled
	result := &adaptation{}
	for round := range unlabelledRounds {
		probs, err := p.unlabelledProbs(ctx, m)
		if err != nil {
			return nil, nil, err
		}
		if len(probs) == 0 {
			return nil, nil, errors.New("--unlabelled: no page of it can be read; give a set with pages")
		}
		labels := pseudo(probs, classShares(first), round)
		result.Pages, result.PerClass, taken = len(probs), map[string]int{}, 0
		for _, class := range labels {
			if class >= 0 {
				result.PerClass[m.Classes[class]]++
				taken++
			}
		}
		p.Say("training again with %d of %d unlabelled pages, round %d of %d", taken, len(probs), round+1, unlabelledRounds)
		parts, err := p.parts() // open the sets again, from their start
		if err != nil {
			return nil, nil, err
		}
		opt.Split = parts.How
		rows := datasets.Chain(parts.Train, p.pseudo(m.Classes, labels))
		if m, _, err = Train(ctx, rows, opt); err != nil {
			return nil, nil, fmt.Errorf("training with unlabelled pages: %w", err)
		}
	}
	m.Card.CV, m.Card.Pages, m.Card.PerClass = first.Card.CV, first.Card.Pages, first.Card.PerClass
	m.Card.Settings["unlabelled_pages"] = fmt.Sprintf("%d of %d", taken, result.Pages)
	return m, result, nil
}

// readable yields the readable unlabelled pages in the order of the sets.
func (p *Plan) readable() datasets.Stream {
	return func(yield func(*datasets.Example, error) bool) {
		set, err := p.Open.Stream(p.Unlabelled, nil, p.Level.N, nil)
		if err != nil {
			yield(nil, err)
			return
		}
		for e, err := range set {
			if err != nil && datasets.IsRow(err) {
				continue // skip the page
			}
			if err == nil {
				if _, bad := Doc(e); bad != nil {
					continue
				}
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

func (p *Plan) unlabelledProbs(ctx context.Context, m *models.Model) ([][]float64, error) {
	clf, err := classify.New(m)
	if err != nil {
		return nil, err
	}
	var probs [][]float64
	for e, err := range p.readable() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("--unlabelled: %w", err)
		}
		d, err := Doc(e)
		if err != nil {
			return nil, fmt.Errorf("--unlabelled: %w", err)
		}
		probs = append(probs, clf.Classify(d).Probs)
	}
	return probs, nil
}

// pseudo yields the unlabelled pages that got a class, with its label.
func (p *Plan) pseudo(classes []string, labels []int) datasets.Stream {
	return func(yield func(*datasets.Example, error) bool) {
		i := 0
		for e, err := range p.readable() {
			if err != nil {
				yield(nil, err)
				return
			}
			class := -1
			if i < len(labels) {
				class = labels[i]
			}
			if i++; class < 0 {
				continue
			}
			if !yield(e.Labelled(classes[class]), nil) {
				return
			}
		}
	}
}

func classShares(m *models.Model) []float64 {
	s := make([]float64, len(m.Classes))
	for i, label := range m.Classes {
		s[i] = float64(m.Card.PerClass[label]) / float64(max(1, m.Card.Pages))
	}
	return s
}

// pseudoRounds has the share of a class's expected pages that each round labels; it is not tuned.
var pseudoRounds = [...]float64{0.5, 1}

const unlabelledRounds = len(pseudoRounds)

const (
	pseudoLeast = 0.02 // of all pages, per class: the other place may have more of it
	pseudoMost  = 0.6  // of all pages, per class: the rest is doubtful
)

// pseudo labels pages from a place other than the training set's, so that the next model learns the words of
// that place (self-training: Yarowsky 1995; Scudder 1965). probs has a model's probabilities by page and
// class. A page without a label gets −1.
func pseudo(probs [][]float64, shares []float64, round int) []int {
	label, standing := make([]int, len(probs)), make([]float64, len(probs))
	order := make([]int, len(probs))
	for i := range probs {
		label[i], order[i] = -1, i
	}
	for class, share := range shares {
		take := min(pseudoMost, max(pseudoLeast, share)*pseudoRounds[round]) * float64(len(probs))
		slices.SortFunc(order, func(a, b int) int {
			return cmp.Or(cmp.Compare(probs[b][class], probs[a][class]), cmp.Compare(a, b))
		})
		for rank, i := range order {
			at := (float64(rank) + 0.5) / take
			if at > 1 {
				break
			}
			if label[i] < 0 || at < standing[i] {
				label[i], standing[i] = class, at
			}
		}
	}
	return label
}
