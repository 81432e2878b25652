package models

import (
	"fmt"
	"math"
	"strings"
)

// Summary says in one line what the model is, and what its card tells.
func (m *Model) Summary() string {
	text := fmt.Sprintf("%s, %d classes", m.Classifier, len(m.Classes))
	if m.Card.Pages > 0 {
		text += fmt.Sprintf(", trained on %d pages", m.Card.Pages)
	}
	if len(m.Card.Data) > 0 {
		text += " of " + strings.Join(m.Card.Data, ", ")
	}
	for _, s := range []struct {
		score *Score
		how   string
	}{{m.Card.CV, "in cross-validation"}, {m.Card.Test, "on test pages"}} {
		if s.score != nil {
			text += fmt.Sprintf(", accuracy %v and macro-F1 %v %s", thousandths(s.score.Accuracy), thousandths(s.score.MacroF1), s.how)
		}
	}
	return text + fmt.Sprintf(", seed %d", m.Card.Seed)
}

func thousandths(x float64) float64 { return math.Round(x*1000) / 1000 }
