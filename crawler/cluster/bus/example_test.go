package bus_test

import (
	"context"
	"fmt"
	"os"

	"fossick/crawler/cluster/bus"
)

func Example() {
	dir, _ := os.MkdirTemp("", "bus")
	defer func() { _ = os.RemoveAll(dir) }()
	server, err := bus.Serve(bus.ServeOptions{Crawl: "bees", Agent: "00000000000000aa", Dir: dir})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = server.Close() }()
	ctx := context.Background()
	agent, err := bus.Open(ctx, bus.Options{Crawl: "bees", Agent: "00000000000000aa", Server: server})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = agent.Close() }()
	_, err = agent.Swap(ctx, "owners", []byte("one"), 0)
	values, _ := agent.Values(ctx)
	fmt.Printf("%s, %v\n", values["owners"].Bytes, err)
	// Output: one, <nil>
}
