package train

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"fossick/datasets"
	"fossick/models"
)

// TestTooManyLabels: a set in which each page has a label of its own is refused as soon as
// there are more than a model may have.
func TestTooManyLabels(t *testing.T) {
	read := 0
	var rows iter.Seq2[*datasets.Example, error] = func(yield func(*datasets.Example, error) bool) {
		for read < 100_000 {
			read++
			if !yield(&datasets.Example{URL: fmt.Sprintf("http://x.test/%d", read), Label: fmt.Sprint(read), Text: "a page"}, nil) {
				return
			}
		}
	}
	_, _, err := Train(context.Background(), rows, Options{Classifier: models.NaiveBayes})
	if !errors.Is(err, ErrData) || !strings.Contains(err.Error(), "--labels") {
		t.Errorf("100,000 labels: %v", err)
	}
	if read != models.MaxClasses+1 {
		t.Errorf("%d rows were read before it was said, want %d", read, models.MaxClasses+1)
	}
}
