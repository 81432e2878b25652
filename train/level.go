package train

import (
	"fmt"
	"strconv"

	"fossick/datasets"
)

// Level says which of a row's labels is its class.
type LevelChoice struct {
	N    int
	Set  bool // it was asked for
	Both bool // theme and category, one after the other
}

// UnmarshalText reads theme, category, both or a number from 0.
func (l *LevelChoice) UnmarshalText(text []byte) error {
	l.Set = true
	switch s := string(text); s {
	case "both":
		l.Both = true
	case string(Theme):
		l.N = 0
	case string(Category):
		l.N = 1
	default:
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 {
			return fmt.Errorf("%q: want theme, category, both, or the number of a label from 0", s)
		}
		l.N = n
	}
	return nil
}

// relabel renames rows as the plan says.
func (p *Plan) relabel(rows datasets.Stream) datasets.Stream {
	rows = p.Rename.apply(rows)
	if p.Pairs {
		rows = datasets.Only(rows, func(e *datasets.Example) bool { return len(e.Labels) > 1 })
	}
	return rows
}
