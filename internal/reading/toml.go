package reading

import (
	"errors"
	"fmt"
)

// ErrShape reports TOML that is nested deeper than anybody writes.
var ErrShape = errors.New("nested too deeply")

// MaxTOMLBytes is the most that a file of TOML may have. With the limits of CheckTOML it
// costs some hundred MiB at most.
const MaxTOMLBytes = 1 << 20

// maxDepth is how many parts a dotted key may have, and how deep lists and tables may
// stand in each other. A parser's cost grows with the square of it: a key of 10,000 parts,
// 20 KB, costs 4 GB, and as many tables in each other 12.
const maxDepth = 16

// CheckTOML refuses text that is costly to parse by its shape. Whether it is TOML is the
// parser's to say.
func CheckTOML(text string) error {
	parts, depth := 1, 0
	for i := 0; i < len(text); {
		switch c := text[i]; c {
		case '"', '\'':
			i = afterString(text, i)
			continue
		case '#':
			for i < len(text) && text[i] != '\n' {
				i++
			}
			continue
		case '.':
			parts++
		case '[', '{':
			depth++
			parts = 1
		case ']', '}':
			depth = max(0, depth-1)
			parts = 1
		case '=', ',', '\n':
			parts = 1
		}
		if parts > maxDepth || depth > maxDepth {
			return fmt.Errorf("offset %d: %w; no setting has more than %d parts or levels", i, ErrShape, maxDepth)
		}
		i++
	}
	return nil
}

// afterString returns the place after the string that begins at i.
func afterString(text string, i int) int {
	quote, end := text[i], 1
	if i+2 < len(text) && text[i+1] == quote && text[i+2] == quote {
		end = 3
	}
	run := 0
	for i += end; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote == '"':
			i++
			run = 0
		case text[i] == quote:
			if run++; run < end {
				continue
			}
			for end == 3 && run < 5 && i+1 < len(text) && text[i+1] == quote { // two more may stand at its end
				i, run = i+1, run+1
			}
			return i + 1
		case text[i] == '\n' && end == 1: // it has no end: the parser will say so
			return i
		default:
			run = 0
		}
	}
	return len(text)
}
