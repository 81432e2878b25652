package train

import (
	"errors"
	"sync"

	"fossick/models/features"
)

// counting counts the terms of pages, and the words that K is chosen from, each
// in a goroutine of its own. The next pages are read and parsed meanwhile, for
// training on many short pages is mostly reading. Pages are counted in the
// order in which they are added, so that the result is the same as without.
type counting struct {
	to    []chan counted
	batch counted
	done  sync.WaitGroup

	mu  sync.Mutex // guards err
	err error      // the first of each counter
}

// counted is a batch of pages, for a page is too short to be handed over alone.
type counted struct {
	labels []string
	docs   []features.Doc
}

const countedPages = 32

// newCounting starts the counters that are not nil. What they count is complete
// after close. A counter that fails is not called again.
func newCounting(counters ...func(label string, d features.Doc) error) *counting {
	n := &counting{}
	for _, count := range counters {
		if count == nil {
			continue
		}
		to := make(chan counted, 4)
		n.to = append(n.to, to)
		n.done.Go(func() {
			var err error
			for batch := range to { // to the end, so that add never waits in vain
				for j := 0; j < len(batch.docs) && err == nil; j++ {
					err = count(batch.labels[j], batch.docs[j])
				}
				if err != nil {
					n.fail(err)
				}
			}
		})
	}
	return n
}

func (n *counting) fail(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !errors.Is(n.err, err) {
		n.err = errors.Join(n.err, err)
	}
}

// add hands over a page of a class. It fails soon after a counter did.
func (n *counting) add(label string, d features.Doc) error {
	n.batch.labels, n.batch.docs = append(n.batch.labels, label), append(n.batch.docs, d)
	if len(n.batch.docs) < countedPages {
		return nil
	}
	n.flush()
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.err
}

func (n *counting) flush() {
	for _, to := range n.to {
		to <- n.batch
	}
	n.batch = counted{}
}

// close waits until all pages are counted.
func (n *counting) close() error {
	n.flush()
	for _, to := range n.to {
		close(to)
	}
	n.done.Wait()
	return n.err
}
