package crawlplan

import (
	"fmt"

	"fossick/internal/page"
	"fossick/relevance"
)

// Paper A's policy, with ρ = 0.3, scores a page by three words of a topic.
func ExampleParse() {
	p, rho, err := Parse("paper:0.3")
	if err != nil {
		fmt.Println(err)
		return
	}
	words, err := relevance.NewKeywords([]string{"honey", "hive", "queen"})
	if err != nil {
		fmt.Println(err)
		return
	}
	scorer, err := p.Scorer(Input{Keywords: words, Rho: *rho, Threshold: p.Threshold()})
	if err != nil {
		fmt.Println(err)
		return
	}
	bees, err := page.Parse([]byte(`The queen of the hive. <a href="/more">More</a>`), page.ParseOptions{URL: "http://bees.test/"})
	if err != nil {
		fmt.Println(err)
		return
	}
	score := scorer.ScorePage(bees, 1)
	fmt.Printf("%.2f %v %.2f\n", score.Value, score.Relevant, scorer.ScoreLinks(nil, bees, score))
	// Output: 0.77 true [0.77]
}
