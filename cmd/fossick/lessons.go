package main

import (
	"fmt"
	"sync/atomic"

	"fossick/features"
	"fossick/models"
	"fossick/report"
)

// lessons counts how many of the pages that a model judges it was trained on. Safe for
// concurrent use.
type lessons struct {
	card           *models.Card
	trained, known atomic.Int64
}

// look takes in a page.
func (l *lessons) look(d features.Doc) {
	if len(l.card.Marks) == 0 {
		return // a model of an earlier build
	}
	trained, known := l.card.Trained(models.Mark(d))
	if known {
		l.known.Add(1)
	}
	if trained {
		l.trained.Add(1)
	}
}

// share is the part of the pages that the model was trained on, by those of which its
// card can tell; nil where it can of none.
func (l *lessons) share() *float64 { return shareOrNil(l.trained.Load(), l.known.Load()) }

// warning says it plainly; "" when there is nothing to say.
func (l *lessons) warning() string {
	share := l.share()
	if share == nil || *share == 0 {
		return ""
	}
	return fmt.Sprintf("the model was trained on %s of these pages, and knows their labels: the figures flatter", report.Percent(*share))
}
