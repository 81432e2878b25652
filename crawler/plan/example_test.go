package plan_test

import (
	"fmt"
	"log/slog"

	"fossick/crawler/plan"
)

// What a person asks for becomes the options of crawler and fetcher.
func Example() {
	c := plan.Crawl{Topic: "bees", Settings: plan.Settings{
		Goal:    plan.Goal{Keywords: []string{"honey", "hive"}, Seed: []string{"bees.test"}},
		Budget:  plan.Budget{MaxPages: 100},
		Manners: plan.Manners{Contact: "me@uni-x.de", Delay: "2s"},
	}}
	plan, err := c.Plan(plan.Program{Version: "1.0", Log: slog.New(slog.DiscardHandler), Say: func(format string, args ...any) {
		fmt.Printf(format+"\n", args...)
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Crawl.Seeds, plan.Crawl.MaxPages, plan.Crawl.Delay.Rest)
	fmt.Println(plan.Fetch.UserAgent)
	// Output:
	// start page bees.test is taken as https://bees.test/; write http:// before it if it has no https
	// [https://bees.test/] 100 2s
	// fossick/1.0 (+me@uni-x.de)
}
