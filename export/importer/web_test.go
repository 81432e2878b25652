package importer

import (
	"fmt"
	"sync"
	"testing"

	"fossick/crawler/fetch"
	"fossick/datasets"
)

// TestTwoWorkers: a worker that is slow gets another one beside it, so that two ask at once.
func TestTwoWorkers(t *testing.T) {
	const pages = 400
	w := newWeb(func(yield func(*datasets.Example, error) bool) {
		for i := range pages {
			if !yield(&datasets.Example{URL: fmt.Sprintf("http://a.test/%d", i), HTML: "x", Label: fmt.Sprint(i)}, nil) {
				return
			}
		}
	})
	defer w.close()
	var both sync.WaitGroup
	for worker := range 2 {
		both.Go(func() {
			for i := worker; i < pages; i += 2 {
				url := fmt.Sprintf("http://a.test/%d", i)
				if r := w.Fetch(t.Context(), fetch.Request{URL: url}); r.State != fetch.StateOK || w.labelOf(url) != fmt.Sprint(i) {
					t.Errorf("%s: %+v", url, r)
				}
			}
		})
	}
	both.Wait()
}
