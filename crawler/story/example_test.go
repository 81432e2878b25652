package story_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"fossick/crawler/story"
	"fossick/internal/page"
	"fossick/store"
)

// What became of a URL that a crawl was told to begin with.
func ExampleOf() {
	dir, err := os.MkdirTemp("", "story-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	s, err := store.Create(filepath.Join(dir, "bees"), store.Info{Topic: "bees"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	const url = "http://bees.test/hive"
	b := s.Batch()
	err = errors.Join(b.PutSeen(store.HashURL(url), 1, false), b.PutDiscovery(1, store.Discovery{URL: url, Via: store.ViaSeed}),
		b.PutOutcome(1, store.Outcome{State: "robots_denied", Reason: "robots.txt of the host disallows it"}), b.Commit())
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := story.Of(s, page.NewNormalizer(nil), "http://bees.test:80/hive#queen", time.Now())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.URL, r.State)
	fmt.Println(r.Verdict)
	// Output:
	// http://bees.test/hive robots_denied
	// Not fetched (robots_denied): robots.txt of the host disallows it.
}
