package datasets

import "fmt"

func openDemo(opt Options) (*Set, error) {
	return nil, fmt.Errorf("set demo: %w: it is not built in yet", ErrLayout)
}

// Web is what a server of a corpus needs to know beyond the pages.
type Web struct{}
