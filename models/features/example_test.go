package features_test

import (
	"fmt"

	"fossick/models/features"
)

func ExampleAnalyzer_Terms() {
	a := features.NewAnalyzer(features.AnalyzerOptions{})
	fmt.Println(a.Terms(nil, "The bank's loans, and two mortgages", "en"))
	// Output: [bank loan two mortgag]
}
