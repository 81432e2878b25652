package urlfrontier

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/dgraph-io/badger/v4"

	"fossick/crawler/urlfrontier/api"
	"fossick/crawler/urlfrontier/queues"
)

// defaultPage is how many queues or URLs a list has, where nothing else is asked for.
const defaultPage = 100

// stats counts what a queue has, or all of a crawl.
func (f *Frontier) stats(crawl, key string) (queues.Counts, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var of iter.Seq[*queues.Queue]
	if key == "" {
		of = f.set.All(crawl)
	} else if q := f.set.Find(crawl, key); q != nil {
		of = slices.Values([]*queues.Queue{q})
	} else {
		return queues.Counts{}, f.failed
	}
	return f.set.Count(of, f.now()), f.failed
}

func (f *Frontier) crawls() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.set.Crawls()
}

// listQueues returns the keys of a crawl's queues from one on, and how many there are:
// those that have URLs and are not blocked, or all.
func (f *Frontier) listQueues(crawl string, start, n int, all bool) (keys []string, total int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	for _, q := range f.set.Queues(crawl) {
		if !all && (q.Waiting() == 0 || q.Blocked >= now) {
			continue
		}
		if total >= start && len(keys) < n {
			keys = append(keys, q.Name)
		}
		total++
	}
	return keys, total
}

// queuesOf returns one queue of a crawl, or all.
func (f *Frontier) queuesOf(crawl, key string) (numbers []uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if key != "" {
		if q := f.set.Find(crawl, key); q != nil {
			numbers = append(numbers, q.Number)
		}
		return numbers
	}
	for _, q := range f.set.Queues(crawl) {
		numbers = append(numbers, q.Number)
	}
	return numbers
}

// find returns what is known of a URL; nil when it is unknown.
func (f *Frontier) find(crawl, key, url string) (*api.URLItem, error) {
	f.mu.Lock()
	q := f.set.Find(crawl, key)
	f.mu.Unlock()
	if q == nil {
		return nil, nil
	}
	var found *api.URLItem
	err := f.db.View(func(txn *badger.Txn) error {
		item, err := txn.Get(urlKey(q.Number, idOf(url)))
		if err != nil {
			return err
		}
		return item.Value(func(v []byte) error {
			h, info, err := parse(v)
			found = itemOf(h, info)
			return err
		})
	})
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, nil
	}
	return found, err
}

// itemOf is a URL as the API shows it.
func itemOf(h header, info *api.URLInfo) *api.URLItem {
	return &api.URLItem{
		Item:         &api.URLItem_Known{Known: &api.KnownURLItem{Info: info, RefetchableFromDate: uint64(h.refetch)}},
		CreationDate: uint64(h.created),
	}
}

// errEnough ends a walk.
var errEnough = errors.New("enough")

// walk calls do for the URLs of a queue, or of all of a crawl, that contain text; queues
// come in the order in which they were made. errEnough ends it.
func (f *Frontier) walk(ctx context.Context, crawl, key, text string, ignoreCase bool, do func(key []byte, h header, info *api.URLInfo) error) error {
	if ignoreCase {
		text = strings.ToLower(text)
	}
	err := f.db.View(func(txn *badger.Txn) error {
		for _, number := range f.queuesOf(crawl, key) {
			err := each(txn, queueKey(urlPrefix, number), func(key, value []byte) error {
				h, info, err := parse(value)
				if err = errors.Join(err, ctx.Err()); err != nil {
					return err
				}
				url := info.GetUrl()
				if ignoreCase {
					url = strings.ToLower(url)
				}
				if strings.TrimSpace(text) != "" && !strings.Contains(url, text) {
					return nil
				}
				return do(key, h, info)
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// Size counts crawls, and URLs that wait.
func (f *Frontier) Size() (crawls, urls int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.set.Crawls()), f.set.Waiting()
}
