package webstats

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"fossick/internal/cli"
	"fossick/internal/fileio"
)

const listBegins = `# Start pages for fossick survey --seeds FILE, a URL a line. Candidates, which that
# survey will visit for the first time, come last, each below the links that led to it.
`

// WriteList writes the seed list of the next survey atomically, seeds before candidates; # comments on the URL below.
func (r *SurveyResult) WriteList(ctx context.Context, path string) error {
	err := fileio.Write(path, 0o644, func(f *os.File) error {
		w := bufio.NewWriter(f)
		io.WriteString(w, listBegins) // Flush returns any write error
		err := r.each(ctx, func(s *listedSeed) error {
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

func (s *listedSeed) found() string {
	times := "1 page links"
	if s.Links > 1 {
		times = cli.Sprintf("%d pages link", s.Links)
	}
	if s.FoundBy == "" {
		return times + " there"
	}
	return fmt.Sprintf("%s there, first %s", times, cli.Line(s.FoundBy))
}

// seedRow is a seed in a table; unknown values are null, in CSV empty.
type seedRow struct {
	ID        *uint64  `json:"id"` // URL ID in the store
	URL       string   `json:"url"`
	Hash      string   `json:"url_hash"`     // first half of the URL's SHA-256 in hex, the store's key
	Content   *string  `json:"content_hash"` // of the stored page, in hex
	Candidate bool     `json:"candidate"`
	State     *string  `json:"state"`
	Pages     *int     `json:"pages"`
	Depth     *int     `json:"depth"`
	Seconds   *float64 `json:"seconds"` // from the start of the party's first exchange to the end of its last
	FoundBy   *string  `json:"found_by"`
	Links     *int     `json:"links"`
}

func (s *listedSeed) row() seedRow {
	hash := sha256.Sum256([]byte(s.URL))
	r := seedRow{URL: s.URL, Hash: hex.EncodeToString(hash[:sha256.Size/2]), Content: knownText(s.Content), Candidate: s.Candidate}
	if s.ID != 0 {
		r.ID = &s.ID
	}
	if s.Candidate {
		r.FoundBy, r.Links = knownText(s.FoundBy), &s.Links
		return r
	}
	r.State, r.Pages = knownText(s.State), &s.Pages
	if s.Pages > 0 {
		r.Depth = &s.Depth
	}
	if s.Began != 0 {
		r.Seconds = new(float64(s.Ended-s.Began) / 1000)
	}
	return r
}

func knownText(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// CheckTable reports an unsupported extension of a table file.
func CheckTable(path string) error {
	if ext := filepath.Ext(path); ext != ".csv" && ext != ".jsonl" {
		return cli.Usagef("--seeds-table %s: want a name that ends in .csv or .jsonl", path)
	}
	return nil
}

// WriteTable writes a row per seed and candidate, as CSV or JSON Lines by extension, atomically.
func (r *SurveyResult) WriteTable(ctx context.Context, path string) error {
	if err := CheckTable(path); err != nil {
		return err
	}
	write := r.writeJSON
	if filepath.Ext(path) == ".csv" {
		write = r.writeCSV
	}
	if err := fileio.Write(path, 0o644, func(f *os.File) error { return write(ctx, f) }); err != nil {
		return fmt.Errorf("table of seeds: %w; give another file with --seeds-table", err)
	}
	return nil
}

func (r *SurveyResult) writeJSON(ctx context.Context, to io.Writer) error {
	w := bufio.NewWriter(to)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if err := r.each(ctx, func(s *listedSeed) error { return enc.Encode(s.row()) }); err != nil {
		return err
	}
	return w.Flush()
}

func (r *SurveyResult) writeCSV(ctx context.Context, to io.Writer) error {
	w := csv.NewWriter(to)
	if err := w.Write([]string{"id", "url", "url_hash", "content_hash", "candidate", "state", "pages", "depth", "seconds", "found_by", "links"}); err != nil {
		return err
	}
	err := r.each(ctx, func(s *listedSeed) error {
		r := s.row()
		return w.Write([]string{
			optionalText(r.ID), r.URL, r.Hash, optionalText(r.Content), strconv.FormatBool(r.Candidate), optionalText(r.State), optionalText(r.Pages), optionalText(r.Depth), optionalText(r.Seconds), optionalText(r.FoundBy), optionalText(r.Links),
		})
	})
	w.Flush()
	return cmp.Or(err, w.Error())
}

func optionalText[T any](v *T) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(*v)
}
