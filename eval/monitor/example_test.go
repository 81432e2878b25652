package monitor_test

import (
	"encoding/json"
	"fmt"
	"net/http"

	"fossick/crawler"
	"fossick/eval/monitor"
	"fossick/store"
)

// A crawl that tells a server of its progress, and somebody who looks.
func ExampleListen() {
	server, err := monitor.Listen("127.0.0.1:0", false, monitor.Session{Topic: "bees", Store: "fossick-bees"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Stop()
	opt := crawler.Options{Progress: server.Show}
	opt.Progress(crawler.Progress{Counts: store.Counts{Pages: 100, Relevant: 80}, Queue: 7}) // as the engine does

	resp, err := http.Get("http://" + server.Addr().String() + "/status")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	var status monitor.Status
	err = json.NewDecoder(resp.Body).Decode(&status)
	fmt.Println(status.Topic, status.Fetched, *status.Harvest, status.Queue, err)
	// Output: bees 100 0.8 7 <nil>
}
