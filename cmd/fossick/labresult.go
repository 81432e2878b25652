package main

import (
	"fmt"
	"io"
	"strings"

	"fossick/crawler"
	"fossick/lab"
	"fossick/policy"
	"fossick/report"
)

// result says what the crawls came to.
func (r *labRun) result(x lab.Experiment, crawls [][]*lab.Crawl) *lab.Result {
	out := &lab.Result{
		Corpus: r.Corpus, Topic: r.Topic, Keywords: []string{}, TrainSets: r.TrainSets, Starts: r.Starts, StartSets: r.StartSets,
		JudgeTrained: r.judgeTrained,
	}
	if r.sets != nil {
		out.Keywords = r.sets[0].Words()
	}
	out.Sum(x, crawls, lab.ResultOptions{At: r.At, Step: r.Curve, Rho: r.RhoSweep.Values, Rand: r.app.random(0x7e57)})
	return out
}

// reach adds recall of what can be reached.
func (r *labRun) reach(x *lab.Experiment, crawls [][]*lab.Crawl, out *lab.Result) error {
	r.work.Step("finding out what can be reached", 0)
	r.app.say("finding out what can be reached")
	reachable, err := x.Reachable(r.app.ctx, crawler.Scope{Links: crawler.LinkPolicy(r.Links)})
	if err != nil {
		return err
	}
	out.Reach(crawls, reachable)
	return nil
}

// writeReport writes the page.
func (r *labRun) writeReport(out *lab.Result) error {
	known := map[string]string{"parent-oracle": "knows which pages are on topic, once fetched", "target-oracle": "knows which targets are on topic"}
	for _, p := range policy.All() {
		known[p.Name] = p.About
	}
	rep := out.Report()
	rep.Known = known
	rep.Made = []report.Fact{
		{Name: "made by", Value: "fossick " + version},
		{Name: "random seed", Value: fmt.Sprint(r.app.seed)},
		{Name: "page classifier", Value: cardText(r.topics[0].Model)},
		{Name: "page classifiers", Value: fmt.Sprint(r.TrainSets)},
		{Name: "on pages not trained on", Value: fmt.Sprintf("precision %s, recall %s", report.Share(out.Classifier.Precision), report.Share(out.Classifier.Recall))},
		{Name: "links followed", Value: r.Links},
		{Name: "speed", Value: fmt.Sprintf("%.0f pages/s", out.PagesPerSecond)},
	}
	if len(out.Keywords) > 0 { // no policy looked for any
		rep.Made = append(rep.Made, report.Fact{Name: "keywords of the first start set", Value: strings.Join(out.Keywords, ", ")})
	}
	if r.MaxPagesPerHost > 0 {
		rep.Made = append(rep.Made, report.Fact{Name: "pages of one host, at most", Value: fmt.Sprint(r.MaxPagesPerHost)})
	}
	return writePage(r.HTML, func(w io.Writer) error { return lab.WriteReport(w, rep) })
}
