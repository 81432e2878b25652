package team

import (
	"context"
	"errors"
)

// mostLabels is how many labels of sessions before each agent tells.
const mostLabels = 2000

// label is what people said at an agent.
type label struct {
	agent int
	data  []byte
}

func (t *Team) said(agent int, data []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.labels = append(t.labels, label{agent, data})
}

// teach tells each agent what the others have learned, and what people said there; the
// first time also what they said in sessions before.
func (t *Team) teach(ctx context.Context) error {
	told := make(map[*agent][]byte, len(t.agents))
	for _, from := range t.agents {
		told[from] = from.Told()
	}
	if err := t.each(func(to *agent) (err error) {
		for _, from := range t.agents { // in one order, as words forget each other
			if from != to && told[from] != nil {
				err = errors.Join(err, to.Hear(told[from]))
			}
		}
		return err
	}); err != nil {
		return err
	}
	t.mu.Lock()
	labels := t.labels
	t.labels = nil
	t.mu.Unlock()
	first := !t.past
	t.past = true
	if first {
		for i, from := range t.agents {
			before, err := from.Labels(mostLabels)
			if err != nil {
				return err
			}
			for _, data := range before {
				labels = append(labels, label{i, data})
			}
		}
	}
	for i, to := range t.agents {
		var others [][]byte
		for _, l := range labels {
			if l.agent != i {
				others = append(others, l.data)
			}
		}
		if refused, err := to.HearLabels(ctx, others); refused != nil || err != nil {
			return errors.Join(refused, err)
		}
	}
	return nil
}
