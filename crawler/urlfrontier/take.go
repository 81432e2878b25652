package urlfrontier

import (
	"fossick/crawler/urlfrontier/api"
	"fossick/crawler/urlfrontier/queues"
)

const (
	mostTaken   = 100_000 // URLs of one GetURLs, where a client sets no limit
	defaultHold = 30      // seconds until a URL that is not put back comes again
	readPart    = 256     // records read in one transaction
)

// take hands out what is asked for, and has send send it. What could not be sent waits
// again.
func (f *Frontier) take(r *api.GetParams, send func(*api.URLInfo) error) (sent int, err error) {
	taken, err := f.choose(r)
	for from := 0; from < len(taken) && err == nil; {
		to := min(from+readPart, len(taken))
		var infos []*api.URLInfo
		if infos, err = f.infos(taken[from:to]); err != nil {
			break
		}
		for _, info := range infos {
			if info != nil { // else deleted meanwhile
				if err = send(info); err != nil {
					break
				}
				sent++
			}
			from++
		}
		if err != nil {
			taken = taken[from:]
		}
	}
	if err != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.set.Return(taken, f.now())
	}
	return sent, err
}

// choose says what is handed out.
func (f *Frontier) choose(r *api.GetParams) ([]queues.Taken, error) {
	want := queues.Request{
		Queues: int(r.GetMaxQueues()), PerHead: int(r.GetMaxUrlsPerQueue()), Most: mostTaken, Hold: int64(r.GetDelayRequestable()),
	}
	if want.Hold == 0 {
		want.Hold = defaultHold
	}
	crawl, ofCrawl := r.GetItem().(*api.GetParams_CrawlID)
	if want.Any = !ofCrawl; ofCrawl {
		want.Crawl = crawlOf(crawl.CrawlID)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed != nil || f.paused {
		return nil, f.failed
	}
	if r.GetKey() != "" {
		// a key is one of a crawl; without one it names nothing
		if want.Queue = f.set.Find(want.Crawl, r.GetKey()); want.Queue == nil {
			return nil, nil
		}
	}
	return f.set.Take(want, f.now()), nil
}
