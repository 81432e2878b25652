package urlfrontier

import (
	"math"

	"fossick/crawler/urlfrontier/queues"
)

// setQueue changes what is said of a queue, and keeps it; false when there is no such
// queue.
func (f *Frontier) setQueue(crawl, key string, change func(*queues.Settings)) (found bool, err error) {
	err = f.alone(func() error {
		f.mu.Lock()
		defer f.mu.Unlock()
		q := f.set.Find(crawl, key)
		if found = q != nil; !found {
			return nil
		}
		settings := q.Settings
		change(&settings)
		f.set.Set(q, settings, f.now())
		f.failed = f.keep(queueKey(queuePrefix, q.Number), encodeQueue(q.Crawl, q.Name, settings))
		return f.failed
	})
	return found, err
}

// setDelay sets the delay of queues without one of their own.
func (f *Frontier) setDelay(seconds uint32) error {
	return f.alone(func() error {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.set.SetDelay(int64(seconds), f.now())
		f.failed = f.keep([]byte(metaKey), meta(f.set.Delay()))
		return f.failed
	})
}

// setActive has URLs handed out, or not; the process remembers it, and no other.
func (f *Frontier) setActive(active bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.paused = !active
}

func (f *Frontier) active() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.paused
}

// seconds is a time of the API as it is kept.
func seconds(t uint64) int64 { return int64(min(t, math.MaxInt64/2)) }
