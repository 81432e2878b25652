package propose_test

import (
	"fmt"

	"fossick/internal/page"
	"fossick/relevance/propose"
)

// Addresses as people write them become URLs in normal form, each once.
func ExampleCollect() {
	list := propose.New(page.NewNormalizer(nil))
	for _, address := range []string{"https://Bees.test:443/hive#queen", "bees.test/hive", "bees.test"} {
		if err := list.Add(address, "--seed"); err != nil {
			fmt.Println(err)
			return
		}
	}
	for _, url := range list.URLs {
		fmt.Println(url)
	}
	fmt.Println(list.Assumed())
	// Output:
	// https://bees.test/hive
	// https://bees.test/
	// start page bees.test/hive is taken as https://bees.test/hive, and so 1 more; write http:// before those that have no https
}
