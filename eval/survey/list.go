package survey

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"

	"fossick/internal/printable"
	"fossick/internal/wholefile"
)

// listBegins is the same in every list, so that two of them differ only by their seeds.
const listBegins = `# Start pages for fossick survey --seeds FILE, a URL a line. Candidates, which that
# survey will visit for the first time, come last, each below the links that led to it.
`

// WriteList writes the seed list of the next survey, seeds first, to a file that is there
// as a whole or not at all. A line is a URL or, after #, a comment on the one that follows.
func (r *Result) WriteList(ctx context.Context, path string) error {
	err := wholefile.Write(path, 0o644, func(f *os.File) error {
		w := bufio.NewWriter(f)
		io.WriteString(w, listBegins) // Flush has the error of all
		err := r.Each(ctx, func(s *Seed) error {
			if s.Candidate {
				fmt.Fprintf(w, "# %s\n", s.found())
			}
			_, err := io.WriteString(w, s.URL+"\n")
			return err
		})
		if err != nil {
			return err
		}
		return w.Flush()
	})
	if err != nil {
		return fmt.Errorf("seed list: %w; give another file with --seeds-out", err)
	}
	return nil
}

// found says what led to a candidate.
func (s *Seed) found() string {
	times := "1 page links"
	if s.Links > 1 {
		times = printable.Sprintf("%d pages link", s.Links)
	}
	if s.FoundBy == "" {
		return times + " there"
	}
	return fmt.Sprintf("%s there, first %s", times, printable.Line(s.FoundBy))
}
