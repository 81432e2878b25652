package features

// Space is a vocabulary: its terms, each with an index.
type Space struct {
	Terms []string
	index map[string]int32
}

// Index returns the index of term, or -1.
func (s *Space) Index(term string) int32 {
	if i, ok := s.index[term]; ok {
		return i
	}
	return -1
}
