package eval

import (
	"encoding/json"
	"fmt"
)

// Point is one point of a curve: a share after so many pages; in JSON
// [pages, share].
type Point struct {
	Pages int
	Share float64
}

// MarshalJSON writes [pages, share].
func (p Point) MarshalJSON() ([]byte, error) {
	return json.Marshal([2]any{p.Pages, p.Share})
}

// UnmarshalJSON reads [pages, share].
func (p *Point) UnmarshalJSON(b []byte) error {
	var v [2]float64
	if err := json.Unmarshal(b, &v); err != nil {
		return fmt.Errorf("point of a curve: %w; want [pages, share]", err)
	}
	p.Pages, p.Share = int(v[0]), v[1]
	return nil
}

// Harvest counts the relevant pages of a crawl. The harvest ratio of paper A5
// is relevant / fetched = n / len(relevant).
func Harvest(relevant []bool) (n int) {
	for _, r := range relevant {
		if r {
			n++
		}
	}
	return n
}

// harvestCurve returns the harvest ratio after every step pages and after the
// last; relevant is in the order of the crawl, step below 1 counts as 1. O(n).
func harvestCurve(relevant []bool, step int) []Point {
	return curve(len(relevant), step, func(i int) bool { return relevant[i] })
}

// curve returns the share of hits among the first step, 2·step, …, n items.
func curve(n, step int, hit func(i int) bool) []Point {
	return shares(n, step, func(i int) int {
		if hit(i) {
			return 1
		}
		return 0
	})
}

// shares is curve for items that can weigh more or less than one hit.
func shares(n, step int, weight func(i int) int) []Point {
	step = max(step, 1)
	points := make([]Point, 0, n/step+1)
	sum := 0
	for i := range n {
		sum += weight(i)
		if (i+1)%step == 0 || i+1 == n {
			points = append(points, Point{i + 1, float64(sum) / float64(i+1)})
		}
	}
	return points
}
