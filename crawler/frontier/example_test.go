package frontier_test

import (
	"fmt"
	"time"

	"fossick/crawler/frontier"
)

// The best URL comes first, but never two of a host at once.
func Example() {
	f, err := frontier.New(frontier.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	a, b := f.Host("a.test:80"), f.Host("b.test:80")
	f.Push(frontier.Item{ID: 1, Host: a, Priority: 0.9})
	f.Push(frontier.Item{ID: 2, Host: a, Priority: 0.8})
	f.Push(frontier.Item{ID: 3, Host: b, Priority: 0.1})
	now := time.Unix(0, 0)
	for range 2 {
		it, _ := f.Next(now)
		fmt.Println(it.ID)
	}
	f.Done(a, now.Add(2*time.Second)) // the host rests
	_, ok := f.Next(now)
	fmt.Println(ok)
	it, _ := f.Next(now.Add(2 * time.Second))
	fmt.Println(it.ID)
	// Output:
	// 1
	// 3
	// false
	// 2
}
