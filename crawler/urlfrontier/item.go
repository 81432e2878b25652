package urlfrontier

import (
	"math"
	"slices"

	"google.golang.org/protobuf/proto"

	"fossick/crawler/urlfrontier/api"
	"fossick/crawler/urlfrontier/queues"
)

// What is longer is skipped: it would not be fetched, and none of it is lost to anyone.
const (
	maxURLBytes  = 16 << 10
	maxKeyBytes  = 255 // of a queue's key and a crawl's id
	maxInfoBytes = 256 << 10
)

// put is a URL that a client sends, on its way to disk.
type put struct {
	info    *api.URLInfo // with crawl and key
	id      queues.ID
	known   bool
	refetch int64
	score   float64
	key     uint64 // of the scorer
	judged  bool   // score is of what the page turned out to be
	learned bool
	bad     bool // nothing can be made of it

	status api.AckMessage_Status
}

// read makes a put of what a client sent, and asks the scorer. It is done before the
// writer has it, so that streams are scored beside each other.
func (f *Frontier) read(info *api.URLInfo, known bool, refetch uint64) put {
	p := put{known: known, refetch: int64(min(refetch, math.MaxInt64/2)), status: api.AckMessage_SKIPPED}
	url := info.GetUrl()
	if url == "" || len(url) > maxURLBytes {
		p.bad = true
		return p
	}
	p.info = info
	info.CrawlID = crawlOf(info.CrawlID)
	if info.Key == "" {
		info.Key = keyOf(url)
	}
	if info.Key == "" || len(info.Key) > maxKeyBytes || len(info.CrawlID) > maxKeyBytes {
		p.bad = true
		return p
	}
	p.id = idOf(url)
	if p.bad = proto.Size(info) > maxInfoBytes; p.bad {
		return p
	}
	scorer := f.scorers.get(info.CrawlID)
	if scorer == nil {
		p.bad, p.status = true, api.AckMessage_FAIL
		return p
	}
	if known {
		p.score, p.judged, p.learned = scorer.Known(info)
	} else {
		p.score, p.key = scorer.Found(info)
	}
	if math.IsNaN(p.score) { // would be no order
		p.score = 0
	}
	return p
}

// readItem is read for a URLItem; what it answers with is named by name.
func (f *Frontier) readItem(item *api.URLItem) (p put, name string) {
	if known := item.GetKnown(); known != nil {
		p = f.read(known.GetInfo(), true, known.GetRefetchableFromDate())
		name = known.GetInfo().GetUrl()
	} else {
		p = f.read(item.GetDiscovered().GetInfo(), false, 0)
		name = item.GetDiscovered().GetInfo().GetUrl()
	}
	if item.GetID() != "" {
		name = item.GetID()
	}
	return p, name
}

// job is work for the writer: URLs to put or, alone, something else to do. It goes to
// reply when it is done, which has room for it.
type job struct {
	name  string
	puts  []put
	do    func() error
	err   error
	reply chan<- *job
	free  func() // nil, or says that the job's URLs are no longer held
}

// end hands the job back, without what it held.
func (j *job) end() {
	for i := range j.puts {
		j.puts[i].info = nil
	}
	if j.free != nil {
		j.free()
	}
	j.reply <- j
}

// submit hands a job to the writer; errStopped when there is none any more.
func (f *Frontier) submit(j *job) error {
	f.closing.RLock()
	defer f.closing.RUnlock()
	if f.closed {
		return errStopped
	}
	f.jobs <- j // the writer takes it: it ends after this channel
	return nil
}

// alone has the writer do something between two batches, and waits for it.
func (f *Frontier) alone(do func() error) error {
	reply := make(chan *job, 1)
	if err := f.submit(&job{do: do, reply: reply}); err != nil {
		return err
	}
	return (<-reply).err
}

// statuses are those of a job's URLs.
func (j *job) statuses() []api.AckMessage_Status {
	all := make([]api.AckMessage_Status, 0, len(j.puts))
	for i := range j.puts {
		all = append(all, j.puts[i].status)
	}
	return slices.Clip(all)
}
