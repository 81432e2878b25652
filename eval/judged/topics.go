package judged

import (
	"fossick/eval"
	"fossick/internal/printable"
	"fossick/internal/usage"
)

// severalTopics has a crawl that several topics share judged for the one that is asked
// for, or for any of them where its own labels hold.
func (ev *Crawls) severalTopics(crawl *eval.Crawl) error {
	names := crawl.Info.Topics
	switch own := ev.truth == nil && ev.judge == nil; {
	case len(names) == 0:
	case ev.from.Target == "" && !own:
		return usage.Errorf("the crawl in %s has several topics: %s; give --target LABEL, the label of the truth or the judge to judge it by", crawl.Dir, printable.SomeNames("", names))
	case ev.from.Target != "" && own && ev.from.Target != crawl.Info.Topic:
		if !crawl.JudgeByTopic(ev.from.Target) {
			return usage.Errorf("--target %s: the crawl in %s has the topics %s", ev.from.Target, crawl.Dir, printable.SomeNames(ev.from.Target, names))
		}
	}
	return nil
}
