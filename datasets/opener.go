package datasets

import "fossick/internal/usage"

// Opener opens a set. Open is one; a program that has sets of other kinds, as stores,
// has its own.
type Opener func(path string, opt Options) (*Set, error)

// Stream opens sets and chains their rows that have the values of where; of a row's
// labels the one at level is its class. read, unless nil, is called with each set that
// was read to its end.
func (open Opener) Stream(paths, where []string, level int, read func(*Set)) (Stream, error) {
	opt := Options{Level: level}
	for _, s := range where {
		w, err := ParseWhere(s)
		if err != nil {
			return nil, usage.Of(err)
		}
		opt.Where = append(opt.Where, w)
	}
	var sets []*Set
	for _, path := range paths {
		set, err := open(path, opt)
		if err != nil {
			return nil, err
		}
		sets = append(sets, set)
	}
	return func(yield func(*Example, error) bool) {
		for _, set := range sets {
			for e, err := range set.Examples() {
				if !yield(e, err) {
					return
				}
			}
			if read != nil {
				read(set)
			}
		}
	}, nil
}
