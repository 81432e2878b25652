package control

import (
	"context"
	"io"
	"strings"
	"unicode/utf8"

	"fossick/internal/printable"
)

// Interview is a conversation about pages, fetched or not: each is shown and answered by one key, and
// each answer counts at once, so that the next question takes it into account.
type Interview struct {
	Examiner Examiner
	Count    int                          // of questions
	Key      func() (key byte, err error) // waits for a key; io.EOF at the end of them
	Out      io.Writer
}

// Interviewed is what came of an Interview.
type Interviewed struct {
	Asked   []Asked `json:"asked"`
	Labels  []Label `json:"labels"`
	Skipped int     `json:"skipped"`
	Running bool    `json:"running"`
	Learned bool    `json:"learned"`
}

// Hold asks until Count pages were shown, nothing is left to ask, or the person ends it.
func (v *Interview) Hold(ctx context.Context) (*Interviewed, error) {
	r := &Interviewed{Asked: []Asked{}, Labels: []Label{}}
	skipped := map[string]bool{}
	for len(r.Asked) < v.Count {
		q, err := v.next(ctx, skipped)
		if err != nil || q == nil {
			return r, err
		}
		v.show(q, len(r.Asked)+1)
		answer, err := v.answer()
		if err != nil {
			return r, err
		}
		switch answer {
		case answerEnd:
			return r, nil
		case answerSkip:
			skipped[q.URL] = true
			r.Skipped++
		default:
			got, err := v.Examiner.Label(ctx, []Label{{URL: q.URL, Label: string(answer)}})
			if err != nil {
				return r, err
			}
			r.Labels = append(r.Labels, got.Labels...)
			r.Running, r.Learned = got.Running, got.Learned
		}
		r.Asked = append(r.Asked, *q)
	}
	return r, nil
}

// next is the most telling page that was not skipped, nil when there is none.
func (v *Interview) next(ctx context.Context, skipped map[string]bool) (*Asked, error) {
	some, err := v.Examiner.Ask(ctx, len(skipped)+1)
	if err != nil {
		return nil, err
	}
	for _, q := range some {
		if !skipped[q.URL] {
			return &q, nil
		}
	}
	return nil, nil
}

func (v *Interview) show(q *Asked, number int) {
	printable.Fprintf(v.Out, "\n%d of %d  %s\n", number, v.Count, q.URL)
	for _, text := range q.Lines() {
		for _, line := range wrapped(text, lineWidth) {
			printable.Fprintf(v.Out, "  %s\n", line)
		}
	}
}

// lineWidth is that of a page's text, in characters.
const lineWidth = 76

// wrapped breaks a text into lines between words.
func wrapped(text string, width int) (lines []string) {
	line, room := "", 0
	for _, word := range strings.Fields(text) {
		if n := utf8.RuneCountInString(word) + 1; line != "" && n <= room {
			line, room = line+" "+word, room-n
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		line, room = word, width-utf8.RuneCountInString(word)
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

type answer string

const (
	answerYes  answer = "yes"
	answerNo   answer = "no"
	answerSkip answer = "skip"
	answerEnd  answer = "end"
)

// answer waits for a key that means something.
func (v *Interview) answer() (answer, error) {
	io.WriteString(v.Out, "on topic? y yes, n no, s skip, q end: ")
	for {
		key, err := v.Key()
		if err == io.EOF {
			return v.said(answerEnd), nil
		}
		if err != nil {
			return answerEnd, err
		}
		if a, known := answers[key]; known {
			return v.said(a), nil
		}
	}
}

func (v *Interview) said(a answer) answer {
	io.WriteString(v.Out, string(a)+"\n")
	return a
}

// answers are the keys, with those that end a program at a terminal.
var answers = map[byte]answer{
	'y': answerYes, 'Y': answerYes, 'n': answerNo, 'N': answerNo, 's': answerSkip, 'S': answerSkip, ' ': answerSkip,
	'q': answerEnd, 'Q': answerEnd, 'c' & 0x1f: answerEnd, 'd' & 0x1f: answerEnd, 0x1b: answerEnd,
}

// Print writes what came of it.
func (r *Interviewed) Print(w io.Writer) {
	printable.Fprintf(w, "\n%d labelled, %d skipped\n", len(r.Labels), r.Skipped)
	switch {
	case len(r.Labels) == 0:
	case r.Running:
		io.WriteString(w, "the running crawl has applied them\n")
	default:
		io.WriteString(w, "kept; no crawl is running. A resumed crawl learns from them\n")
	}
}
