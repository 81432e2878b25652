package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"fossick/crawler"
	"fossick/crawler/story"
	"fossick/internal/page"
	"fossick/internal/usage"
	"fossick/store"
)

// Label is one URL with its label.
type Label struct {
	URL   string `json:"url"`
	Label string `json:"label"` // yes or no
}

// LabelRequest is what a running crawl is asked.
type LabelRequest struct {
	Labels []Label `json:"labels"`
	Topic  string  `json:"topic,omitempty"` // of which they are, where several share the crawl
}

// LabelAnswer is what came of labels.
type LabelAnswer struct {
	Labels  []Label `json:"labels"` // in normal form
	Topic   string  `json:"topic,omitempty"`
	Running bool    `json:"running"`
	Learned bool    `json:"learned"` // the crawl's scores follow; when it does not run, that is at the resume
}

// marks turns labels into marks of normalised URLs; the labels get these too.
func (r *LabelRequest) marks(s *store.Store, urls *page.Normalizer) ([]crawler.Mark, error) {
	topic, err := topicOf(s, r.Topic)
	if err != nil {
		return nil, err
	}
	marks := make([]crawler.Mark, len(r.Labels))
	for i, l := range r.Labels {
		u, err := story.Address(s, urls, l.URL)
		if err != nil {
			return nil, usage.Errorf("%q: %w; give an http or https URL", l.URL, err)
		}
		r.Labels[i].URL, marks[i] = u, crawler.Mark{URL: u, OnTopic: l.Label == "yes", Topic: topic}
	}
	return marks, nil
}

// LabelStored writes labels into a store that no crawl has.
func LabelStored(s *store.Store, urls *page.Normalizer, r LabelRequest) (LabelAnswer, error) {
	marks, err := r.marks(s, urls)
	if err != nil {
		return LabelAnswer{}, err
	}
	return LabelAnswer{Labels: r.Labels, Topic: r.Topic}, crawler.Put(s, marks, time.Now().UnixMilli())
}

// label is the crawl's end of the verb.
func (c *Socket) label(w http.ResponseWriter, req *http.Request) {
	const most = 64 << 20 // bytes, a million labels
	var asked LabelRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, req.Body, most)).Decode(&asked); err != nil {
		reply(w, nil, fmt.Errorf("labels: %w; give fewer at once", err))
		return
	}
	answer, err := c.take(req.Context(), asked)
	reply(w, answer, err)
}

func (c *Socket) take(ctx context.Context, r LabelRequest) (*LabelAnswer, error) {
	marks, err := r.marks(c.Store, c.URLs)
	if err != nil {
		return nil, err
	}
	moves, err := c.Engine.Mark(ctx, marks)
	if errors.Is(err, crawler.ErrEnded) {
		err = fmt.Errorf("%w; run the command again", err)
	}
	return &LabelAnswer{Labels: r.Labels, Topic: r.Topic, Running: true, Learned: moves}, err
}
