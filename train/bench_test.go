package train

import (
	"context"
	"testing"
)

// BenchmarkTrain trains on 300 short pages of three classes, folds included.
func BenchmarkTrain(b *testing.B) {
	set := toy(300, "bank", "code", "star")
	for _, name := range []string{"linear", "nb", "c45", "nn"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := Train(context.Background(), stream(set), Options{Classifier: name, Seed: 1}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
