package train

import (
	"errors"
	"sync"

	"fossick/features"
)

// counting works on pages while the next ones are read and parsed, each of its
// jobs in a goroutine of its own: training on many short pages is mostly reading.
// A job gets the pages in the order in which they are added, so that the result is
// the same as without.
type counting struct {
	to    []chan counted
	errs  []error // by job, read after done
	batch counted
	done  sync.WaitGroup
}

// counted is a batch of pages, for a page is too short to be handed over alone.
type counted struct {
	labels []string
	docs   []features.Doc
	bytes  int
}

// A batch ends with so many pages or bytes of text, and so many may wait for a job:
// some megabytes in all.
const (
	countedPages   = 32
	countedBytes   = 1 << 18
	countedBatches = 4
)

// newCounting starts the jobs. The first error of a job ends its work, and comes
// out of close.
func newCounting(jobs ...func(label string, d features.Doc) error) *counting {
	n := &counting{errs: make([]error, len(jobs))}
	for i, do := range jobs {
		to := make(chan counted, countedBatches)
		n.to = append(n.to, to)
		n.done.Go(func() {
			for batch := range to {
				for j, d := range batch.docs {
					if n.errs[i] == nil {
						n.errs[i] = do(batch.labels[j], d)
					}
				}
			}
		})
	}
	return n
}

// add hands over a page of a class.
func (n *counting) add(label string, d features.Doc) {
	n.batch.labels, n.batch.docs = append(n.batch.labels, label), append(n.batch.docs, d)
	n.batch.bytes += len(d.Text)
	if len(n.batch.docs) == countedPages || n.batch.bytes > countedBytes {
		n.flush()
	}
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
	return errors.Join(n.errs...)
}
