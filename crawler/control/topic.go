package control

import (
	"slices"
	"strings"

	"fossick/internal/usage"
	"fossick/store"
)

// topicOf finds the topic that labels are of, by its place among those that share the
// crawl, from 1; 0 of a crawl of one topic, which need not be named.
func topicOf(s *store.Store, name string) (int, error) {
	names, all := s.Info().Topics, strings.Join(s.Info().Topics, ", ")
	switch i := slices.Index(names, name); {
	case len(names) == 0 && (name == "" || name == s.Info().Topic):
		return 0, nil
	case len(names) == 0:
		return 0, usage.Errorf("--topic %s: this crawl's topic is %s; leave --topic out", name, s.Info().Topic)
	case name == "":
		return 0, usage.Errorf("this crawl has the topics %s; give the topic of the label with --topic NAME", all)
	case i < 0:
		return 0, usage.Errorf("--topic %s: this crawl has the topics %s; give one of them", name, all)
	default:
		return i + 1, nil
	}
}
