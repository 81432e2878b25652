package fossick

import (
	"iter"

	"fossick/internal/page"
	"fossick/store"
)

// Store is a stored crawl, opened for reading, even while the crawl runs.
type Store struct{ s *store.Store }

func Open(dir string) (*Store, error) {
	s, err := store.OpenToRead(dir)
	if err != nil {
		return nil, err
	}
	return &Store{s}, nil
}

func (s *Store) Close() error { return s.s.Close() }

// Pages yields the stored pages in crawl order with their scores, except those withdrawn by their
// owners. It ends at the first error.
func (s *Store) Pages() iter.Seq2[*Page, error] {
	return func(yield func(*Page, error) bool) {
		for p, err := range s.s.Pages() {
			if err == nil && p.Withdrawn {
				continue
			}
			var read *Page
			if err == nil {
				read, err = s.read(p)
			}
			if !yield(read, err) || err != nil {
				return
			}
		}
	}
}

func (s *Store) read(p *store.Page) (*Page, error) {
	body, err := s.s.Body(p.Number)
	if err != nil {
		return nil, err
	}
	parsed, err := page.Parse(body, page.ParseOptions{URL: p.URL, ContentType: p.ContentType})
	if err != nil {
		return nil, err
	}
	read := pageOf(parsed)
	read.Score = Score{p.Score, p.Relevant, p.Label}
	return read, nil
}
