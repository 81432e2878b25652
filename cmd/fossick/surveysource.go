package main

import (
	"encoding/hex"
	"errors"
	"iter"

	"fossick/crawler"
	"fossick/crawler/fetch"
	"fossick/eval/webstats"
	"fossick/store"
)

// surveySource hands a store's records to package survey.
type surveySource struct{ s *store.Store }

// URLs implements survey.Source.
func (f surveySource) URLs() iter.Seq2[*webstats.SurveyURL, error] {
	return func(yield func(*webstats.SurveyURL, error) bool) {
		for k, err := range f.s.URLs().Known() {
			if err != nil {
				yield(nil, err)
				return
			}
			u := webstats.SurveyURL{ID: uint64(k.ID), URL: k.URL, From: uint64(k.From), Seed: k.Via == store.ViaSeed, Depth: k.Depth}
			if k.Fate != nil {
				u.State, u.Outside = k.Fate.State, crawler.OffParty(k.Fate.Reason)
			}
			if u.Content, err = f.content(k); err != nil {
				yield(nil, err)
				return
			}
			for i := range k.Visits {
				v := &k.Visits[i]
				if i == 0 {
					u.Began = v.Start
				}
				u.Ended = max(u.Ended, v.Start+v.Millis)
				u.Got = u.Got || v.State == string(fetch.StateOK) || v.State == string(fetch.StateNotModified)
			}
			if !yield(&u, nil) {
				return
			}
		}
	}
}

// content is the hash of what a start page says; that of a nearly equal page is not kept.
func (f surveySource) content(k *store.Known) (string, error) {
	if k.Via != store.ViaSeed || k.Fate == nil || k.Fate.Page == 0 || k.Fate.Resemblance > 0 {
		return "", nil
	}
	p, err := f.s.Page(k.Fate.Page)
	if errors.Is(err, store.ErrUnknown) {
		return "", nil // damage took it, and repair what was left
	}
	return hex.EncodeToString(p.Checksum), err
}

// Pages implements survey.Source.
func (f surveySource) Pages() iter.Seq2[*webstats.SurveyPage, error] {
	return func(yield func(*webstats.SurveyPage, error) bool) {
		var p webstats.SurveyPage
		for stored, err := range f.s.Pages() {
			if err != nil {
				yield(nil, err)
				return
			}
			p.Links = p.Links[:0]
			for _, id := range stored.Links {
				p.Links = append(p.Links, uint64(id))
			}
			if !yield(&p, nil) {
				return
			}
		}
	}
}

// Name implements survey.Source.
func (f surveySource) Name(id uint64) (string, error) {
	b, err := f.s.URLs().Birth(store.ID(id))
	if errors.Is(err, store.ErrUnknown) {
		return "", nil // damage took it, and repair what was left
	}
	return b.URL, err
}
