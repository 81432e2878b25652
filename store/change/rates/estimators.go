package rates

import (
	"fmt"

	"fossick/internal/printable"
)

// Estimator tells a page's rate from its visits. It may be used by several goroutines.
type Estimator struct {
	estimate func(*Model, Page) Estimate
	model    *Model
}

// estimators by name, the best first: it is the default.
var estimators = []struct {
	name     string
	estimate func(*Model, Page) Estimate
}{
	{"bayes", (*Model).estimate},
	{"likelihood", likely},
	{"corrected", corrected},
	{"naive", naive},
}

// Names returns the names of the estimators, the default first.
func Names() (names []string) {
	for _, e := range estimators {
		names = append(names, e.name)
	}
	return names
}

// New returns the estimator of a name, the default for "". The model is what Learn found
// out of other pages; nil is nothing. An unknown name is an error.
func New(name string, model *Model) (*Estimator, error) {
	if name == "" {
		name = estimators[0].name
	}
	if model == nil {
		model = unlearned()
	}
	for _, e := range estimators {
		if e.name == name {
			return &Estimator{e.estimate, model}, nil
		}
	}
	return nil, fmt.Errorf("no estimator %q; choose one of %s", name, printable.SomeNames(name, Names()))
}

// Estimate returns how often a page changes. It is finite whatever the visits are;
// without any, its interval is as wide as what other pages tell.
func (e *Estimator) Estimate(p Page) Estimate { return e.estimate(e.model, p) }
