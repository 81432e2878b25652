package plan

import (
	"fmt"
	"strings"

	"fossick/crawler/crawlplan"
	"fossick/eval/lab"
	"fossick/internal/report"
)

// Report is what the page of a result shows; version is that of the program.
func (s *Setup) Report(r *lab.Result, version string) lab.Report {
	rep := r.Report()
	rep.Known = map[string]string{"parent-oracle": "knows which pages are on topic, once fetched", "target-oracle": "knows which targets are on topic"}
	for _, p := range crawlplan.All() {
		rep.Known[p.Name] = p.About
	}
	rep.Made = []report.Fact{
		{Name: "made by", Value: "fossick " + version},
		{Name: "random seed", Value: fmt.Sprint(s.plan.Seed)},
		{Name: "page classifier", Value: s.Topics[0].Model.Summary()},
		{Name: "page classifiers", Value: fmt.Sprint(r.TrainSets)},
		{Name: "on pages not trained on", Value: fmt.Sprintf("precision %s, recall %s", report.Share(r.Classifier.Precision), report.Share(r.Classifier.Recall))},
		{Name: "links followed", Value: s.plan.Links},
		{Name: "speed", Value: fmt.Sprintf("%.0f pages/s", r.PagesPerSecond)},
	}
	if len(r.Keywords) > 0 { // no policy looked for any
		rep.Made = append(rep.Made, report.Fact{Name: "keywords of the first start set", Value: strings.Join(r.Keywords, ", ")})
	}
	if m := r.Manners; m != nil {
		rep.Made = append(rep.Made, report.Fact{Name: "manners, in simulated time", Value: m.String()})
	}
	if s.MaxPerHost > 0 {
		rep.Made = append(rep.Made, report.Fact{Name: "pages of one host, at most", Value: fmt.Sprint(s.MaxPerHost)})
	}
	return rep
}
