package models

import (
	"testing"
	"testing/fstest"

	"github.com/BurntSushi/toml"
)

// FuzzTopic: whatever a topic's file holds, reading it does not panic; one that was
// read has a name, and is read the same after being written.
func FuzzTopic(f *testing.F) {
	f.Add([]byte("name = \"bees\"\ntitle = \"Bees\"\nkeywords = [\"bee\", \"hive\"]\nseeds = [\"https://example.org/\"]\n"))
	f.Add([]byte("name = \"\"\nother = 1"))
	f.Add([]byte("[name]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		topic, err := readTopic(fstest.MapFS{topicFile: {Data: text}}, "t")
		if err != nil {
			return
		}
		if topic.Name == "" {
			t.Fatalf("%q: no name", text)
		}
		out, err := toml.Marshal(topic)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		again, err := readTopic(fstest.MapFS{topicFile: {Data: out}}, "t")
		if err != nil || again.Name != topic.Name || len(again.Keywords) != len(topic.Keywords) || len(again.Seeds) != len(topic.Seeds) {
			t.Errorf("%q: read %+v, and %+v after writing (%v)", text, topic, again, err)
		}
	})
}
