package fossick

import (
	"iter"

	"fossick/internal/page"
	"fossick/store"
)

// Store is what a crawl has stored, opened to be read. A crawl that runs may go on writing.
type Store struct{ s *store.Store }

// Open opens the store in a folder.
func Open(dir string) (*Store, error) {
	s, err := store.OpenToRead(dir)
	if err != nil {
		return nil, err
	}
	return &Store{s}, nil
}

// Close closes the store.
func (s *Store) Close() error { return s.s.Close() }

// Pages yields the stored pages in the order of the crawl, with their scores. A page whose
// owner withdrew it is left out. The first error ends it.
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
