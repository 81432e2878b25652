package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"fossick/crawler"
	"fossick/crawler/people"
	"fossick/internal/usage"
	"fossick/page"
	"fossick/store"
	"fossick/story"
)

// Label is one URL with its label.
type Label struct {
	URL   string `json:"url"`
	Label string `json:"label"` // yes or no
}

// LabelRequest is what a running crawl is asked.
type LabelRequest struct {
	Labels []Label `json:"labels"`
}

// LabelAnswer is what came of labels.
type LabelAnswer struct {
	Labels  []Label `json:"labels"` // in normal form
	Running bool    `json:"running"`
	Learned bool    `json:"learned"` // the crawl's scores follow; when it does not run, that is at the resume
}

// marksOf turns labels into marks of normalised URLs; the labels get these too.
func marksOf(s *store.Store, urls *page.Normalizer, labels []Label) ([]crawler.Mark, error) {
	if err := ofOneTopic(s); err != nil {
		return nil, err
	}
	marks := make([]crawler.Mark, len(labels))
	for i, l := range labels {
		u, err := story.Address(s, urls, l.URL)
		if err != nil {
			return nil, usage.Errorf("%q: %w; give an http or https URL", l.URL, err)
		}
		labels[i].URL, marks[i] = u, crawler.Mark{URL: u, OnTopic: l.Label == "yes"}
	}
	return marks, nil
}

// ofOneTopic refuses a crawl that several topics share: a label does not say of which.
func ofOneTopic(s *store.Store) error {
	if names := s.Info().Topics; len(names) > 0 {
		return usage.Errorf("a label is of one topic, and this crawl has %s; see fossick refine --topic, or crawl each topic whose pages you want to label alone", strings.Join(names, ", "))
	}
	return nil
}

// LabelStored writes labels into a store that no crawl has.
func LabelStored(s *store.Store, urls *page.Normalizer, labels []Label) (LabelAnswer, error) {
	marks, err := marksOf(s, urls, labels)
	if err != nil {
		return LabelAnswer{}, err
	}
	return LabelAnswer{Labels: labels}, people.Put(s, marks, time.Now().UnixMilli())
}

// label is the crawl's end of the verb.
func (c *Socket) label(w http.ResponseWriter, req *http.Request) {
	const most = 64 << 20 // bytes, a million labels
	var asked LabelRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, req.Body, most)).Decode(&asked); err != nil {
		reply(w, nil, fmt.Errorf("labels: %w; give fewer at once", err))
		return
	}
	answer, err := c.take(req, asked.Labels)
	reply(w, answer, err)
}

func (c *Socket) take(req *http.Request, labels []Label) (*LabelAnswer, error) {
	marks, err := marksOf(c.Store, c.URLs, labels)
	if err != nil {
		return nil, err
	}
	moves, err := c.Engine.Mark(req.Context(), marks)
	if errors.Is(err, crawler.ErrEnded) {
		err = fmt.Errorf("%w; run the command again", err)
	}
	return &LabelAnswer{Labels: labels, Running: true, Learned: moves}, err
}
