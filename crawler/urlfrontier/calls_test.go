package urlfrontier

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fossick/crawler/urlfrontier/api"
	"fossick/internal/testkit"
)

const (
	ok      = api.AckMessage_OK
	skipped = api.AckMessage_SKIPPED
	failing = api.AckMessage_FAIL
)

// TestCalls makes each of the nineteen calls once.
func TestCalls(t *testing.T) {
	r := run(t, t.TempDir(), Options{})
	first := found("", "", "http://Example.test:81/a")
	first.ID = "own"
	if got := r.put(first, known("", "", "http://example.test/b", 0)); !slices.Equal(got, []api.AckMessage_Status{ok, ok}) {
		t.Errorf("put: %v", got)
	}
	batches := exchange[api.BatchAck](r.client, "PutDiscovered", []*api.DiscoveredBatch{{ID: "x", Items: []*api.URLInfo{
		{Url: "http://example.test/b"}, {Url: "http://other.test/"}, {Url: ""}, {Url: "http://other.test/"},
		{Url: "http://second.test/", CrawlID: "second", Metadata: map[string]*api.StringList{"depth": {Values: []string{"1"}}}},
	}}})
	if len(batches) != 1 || batches[0].GetID() != "x" || fmt.Sprint(batches[0].GetStatuses()) != "[SKIPPED OK SKIPPED SKIPPED OK]" {
		t.Errorf("PutDiscovered: %v", batches)
	}
	check := func(call string, got, want any) {
		t.Helper()
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", call, got, want)
		}
	}
	if nodes := ask[api.StringList](r.client, "ListNodes", &api.Empty{}).GetValues(); len(nodes) != 1 || !strings.HasPrefix(nodes[0], "127.0.0.1:") {
		t.Errorf("ListNodes: %v", nodes)
	}
	check("ListCrawls", ask[api.StringList](r.client, "ListCrawls", &api.Local{}).GetValues(), []string{defaultCrawl, "second"})
	check("ListQueues", ask[api.QueueList](r.client, "ListQueues", &api.Pagination{}).GetValues(), []string{"example.test", "other.test"})
	stats := ask[api.Stats](r.client, "GetStats", &api.QueueWithinCrawlParams{Key: "example.test"})
	check("GetStats", []any{stats.GetSize(), stats.GetCounts()["completed"], stats.GetNumberOfQueues(), stats.GetCrawlID()}, []any{1, 1, 1, defaultCrawl})
	item := ask[api.URLItem](r.client, "GetURLStatus", &api.URLStatusRequest{Url: "http://second.test/", CrawlID: "second"})
	check("GetURLStatus", []any{item.GetCreationDate(), item.GetKnown().GetRefetchableFromDate(), item.GetKnown().GetInfo().GetMetadata()["depth"].GetValues()}, []any{1000000, 1000000, []string{"1"}})
	check("CountURLs", ask[api.Long](r.client, "CountURLs", &api.CountUrlParams{}).GetValue(), 3)
	check("ListURLs", len(stream[api.URLItem](r.client, "ListURLs", &api.ListUrlParams{Start: 1, Size: 1})), 1)

	ask[api.Empty](r.client, "SetActive", &api.Active{State: false})
	check("GetActive", ask[api.Boolean](r.client, "GetActive", &api.Local{}).GetState(), false)
	check("GetURLs while inactive", r.take(&api.GetParams{}), []string{})
	ask[api.Empty](r.client, "SetActive", &api.Active{State: true})
	ask[api.Empty](r.client, "BlockQueueUntil", &api.BlockQueueParams{Key: "other.test", Time: 1000010})
	ask[api.Empty](r.client, "SetCrawlLimit", &api.CrawlLimitParams{Key: "example.test", Limit: 1})
	check("GetURLs of a blocked queue and one at its limit", r.take(&api.GetParams{Item: &api.GetParams_CrawlID{}}), []string{})
	ask[api.Empty](r.client, "SetCrawlLimit", &api.CrawlLimitParams{Key: "example.test"})
	check("GetURLs", r.take(&api.GetParams{Item: &api.GetParams_CrawlID{}}), []string{"http://Example.test:81/a"})
	ask[api.Empty](r.client, "SetDelay", &api.QueueDelayParams{Key: "example.test", DelayRequestable: 50})
	r.clock.seconds.Add(31)
	check("GetURLs of a queue with a delay", r.take(&api.GetParams{Item: &api.GetParams_CrawlID{}, Key: "example.test"}), []string{})
	r.clock.seconds.Add(20)
	check("GetURLs again", r.take(&api.GetParams{Item: &api.GetParams_CrawlID{}, Key: "example.test"}), []string{"http://Example.test:81/a"})

	ask[api.Empty](r.client, "SetLogLevel", &api.LogLevelParams{Package: "urlfrontier", Level: api.LogLevelParams_ERROR})
	check("PurgeURLs of nothing", ask[api.Long](r.client, "PurgeURLs", &api.PurgeUrlParams{Days: 1}).GetValue(), 0)
	check("DeleteQueue", ask[api.Long](r.client, "DeleteQueue", &api.QueueWithinCrawlParams{Key: "example.test"}).GetValue(), 2)
	check("DeleteCrawl", ask[api.Long](r.client, "DeleteCrawl", &api.DeleteCrawlMessage{Value: "second"}).GetValue(), 1)
	check("ListCrawls", ask[api.StringList](r.client, "ListCrawls", &api.Local{}).GetValues(), []string{defaultCrawl})
}

