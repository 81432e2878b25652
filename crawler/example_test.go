package crawler_test

import (
	"context"
	"fmt"
	"strings"

	"fossick/crawler"
	"fossick/graph/orders"
	"fossick/internal/page"
)

// honey scores pages about honey, and their links, as on topic.
type honey struct{}

func (honey) ScorePage(p *page.Page, parent float64) crawler.Score {
	if strings.Contains(p.Text, "honey") {
		return crawler.Score{Value: 1, Relevant: true}
	}
	return crawler.Score{Value: parent / 2}
}

func (honey) ScoreLinks(dst []float64, p *page.Page, s crawler.Score) []float64 {
	for range p.Links {
		dst = append(dst, s.Value)
	}
	return dst
}

// A crawl of a web in memory, by the engine that New and Run use with a Store and a Fetcher on
// the real web.
func ExampleVirtual() {
	web := map[string]string{
		"http://a.test/":        `start <a href="/rocks">rocks</a> <a href="http://bees.test/">bees</a>`,
		"http://a.test/rocks":   `rocks <a href="/basalt">basalt</a>`,
		"http://a.test/basalt":  `basalt is a rock`,
		"http://bees.test/":     `honey <a href="/hive">hive</a>`,
		"http://bees.test/hive": `a hive of honey`,
	}
	answer := func(url string) crawler.Answer {
		p, err := page.Parse([]byte(web[url]), page.ParseOptions{URL: url, ContentType: "text/html"})
		if web[url] == "" || err != nil {
			return crawler.Answer{} // 404
		}
		return crawler.Answer{Page: p}
	}
	order, _ := orders.OrderingByName("relevance")
	r, err := crawler.Virtual(context.Background(), crawler.Options{Scorer: honey{}, Ordering: order, Seeds: []string{"http://a.test/"}}, answer)
	for _, p := range r.Pages {
		fmt.Println(p.Page.URL, p.Score.Relevant)
	}
	fmt.Println(r.Stopped, err)
	// Output:
	// http://a.test/ false
	// http://a.test/rocks false
	// http://bees.test/ true
	// http://bees.test/hive true
	// http://a.test/basalt false
	// frontier_empty <nil>
}
