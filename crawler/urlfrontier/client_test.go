package urlfrontier

import (
	"context"
	"errors"
	"hash/fnv"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"fossick/crawler/urlfrontier/api"
)

// byHash is a scorer that derives priorities from the URL's text.
type byHash struct{}

func worth(url string) float64 {
	h := fnv.New32a()
	io.WriteString(h, url)
	return float64(h.Sum32()%10) / 10
}

func (byHash) Found(info *api.URLInfo) (float64, uint64)  { return worth(info.GetUrl()), 0 }
func (byHash) Known(*api.URLInfo) (float64, bool, bool)   { return 0, false, false }
func (byHash) Rescore(uint64) (score float64, known bool) { return 0, false }

type clock struct{ seconds atomic.Int64 }

func (c *clock) now() time.Time { return time.Unix(c.seconds.Load(), 0) }

// client is a gRPC client like StormCrawler's, of another implementation than the server.
type client struct {
	t    testing.TB
	conn *grpc.ClientConn
}

func dial(t testing.TB, addr string) client {
	t.Helper()
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return client{t, conn}
}

var putDesc = grpc.StreamDesc{ServerStreams: true, ClientStreams: true}

// running is a frontier with a server and a client.
type running struct {
	client
	frontier *Frontier
	clock    *clock
	stop     func()
}

// run serves the frontier in a folder until the test ends, or stop is called.
func run(t testing.TB, dir string, opt Options) *running {
	t.Helper()
	c := new(clock)
	c.seconds.Store(1_000_000)
	if opt.Now == nil {
		opt.Now = c.now
	}
	if opt.Scorer == nil {
		opt.Scorer = func(string) Scorer { return byHash{} }
	}
	f, err := Open(dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	s := NewServer(f, l.Addr().String())
	go func() { ended <- s.Serve(ctx, l) }()
	stopped := false
	r := &running{client: dial(t, l.Addr().String()), frontier: f, clock: c}
	r.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := errors.Join(<-ended, f.Close()); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(r.stop)
	return r
}

// ask makes a unary call.
func ask[Out any](c client, call string, in any) *Out {
	c.t.Helper()
	out := new(Out)
	if err := c.conn.Invoke(c.t.Context(), service+call, in, out); err != nil {
		c.t.Fatalf("%s %v: %v", call, in, err)
	}
	return out
}

// stream makes a call with many answers.
func stream[Out any](c client, call string, in any) (all []*Out) {
	c.t.Helper()
	s, err := c.conn.NewStream(c.t.Context(), &grpc.StreamDesc{ServerStreams: true}, service+call)
	if err == nil {
		err = s.SendMsg(in)
	}
	if err == nil {
		err = s.CloseSend()
	}
	for err == nil {
		out := new(Out)
		if err = s.RecvMsg(out); err == nil {
			all = append(all, out)
		}
	}
	if !errors.Is(err, io.EOF) {
		c.t.Fatalf("%s %v: %v", call, in, err)
	}
	return all
}

// exchange sends all messages of a two-way call, and returns the answers.
func exchange[Out any, In any](c client, call string, ins []In) (all []*Out) {
	c.t.Helper()
	s, err := c.conn.NewStream(c.t.Context(), &putDesc, service+call)
	if err != nil {
		c.t.Fatal(err)
	}
	sent := make(chan error, 1)
	go func() {
		for _, in := range ins {
			if err := s.SendMsg(in); err != nil {
				sent <- err
				return
			}
		}
		sent <- s.CloseSend()
	}()
	for {
		out := new(Out)
		if err = s.RecvMsg(out); err != nil {
			break
		}
		all = append(all, out)
	}
	if e := <-sent; !errors.Is(err, io.EOF) || e != nil {
		c.t.Fatalf("%s: %v, %v", call, err, e)
	}
	return all
}

func found(crawl, key, url string) *api.URLItem {
	return &api.URLItem{Item: &api.URLItem_Discovered{Discovered: &api.DiscoveredURLItem{Info: &api.URLInfo{Url: url, Key: key, CrawlID: crawl}}}}
}

func known(crawl, key, url string, refetch int64) *api.URLItem {
	return &api.URLItem{Item: &api.URLItem_Known{Known: &api.KnownURLItem{
		Info: &api.URLInfo{Url: url, Key: key, CrawlID: crawl}, RefetchableFromDate: uint64(refetch),
	}}}
}

// put puts URLs and returns their statuses.
func (c client) put(items ...*api.URLItem) (all []api.AckMessage_Status) {
	c.t.Helper()
	for i, ack := range exchange[api.AckMessage](c, "PutURLs", items) {
		want := items[i].GetID()
		if want == "" {
			want = items[i].GetKnown().GetInfo().GetUrl() + items[i].GetDiscovered().GetInfo().GetUrl()
		}
		if ack.GetID() != want {
			c.t.Errorf("answer %d is to %q, want %q", i, ack.GetID(), want)
		}
		all = append(all, ack.GetStatus())
	}
	if len(all) != len(items) {
		c.t.Errorf("%d answers to %d URLs", len(all), len(items))
	}
	return all
}

func (c client) take(p *api.GetParams) (urls []string) {
	c.t.Helper()
	for _, info := range stream[api.URLInfo](c, "GetURLs", p) {
		urls = append(urls, info.GetUrl())
	}
	return urls
}