// TestErrors checks the gRPC codes of errors.
func TestErrors(t *testing.T) {
	r := run(t, t.TempDir(), Options{Waiting: 1})
	for _, tt := range []struct {
		call string
		in   any
		want codes.Code
		text string
	}{
		{"GetURLStatus", &api.URLStatusRequest{Url: "http://a.test/"}, codes.NotFound, "http://a.test/ is not in queue a.test"},
		{"GetURLStatus", &api.URLStatusRequest{Url: "/"}, codes.InvalidArgument, "give its key"},
		{"SetCrawlLimit", &api.CrawlLimitParams{Key: "a.test", Limit: 1}, codes.NotFound, "no queue a.test"},
		{"SetLogLevel", &api.LogLevelParams{Level: 7}, codes.InvalidArgument, "TRACE"},
		{"GetEverything", &api.Empty{}, codes.Unimplemented, ""},
	} {
		err := r.conn.Invoke(t.Context(), service+tt.call, tt.in, new(api.Empty))
		if status.Code(err) != tt.want || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s %v: %v, want code %v and %q", tt.call, tt.in, err, tt.want, tt.text)
		}
	}
	long := "http://a.test/" + strings.Repeat("x", maxURLBytes)
	got := r.put(found("", "", long), found("", strings.Repeat("k", maxKeyBytes+1), "http://a.test/"), found("", "", "?"), found("", "", "http://a.test/"), found("", "", "http://b.test/"), &api.URLItem{})
	if want := []api.AckMessage_Status{skipped, skipped, skipped, ok, failing, skipped}; !slices.Equal(got, want) {
		t.Errorf("put: %v, want %v", got, want)
	}
}

// TestStop: puts that were sent before the server stops are acknowledged.
func TestStop(t *testing.T) {
	dir := t.TempDir()
	r := run(t, dir, Options{})
	s := testkit.Call(r.conn.NewStream(t.Context(), &putDesc, service+"PutURLs")).Must(t)
	for i := range 100 {
		testkit.Must(t, s.SendMsg(found("", "", fmt.Sprintf("http://a.test/%d", i))))
	}
	ack := new(api.AckMessage)
	for range 100 {
		testkit.Must(t, s.RecvMsg(ack))
	}
	began := time.Now()
	r.stop()
	if err := s.RecvMsg(ack); status.Code(err) != codes.Unavailable {
		t.Errorf("the stream ended with %v, want code Unavailable", err)
	}
	if took := time.Since(began); took > grace/2 {
		t.Errorf("stopping took %v", took)
	}
	r = run(t, dir, Options{})
	if n := ask[api.Stats](r.client, "GetStats", &api.QueueWithinCrawlParams{}).GetSize(); n != 100 {
		t.Errorf("%d URLs wait, want 100", n)
	}
}
