package urlfrontier

import (
	"fmt"
	"testing"
	"time"

	"fossick/crawler/urlfrontier/api"
)

// BenchmarkPut puts URLs of 200 hosts in turn on one gRPC stream, to disk.
func BenchmarkPut(b *testing.B) {
	r := run(b, b.TempDir(), Options{Now: time.Now})
	b.ReportAllocs()
	items := make([]*api.URLItem, b.N)
	for i := range items {
		items[i] = found("", "", fmt.Sprintf("http://h%d.test/pages/%d.html", i%200, i))
	}
	b.ResetTimer()
	r.put(items...)
}

// BenchmarkPutDiscovered is BenchmarkPut in batches of 100.
func BenchmarkPutDiscovered(b *testing.B) {
	r := run(b, b.TempDir(), Options{Now: time.Now})
	b.ReportAllocs()
	var batches []*api.DiscoveredBatch
	for i := range b.N {
		if i%100 == 0 {
			batches = append(batches, &api.DiscoveredBatch{})
		}
		last := batches[len(batches)-1]
		last.Items = append(last.Items, &api.URLInfo{Url: fmt.Sprintf("http://h%d.test/pages/%d.html", i%200, i)})
	}
	b.ResetTimer()
	exchange[api.BatchAck](r.client, "PutDiscovered", batches)
}

// BenchmarkGet gets ten URLs of each of ten queues a call.
func BenchmarkGet(b *testing.B) {
	r := run(b, b.TempDir(), Options{})
	ask[api.Empty](r.client, "SetDelay", &api.QueueDelayParams{})
	var batches []*api.DiscoveredBatch
	for i := range max(b.N, 10_000) {
		if i%100 == 0 {
			batches = append(batches, &api.DiscoveredBatch{})
		}
		last := batches[len(batches)-1]
		last.Items = append(last.Items, &api.URLInfo{Url: fmt.Sprintf("http://h%d.test/pages/%d.html", i%200, i)})
	}
	exchange[api.BatchAck](r.client, "PutDiscovered", batches)
	batches = nil
	b.ReportAllocs()
	b.ResetTimer()
	for got := 0; got < b.N; {
		n := len(r.client.take(&api.GetParams{MaxQueues: 10, MaxUrlsPerQueue: 10, DelayRequestable: 1}))
		if n == 0 {
			r.clock.seconds.Add(2)
		}
		got += n
	}
}
