package story

import (
	"errors"
	"strings"

	"fossick/internal/page"
	"fossick/store"
)

// Address brings an address into the normal form of a store's URLs. Of one without a
// scheme it takes what the store knows, https before http.
func Address(s *store.Store, urls *page.Normalizer, raw string) (string, error) {
	full, assumed := page.WithScheme(raw)
	u, err := urls.Normalize(full)
	if err != nil || !assumed {
		return u, err
	}
	if _, err := s.URLs().Life(u); errors.Is(err, store.ErrUnknown) {
		plain := "http" + strings.TrimPrefix(u, "https")
		if _, err := s.URLs().Life(plain); err == nil {
			return plain, nil
		}
	}
	return u, nil
}
