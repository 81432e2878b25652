package sites_test

import (
	"fmt"

	"fossick/crawler/cluster/sites"
)

// All hosts of a site are in one partition.
func Example() {
	s := sites.New()
	fmt.Println(s.Part("http://www.example.org/a") == s.Part("https://docs.example.org/b"))
	// Output: true
}
