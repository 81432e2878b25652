package urlfrontier

import (
	"context"
	"slices"

	"fossick/crawler/urlfrontier/api"
	"fossick/crawler/urlfrontier/queues"
)

// deletePart is how many records are deleted in one commit.
const deletePart = 1000

// deleteQueues deletes a queue of a crawl, or all. It returns how many URLs went. They
// are gone with the queues' records, whatever happens while theirs are deleted.
func (f *Frontier) deleteQueues(crawl, key string, all bool) (urls int, err error) {
	err = f.alone(func() error {
		var gone []*queues.Queue
		var err error
		if urls, gone, err = f.dropQueues(crawl, key, all); err != nil {
			f.fail(err)
			return err
		}
		for _, q := range gone {
			keys, err := f.keysOf(q)
			if err == nil {
				err = f.records.remove(keys)
			}
			if err != nil {
				f.fail(err)
				return err
			}
		}
		return nil
	})
	return urls, err
}

func (f *Frontier) dropQueues(crawl, key string, all bool) (urls int, gone []*queues.Queue, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var keys [][]byte
	if q := f.set.Find(crawl, key); all {
		gone = f.set.Queues(crawl)
	} else if q != nil {
		gone = append(gone, q)
	}
	for _, q := range gone {
		urls += q.Waiting() + q.Completed
		keys = append(keys, queueKey(queuePrefix, q.Number))
		f.set.DropQueue(q)
	}
	if !slices.Contains(f.set.Crawls(), crawl) {
		f.scorers.forget(crawl)
	}
	return urls, gone, f.records.remove(keys)
}

// purge deletes the URLs of a queue, or of a crawl, that came before a second.
func (f *Frontier) purge(crawl, key string, before int64) (urls int, err error) {
	err = f.alone(func() error {
		var keys [][]byte
		err := f.walk(context.Background(), crawl, key, "", false, func(k []byte, h header, info *api.URLInfo) error {
			if h.created < before {
				keys = append(keys, append([]byte(nil), k...))
				f.forget(crawl, info.GetKey(), k, h)
			}
			return nil
		})
		urls = len(keys)
		if err == nil {
			err = f.records.remove(keys)
		}
		if err != nil {
			f.fail(err)
		}
		return err
	})
	return urls, err
}

// forget takes a URL that is to be purged out of its queue.
func (f *Frontier) forget(crawl, queue string, key []byte, h header) {
	_, id, err := parseURLKey(key)
	f.mu.Lock()
	defer f.mu.Unlock()
	q := f.set.Find(crawl, queue)
	if q == nil || err != nil {
		return
	}
	if h.refetch == 0 {
		f.set.Complete(q, -1, f.now())
	} else {
		f.set.Drop(q, id, f.now())
	}
}
