package local_test

import (
	"context"
	"fmt"

	"fossick/crawler/cluster/local"
)

func Example() {
	hub := local.New()
	a, _ := hub.Open("00000000000000aa")
	b, _ := hub.Open("00000000000000bb")
	ctx := context.Background()
	_ = a.Send(ctx, "00000000000000bb", []byte("links"))
	message, _ := b.Receive(ctx)
	revision, _ := a.Swap(ctx, "owners", []byte("a"), 0)
	_, err := b.Swap(ctx, "owners", []byte("b"), 0)
	fmt.Printf("%s; %d; %v\n", message, revision, err)
	// Output: links; 1; key owners: the key has another revision
}
