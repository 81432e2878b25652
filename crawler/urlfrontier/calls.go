package urlfrontier

import (
	"cmp"
	"context"
	"fmt"

	"connectrpc.com/connect"

	"fossick/crawler/urlfrontier/api"
	"fossick/crawler/urlfrontier/queues"
)

// The calls that ask for one thing, in the order of the API. Where they name one node
// (local), it is this one: there is no other.

func (s *Server) listNodes(_ context.Context, _ *api.Empty) (*api.StringList, error) {
	return &api.StringList{Values: []string{s.address}}, nil
}

func (s *Server) listCrawls(_ context.Context, _ *api.Local) (*api.StringList, error) {
	return &api.StringList{Values: s.f.crawls()}, nil
}

func (s *Server) listQueues(_ context.Context, r *api.Pagination) (*api.QueueList, error) {
	crawl := crawlOf(r.GetCrawlID())
	keys, total := s.f.listQueues(crawl, int(r.GetStart()), int(cmp.Or(r.GetSize(), defaultPage)), r.GetIncludeInactive())
	return &api.QueueList{Values: keys, Total: uint64(total), Start: r.GetStart(), Size: uint32(len(keys)), CrawlID: crawl}, nil
}

func (s *Server) getStats(_ context.Context, r *api.QueueWithinCrawlParams) (*api.Stats, error) {
	crawl := crawlOf(r.GetCrawlID())
	n, err := s.f.stats(crawl, r.GetKey())
	if err != nil {
		return nil, err
	}
	return &api.Stats{
		Size: uint64(n.Waiting), InProcess: uint32(n.HandedOut), NumberOfQueues: uint64(n.Queues), CrawlID: crawl,
		Counts: map[string]uint64{"completed": uint64(n.Completed), "active_queues": uint64(n.Active)},
	}, nil
}

func (s *Server) getURLStatus(_ context.Context, r *api.URLStatusRequest) (*api.URLItem, error) {
	crawl, key := crawlOf(r.GetCrawlID()), cmp.Or(r.GetKey(), keyOf(r.GetUrl()))
	if key == "" {
		return nil, connect.NewError(connect.CodeInvalidArgument, fmt.Errorf("%q has no host; give its key", r.GetUrl()))
	}
	item, err := s.f.find(crawl, key, r.GetUrl())
	if err == nil && item == nil {
		err = notFound("%s is not in queue %s of crawl %s", r.GetUrl(), key, crawl)
	}
	return item, err
}

func (s *Server) countURLs(ctx context.Context, r *api.CountUrlParams) (*api.Long, error) {
	n := uint64(0)
	err := s.f.walk(ctx, crawlOf(r.GetCrawlID()), r.GetKey(), r.GetFilter(), r.GetIgnoreCase(), func([]byte, header, *api.URLInfo) error {
		n++
		return nil
	})
	return &api.Long{Value: n}, err
}

func (s *Server) deleteCrawl(_ context.Context, r *api.DeleteCrawlMessage) (*api.Long, error) {
	n, err := s.f.deleteQueues(crawlOf(r.GetValue()), "", true)
	return &api.Long{Value: uint64(n)}, err
}

func (s *Server) deleteQueue(_ context.Context, r *api.QueueWithinCrawlParams) (*api.Long, error) {
	n, err := s.f.deleteQueues(crawlOf(r.GetCrawlID()), r.GetKey(), false)
	return &api.Long{Value: uint64(n)}, err
}

const secondsOfDay = 24 * 60 * 60

func (s *Server) purgeURLs(_ context.Context, r *api.PurgeUrlParams) (*api.Long, error) {
	n, err := s.f.purge(crawlOf(r.GetCrawlID()), r.GetKey(), s.f.now()-int64(r.GetDays())*secondsOfDay)
	return &api.Long{Value: uint64(n)}, err
}

// A block and a delay of a queue that there is not are no error, as elsewhere.

func (s *Server) blockQueueUntil(_ context.Context, r *api.BlockQueueParams) (*api.Empty, error) {
	_, err := s.f.setQueue(crawlOf(r.GetCrawlID()), r.GetKey(), func(q *queues.Settings) { q.Blocked = seconds(r.GetTime()) })
	return empty, err
}

func (s *Server) setDelay(_ context.Context, r *api.QueueDelayParams) (*api.Empty, error) {
	if r.GetKey() == "" {
		return empty, s.f.setDelay(r.GetDelayRequestable())
	}
	_, err := s.f.setQueue(crawlOf(r.GetCrawlID()), r.GetKey(), func(q *queues.Settings) { q.Delay = int64(r.GetDelayRequestable()) })
	return empty, err
}

func (s *Server) setCrawlLimit(_ context.Context, r *api.CrawlLimitParams) (*api.Empty, error) {
	crawl := crawlOf(r.GetCrawlID())
	found, err := s.f.setQueue(crawl, r.GetKey(), func(q *queues.Settings) { q.Limit = int(r.GetLimit()) })
	if err == nil && !found {
		err = notFound("crawl %s has no queue %s; a limit is set after its first URL", crawl, r.GetKey())
	}
	return empty, err
}

func (s *Server) setActive(_ context.Context, r *api.Active) (*api.Empty, error) {
	s.f.setActive(r.GetState())
	return empty, nil
}

func (s *Server) getActive(_ context.Context, _ *api.Local) (*api.Boolean, error) {
	return &api.Boolean{State: s.f.active()}, nil
}

func (s *Server) setLogLevel(_ context.Context, r *api.LogLevelParams) (*api.Empty, error) {
	level, ok := levels[r.GetLevel()]
	if !ok {
		return nil, connect.NewError(connect.CodeInvalidArgument, fmt.Errorf("level %d: want 0 (TRACE) to 4 (ERROR)", r.GetLevel()))
	}
	s.level.Store(&level)
	return empty, nil
}

func (s *Server) getURLs(_ context.Context, r *api.GetParams, send func(*api.URLInfo) error) error {
	select {
	case <-s.stopping:
		return nil
	default:
	}
	n, err := s.f.take(r, send)
	s.log.Info("URLs handed out", "urls", n)
	return err
}

func (s *Server) listURLs(ctx context.Context, r *api.ListUrlParams, send func(*api.URLItem) error) error {
	at, last := uint64(0), uint64(r.GetStart())+uint64(cmp.Or(r.GetSize(), defaultPage))
	return s.f.walk(ctx, crawlOf(r.GetCrawlID()), r.GetKey(), r.GetFilter(), r.GetIgnoreCase(), func(_ []byte, h header, info *api.URLInfo) error {
		at++
		if at <= uint64(r.GetStart()) {
			return nil
		}
		if err := send(itemOf(h, info)); err != nil {
			return err
		}
		if at == last {
			return errEnough
		}
		return nil
	})
}
