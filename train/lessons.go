package train

import (
	"fmt"
	"sync/atomic"

	"fossick/internal/report"
	"fossick/models"
	"fossick/models/features"
)

// Trained counts how many of the pages that a model judges it was trained on. Safe for
// concurrent use.
type Trained struct {
	Card           *models.Card
	trained, known atomic.Int64
}

// look takes in a page.
func (l *Trained) look(d features.Doc) {
	if len(l.Card.Marks) == 0 {
		return // a model of an earlier build
	}
	trained, known := l.Card.Trained(models.Mark(d))
	if known {
		l.known.Add(1)
	}
	if trained {
		l.trained.Add(1)
	}
}

// Share is the part of the pages that the model was trained on, by those of which its
// card can tell. It is nil where it can of none.
func (l *Trained) Share() *float64 { return shareOrNil(l.trained.Load(), l.known.Load()) }

// Warning says it plainly; "" when there is nothing to say.
func (l *Trained) Warning() string {
	if l == nil {
		return ""
	}
	share := l.Share()
	if share == nil || *share == 0 {
		return ""
	}
	return fmt.Sprintf("the model was trained on %s of these pages and knows their labels, so the figures are too good", report.Percent(*share))
}

func shareOrNil(k, n int64) *float64 {
	if n == 0 {
		return nil
	}
	s := float64(k) / float64(n)
	return &s
}
