package urlfrontier_test

import (
	"context"
	"fmt"
	"net"
	"os"

	"fossick/crawler/urlfrontier"
	"fossick/crawler/urlfrontier/api"
)

// alike gives all URLs the same priority.
type alike struct{}

func (alike) Found(*api.URLInfo) (score float64, key uint64)           { return 0.5, 0 }
func (alike) Known(*api.URLInfo) (score float64, judged, learned bool) { return 0, false, false }
func (alike) Rescore(uint64) (score float64, known bool)               { return 0, false }

// A frontier serves until its context ends.
func ExampleServer() {
	dir, err := os.MkdirTemp("", "frontier")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	f, err := urlfrontier.Open(dir, urlfrontier.Options{Scorer: func(string) urlfrontier.Scorer { return alike{} }})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // no client comes
	fmt.Println(urlfrontier.NewServer(f, l.Addr().String()).Serve(ctx, l))
	fmt.Println(f.Size())
	// Output:
	// <nil>
	// 0 0
}
