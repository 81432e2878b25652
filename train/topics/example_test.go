package topics_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"fossick/train/topics"
)

// Make a topic of keywords, and find it by its folder.
func Example() {
	dir, err := os.MkdirTemp("", "topics-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	bees := topics.Wanted{
		Name:     "bees",
		Keywords: []string{"honey", "hive", "queen"},
		Seed:     []string{"https://bees.test/"},
		Out:      filepath.Join(dir, "bees"),
	}
	if _, err := bees.Make(context.Background(), topics.Learning{}); err != nil {
		fmt.Println(err)
		return
	}
	topic, err := topics.Find(bees.Out)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(topic.Name, topic.Keywords, topic.Seeds, topic.Model)
	// Output: bees [honey hive queen] [https://bees.test/] <nil>
}
