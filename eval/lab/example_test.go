package lab_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"fossick/datasets"
	"fossick/eval/lab"
)

// The best policy that links allow, on a web of three pages on topic and two that are not.
func Example() {
	ctx := context.Background()
	web := []datasets.Example{
		{URL: "http://a.test/", Label: "bees", HTML: `hives <a href="/x">x</a> <a href="/honey">honey</a>`},
		{URL: "http://a.test/x", Label: "rocks", HTML: `basalt <a href="/y">y</a>`},
		{URL: "http://a.test/y", Label: "rocks", HTML: `granite <a href="/">home</a>`},
		{URL: "http://a.test/honey", Label: "bees", HTML: `honey <a href="/queen">queen</a>`},
		{URL: "http://a.test/queen", Label: "bees", HTML: `queens <a href="/">home</a>`},
	}
	corpus, err := lab.Load(ctx, datasets.FromSeq("bees", func(yield func(*datasets.Example, error) bool) {
		for i := range web {
			if !yield(&web[i], nil) {
				return
			}
		}
	}, datasets.Options{}))
	if err != nil {
		fmt.Println(err)
		return
	}
	draw, err := lab.NewDraw(corpus, lab.DrawOptions{Topic: "bees", Starts: 1, Sets: 3}, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		fmt.Println(err)
		return
	}
	x := lab.Experiment{Corpus: corpus, Draw: draw, Policies: []lab.Policy{lab.TargetOracle()}, Pages: 3}
	crawls, err := x.Run(ctx, nil)
	f := lab.Measure(x.Policies[0], crawls[0], draw, x.Pages, 1)
	fmt.Printf("%s: harvest %.2f in %d crawls, %v\n", f.Policy, f.Harvest.Value, len(crawls[0]), err)
	// Output: target-oracle: harvest 1.00 in 3 crawls, <nil>
}
