package urlfrontier

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"fossick/crawler/urlfrontier/api"
	"fossick/internal/testkit"
)

// TestTogether: clients put, take and put back concurrently while another deletes. No URL is
// handed out twice, and in the end all are completed or deleted.
func TestTogether(t *testing.T) {
	r := run(t, t.TempDir(), Options{Now: time.Now})
	ask[api.Empty](r.client, "SetDelay", &api.QueueDelayParams{})
	const clients = 4
	urls := testkit.Rounds(300, 1500)
	var all sync.WaitGroup
	var mu sync.Mutex // guards taken
	taken := map[string]int{}
	for n := range clients {
		all.Go(func() {
			var items []*api.URLItem
			for i := range urls {
				items = append(items, found("", "", fmt.Sprintf("http://h%d.test/%d/%d", i%20, n, i)))
			}
			r.put(items...)
		})
		all.Go(func() {
			for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); {
				mu.Lock()
				enough := len(taken) == clients*urls
				mu.Unlock()
				if enough {
					break
				}
				got := r.take(&api.GetParams{MaxQueues: 5, MaxUrlsPerQueue: 50, DelayRequestable: 3600, Item: &api.GetParams_CrawlID{}})
				var back []*api.URLItem
				mu.Lock()
				for _, url := range got {
					taken[url]++
					back = append(back, known("", "", url, 0))
				}
				mu.Unlock()
				r.put(back...)
			}
		})
	}
	all.Go(func() {
		for i := range 20 {
			r.put(found("other", "", fmt.Sprintf("http://a.test/%d", i)))
			ask[api.Long](r.client, "DeleteCrawl", &api.DeleteCrawlMessage{Value: "other"})
		}
	})
	all.Wait()
	for url, times := range taken {
		if times > 1 {
			t.Errorf("%s was handed out %d times", url, times)
		}
	}
	stats := ask[api.Stats](r.client, "GetStats", &api.QueueWithinCrawlParams{})
	if done := int(stats.GetCounts()["completed"]); done != clients*urls || len(taken) != done || stats.GetSize() != 0 || stats.GetInProcess() != 0 {
		t.Errorf("%d completed, %d taken of %d; %v", done, len(taken), clients*urls, stats)
	}
	if n := ask[api.Long](r.client, "CountURLs", &api.CountUrlParams{}).GetValue(); int(n) != clients*urls {
		t.Errorf("%d URLs, want %d", n, clients*urls)
	}
}
