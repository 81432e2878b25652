package crawler_test

import (
	"context"
	"fmt"
	"strings"

	"fossick/crawler"
	"fossick/graph/orders"
	"fossick/internal/page"
)

// honey finds pages on topic that speak of honey, and their links likely to lead there.
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

// A crawl of a web in memory. On the real one it is New and Run with a Store and a
// Fetcher; what comes next is decided by the same engine.
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
