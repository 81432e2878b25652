package eval

import (
	"fmt"
	"strings"

	"fossick/internal/report"
)

// Versus is what two crawls or more have found beside each other and together.
type Versus struct {
	Union         int      `json:"union"`          // distinct pages
	UnionRelevant int      `json:"union_relevant"` // of these, on topic
	Common        int      `json:"common"`         // pages of all crawls
	CommonTopic   int      `json:"common_relevant"`
	TopicOverlap  *float64 `json:"topic_overlap"` // common_relevant / union_relevant (Jaccard)
	Recall        *float64 `json:"recall"`        // of the union, of the truth
	Only          []Only   `json:"only"`
}

// Only is what one crawl alone has found.
type Only struct {
	Store    string `json:"store"`
	Pages    int    `json:"pages"`
	Relevant int    `json:"relevant"`
}

// versus compares crawls by their URLs, all of them and those on topic, with the number of
// relevant URLs of the truth, nil where there is none.
func versus(stores []string, urls, relevant [][]string, targets *int) *Versus {
	v := &Versus{Only: make([]Only, len(stores))}
	pages, topic := owners(urls), owners(relevant)
	v.Union, v.UnionRelevant = len(pages), len(topic)
	for i, store := range stores {
		v.Only[i].Store = store
	}
	for _, of := range pages {
		if of.crawls == len(stores) {
			v.Common++
		}
		if of.crawls == 1 {
			v.Only[of.last].Pages++
		}
	}
	for _, of := range topic {
		if of.crawls == len(stores) {
			v.CommonTopic++
		}
		if of.crawls == 1 {
			v.Only[of.last].Relevant++
		}
	}
	v.TopicOverlap = share(v.CommonTopic, v.UnionRelevant)
	if targets != nil {
		v.Recall = share(v.UnionRelevant, *targets)
	}
	return v
}

// owner is which crawls have a URL.
type owner struct {
	crawls int
	last   int // the last one of them
}

func owners(urls [][]string) map[string]owner {
	of := map[string]owner{}
	for i, crawl := range urls {
		for _, url := range crawl {
			of[url] = owner{of[url].crawls + 1, i}
		}
	}
	return of
}

// versusSentences leads the figures of several crawls: each one's harvest and recall, then
// what they have in common and what only one of them has.
func versusSentences(r Result) (out []string) {
	v := r.Versus
	if v == nil {
		return nil
	}
	for _, f := range r.Stores {
		if f.Fetched == 0 {
			out = append(out, f.Store+": no page fetched yet.")
			continue
		}
		s := fmt.Sprintf("%s: %s, %s on topic (%s, %s)", f.Store, report.Pages(f.Fetched), report.Number(f.Relevant), report.Percent(*f.Harvest), f.HarvestCI.words())
		switch {
		case f.Recall != nil:
			s += fmt.Sprintf(", %s of the truth found", report.Percent(*f.Recall))
		case f.RecallEstimate != nil:
			s += fmt.Sprintf(", an estimated %s of all pages on topic found", report.Percent(f.RecallEstimate.Value))
		}
		out = append(out, s+".")
	}
	found := ""
	if v.Recall != nil {
		found = fmt.Sprintf(", %s of the truth", report.Percent(*v.Recall))
	}
	out = append(out, fmt.Sprintf("Together: %s, %s on topic%s.", report.Pages(v.Union), report.Number(v.UnionRelevant), found))
	only := make([]string, len(v.Only))
	for i, o := range v.Only {
		only[i] = fmt.Sprintf("only %s has %s, %s on topic", o.Store, report.Pages(o.Pages), report.Number(o.Relevant))
	}
	all, any := "Both", "either"
	if len(v.Only) > 2 {
		all, any = "All", "any"
	}
	common := fmt.Sprintf("%s have %s, %s on topic", all, report.Pages(v.Common), report.Number(v.CommonTopic))
	if v.TopicOverlap != nil {
		common += fmt.Sprintf(" (%s of the on-topic pages of %s)", report.Percent(*v.TopicOverlap), any)
	}
	return append(out, common+"; "+strings.Join(only, "; ")+".", "The first crawl, "+r.Store+":")
}
