package train

import (
	"context"
	"fmt"
	"io"
	"strings"

	"fossick/datasets"
	"fossick/internal/printable"
	"fossick/internal/usage"
	"fossick/models"
)

// Models from good examples alone: what is off topic is found among pages of which
// nothing is known (see train.PU).

// Print writes it for people.
func (r *PU) Print(w io.Writer) {
	printable.Fprintf(w, "  model: trained on %d examples and %d unlabelled pages (%s), of which about %.1f %% are on topic:\n",
		r.Given, r.Pool, strings.Join(r.From, ", "), 100*r.Share)
	printable.Fprintf(w, "    %d of them were taken as on topic, %d as off topic, and the others were left out\n", r.Taken, r.Reliable)
	printable.Fprintf(w, "    it finds %s\n    (estimated, with 95 %% intervals: no page was known to be off topic)\n", r.words())
	switch {
	case r.Elsewhere != nil:
		printable.Fprintf(w, "    on sites without examples %s\n    (the examples' %d sites were held out in turn)\n", r.Elsewhere.words(), r.Sites)
	case r.Sites == 1:
		io.WriteString(w, "    all examples come from one site, so the quality on other sites is not known\n")
	default:
		io.WriteString(w, "    the sites of the examples are not known, so the quality on other sites is not known\n")
	}
}

// words says it for people.
func (p *Promise) words() string {
	return fmt.Sprintf("%.0f %% of the topic (%.0f to %.0f), precision about %.2f (%.2f to %.2f)",
		100*p.Recall, 100*p.RecallCI[0], 100*p.RecallCI[1], p.Precision, p.PrecisionCI[0], p.PrecisionCI[1])
}

// Apart leaves out of a pool the rows whose body, to the byte, an example has: they are
// not unlabelled. The pool is to be read after the examples.
func Apart(on, pool datasets.Stream) (datasets.Stream, datasets.Stream) {
	given := map[[16]byte]bool{}
	on = datasets.Only(on, func(e *datasets.Example) bool {
		given[datasets.RowOf(e).Sum] = true
		return true
	})
	return on, datasets.Only(pool, func(e *datasets.Example) bool { return !given[datasets.RowOf(e).Sum] })
}

// onlyOn reports whether the training sets have pages of --topic and no others: then
// --unlabelled also has to say what is off topic.
func (p *Plan) onlyOn(ctx context.Context) (bool, error) {
	if p.Options.Topic == "" || len(p.Unlabelled) == 0 || p.Tried {
		return false, nil
	}
	parts, err := p.Parts()
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

// checkPool refuses what training from good examples alone cannot do.
func (p *Plan) checkPool() error {
	switch name := p.Options.Classifier; {
	case name != "" && name != Auto && name != models.LinearSVM:
		return usage.Errorf("--classifier %s: where all training pages are on topic, only linear learns from --unlabelled; or add pages that are off topic", name)
	case p.Options.Explain:
		return usage.Errorf("--explain needs pages that are known to be off topic, and all training pages are on topic; leave it out, or add some")
	}
	return nil
}

// withPool adds the unlabelled pages to the training pages, all under one label,
// whatever they bring.
func (p *Plan) withPool(parts *Parts) {
	pool := datasets.Map(p.readable(), func(e *datasets.Example) *datasets.Example { return e.Labelled(Other) })
	on, off := Apart(parts.Train, pool)
	parts.Train = datasets.Chain(on, off)
}
