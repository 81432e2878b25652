package control

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

// class asks about its pages in order, and answers are kept.
type class struct {
	pages []string
	said  []Label
	fail  error
}

func (c *class) Ask(_ context.Context, n int) (asked []Asked, err error) {
	for _, u := range c.pages {
		if !slices.ContainsFunc(c.said, func(l Label) bool { return l.URL == u }) && len(asked) < n {
			asked = append(asked, Asked{URL: u, Why: "because", Title: "\x1b[31m" + u, Text: "text"})
		}
	}
	return asked, nil
}

func (c *class) Label(_ context.Context, labels []Label) (LabelAnswer, error) {
	if c.fail != nil {
		return LabelAnswer{}, c.fail
	}
	c.said = append(c.said, labels...)
	return LabelAnswer{Labels: labels, Running: true, Learned: true}, nil
}

func TestInterview(t *testing.T) {
	boom := errors.New("boom")
	for _, c := range []struct {
		name, keys string
		count      int
		fail       error
		want       string // labels
		skipped    int
		err        error
	}{
		{name: "one key a page", keys: "yns", count: 3, want: "a yes, b no", skipped: 1},
		{name: "a skipped page is not asked again", keys: "s sYN", count: 5, want: "d yes, e no", skipped: 3},
		{name: "other keys mean nothing", keys: "x1\ry", count: 1, want: "a yes"},
		{name: "q ends", keys: "yqyy", count: 9, want: "a yes"},
		{name: "so does Ctrl-C", keys: "y\x03y", count: 9, want: "a yes"},
		{name: "and the end of input", keys: "n", count: 9, want: "a no"},
		{name: "no page is left", keys: "yyyyyyyyyy", count: 9, want: "a yes, b yes, c yes, d yes, e yes"},
		{name: "what fails is told", keys: "y", count: 9, fail: boom, err: boom},
	} {
		t.Run(c.name, func(t *testing.T) {
			of := &class{pages: []string{"a", "b", "c", "d", "e"}, fail: c.fail}
			keys := strings.NewReader(c.keys)
			var out strings.Builder
			v := Interview{Examiner: of, Count: c.count, Key: keys.ReadByte, Out: &out}
			r, err := v.Hold(t.Context())
			if !errors.Is(err, c.err) || err != nil && c.err == nil {
				t.Fatal(err)
			}
			var said []string
			for _, l := range of.said {
				said = append(said, l.URL+" "+l.Label)
			}
			if got := strings.Join(said, ", "); got != c.want || r.Skipped != c.skipped || len(r.Labels) != len(of.said) {
				t.Errorf("%q, %d skipped, %d labels; want %q, %d", got, r.Skipped, len(r.Labels), c.want, c.skipped)
			}
			if strings.Contains(out.String(), "\x1b") {
				t.Errorf("a page's words drive the terminal: %q", out.String())
			}
		})
	}
}

func TestInterviewFails(t *testing.T) {
	boom := errors.New("boom")
	v := Interview{Examiner: &class{pages: []string{"a"}}, Count: 1, Key: func() (byte, error) { return 0, boom }, Out: io.Discard}
	if r, err := v.Hold(t.Context()); !errors.Is(err, boom) || len(r.Labels) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}
