package datasets

import "fmt"

func openDemo(Options) (*Set, error) {
	return nil, fmt.Errorf("set demo: %w: it is not built in yet", ErrLayout)
}
