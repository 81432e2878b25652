package eval

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"fossick/store"
)

const tolerance = 5e-4 // the worked examples have three or four decimals

func checkNear(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: got %.5f, want %.5f", what, got, want)
	}
}

func TestHarvestCurve(t *testing.T) {
	r := bits("1101000")
	if got := countRelevant(r); got != 3 {
		t.Errorf("Harvest: got %d, want 3", got)
	}
	samePoints(t, "step 3", harvestCurve(r, 3), []Point{{3, 2. / 3}, {6, 3. / 6}, {7, 3. / 7}})
	samePoints(t, "step 7 ends on a step", harvestCurve(r, 7), []Point{{7, 3. / 7}})
	samePoints(t, "step 0 is 1", harvestCurve(r[:2], 0), []Point{{1, 1}, {2, 1}})
	samePoints(t, "longer than the crawl", harvestCurve(r, 100), []Point{{7, 3. / 7}})
	samePoints(t, "no pages", harvestCurve(nil, 3), []Point{})
}

func TestPointJSON(t *testing.T) {
	b, err := json.Marshal([]Point{{10, 0.25}})
	if err != nil || string(b) != "[[10,0.25]]" {
		t.Fatalf("got %s, %v; want [[10,0.25]]", b, err)
	}
	var back []Point
	if err := json.Unmarshal(b, &back); err != nil || back[0] != (Point{10, 0.25}) {
		t.Fatalf("back: %v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`["x"]`), &back); err == nil {
		t.Error("a point of text was accepted")
	}
}

func TestOverlap(t *testing.T) {
	a, b := []string{"p", "q", "r", "s"}, []string{"q", "x", "p", "r", "y"}
	// n=1: {p}∩{q}; n=2: {q}; n=3: {p,q}; n=4: {p,q,r}
	samePoints(t, "by hand", urlOverlap(a, b, 1), []Point{{1, 0}, {2, 1. / 2}, {3, 2. / 3}, {4, 3. / 4}})
	samePoints(t, "itself", urlOverlap(a, a, 2), []Point{{2, 1}, {4, 1}})
	samePoints(t, "nothing", urlOverlap(a, nil, 1), []Point{})
	if m := MeanOverlap([][]string{a}, 1); m != nil {
		t.Errorf("one crawl overlaps with %v", m)
	}
	// pairs at n=2: a,b 1/2; a,c 1; b,c 1/2
	c := []string{"q", "p"}
	samePoints(t, "mean of three", MeanOverlap([][]string{a, b, c}, 2), []Point{{2, 2. / 3}})
}

func TestOverlapAgainstNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		a, b := crawlOf(r), crawlOf(r)
		step := 1 + r.IntN(4)
		var want []Point
		for n := 1; n <= min(len(a), len(b)); n++ {
			if n%step == 0 || n == min(len(a), len(b)) {
				want = append(want, Point{n, naiveOverlap(a[:n], b[:n])})
			}
		}
		samePoints(t, "random crawls", urlOverlap(a, b, step), want)
	}
}

func naiveOverlap(a, b []string) float64 {
	both := 0
	for _, x := range a {
		for _, y := range b {
			if x == y {
				both++
			}
		}
	}
	return float64(both) / float64(len(a))
}

func crawlOf(r *rand.Rand) []string {
	var urls []string
	for _, i := range r.Perm(50)[:r.IntN(41)] {
		urls = append(urls, strconv.Itoa(i))
	}
	return urls
}

func TestKept(t *testing.T) {
	c := clusterOf(bits("1110000"), bits("1101100"))
	if c.Pages != 3 || c.Relevant != 2 {
		t.Errorf("got %+v, want 3 pages, 2 relevant", c)
	}
	checkNear(t, "precision", *c.Precision, 2./3)
	checkNear(t, "recall", *c.Recall, 2./4)
	checkNear(t, "F1", *c.F1, 2*(2./3)*(2./4)/(2./3+2./4))

	none := clusterOf(bits("000"), bits("100"))
	if none.Precision != nil || *none.Recall != 0 || *none.F1 != 0 {
		t.Errorf("nothing kept: got %+v, want no precision, recall 0, F1 0", none)
	}
	off := clusterOf(bits("10"), bits("00"))
	if off.Recall != nil || *off.Precision != 0 {
		t.Errorf("nothing relevant: got %+v, want precision 0, no recall", off)
	}
}

func TestSearchLength(t *testing.T) {
	r := bits("0110010001") // targets at 2, 3, 6, 10
	tests := []struct {
		name    string
		targets int
		share   float64
		want    int // 0 is nil
	}{
		{"all four", 4, 1, 10},
		{"half of four", 4, 0.5, 3},
		{"90 % of four is four", 4, 0.9, 10},
		{"a fifth was not fetched", 5, 1, 0},
		{"half of five is three", 5, 0.5, 6},
		{"90 % of ten is nine", 10, 0.9, 0},
		{"no targets", 0, 1, 0},
	}
	for _, tt := range tests {
		got := 0
		if n := searchLength(r, tt.targets, tt.share); n != nil {
			got = *n
		}
		if got != tt.want {
			t.Errorf("%s: got %d, want %d (0 is none)", tt.name, got, tt.want)
		}
	}
	if n := searchLength(bits("1111111110"), 10, 0.9); n == nil || *n != 9 {
		t.Errorf("90 %% of ten: got %v, want 9", n)
	}
}

func bits(s string) []bool {
	b := make([]bool, len(s))
	for i := range s {
		b[i] = s[i] == '1'
	}
	return b
}

func samePoints(t *testing.T, what string, got, want []Point) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
	for i := range got {
		if got[i].Pages != want[i].Pages || !(math.Abs(got[i].Share-want[i].Share) <= 1e-12) {
			t.Fatalf("%s: point %d: got %v, want %v", what, i, got[i], want[i])
		}
	}
}

// TestOverlapKept: refine kept p, r and t of a, and q, p and r of b. The first n kept pages share
// {p}∩{q}, {p, r}∩{q, p}, {p, r, t}∩{q, p, r}.
func TestOverlapKept(t *testing.T) {
	crawl := func(refined bool, urls ...string) *judgedCrawl {
		c := &judgedCrawl{}
		for _, url := range urls {
			p := judgedPage{URL: strings.TrimSuffix(url, "!")}
			if refined {
				p.Refined = &store.Label{Kept: p.URL != url}
			}
			c.Pages = append(c.Pages, p)
		}
		return c
	}
	a, b := crawl(true, "p!", "q", "r!", "s", "t!"), crawl(true, "x", "q!", "p!", "r!", "s")
	samePoints(t, "by hand", overlapKept([]*judgedCrawl{a, b}, 1), []Point{{1, 0}, {2, 1. / 2}, {3, 2. / 3}})
	samePoints(t, "of all", measureAll([]*judgedCrawl{a, b}, 5).Overlap, []Point{{5, 4. / 5}})
	samePoints(t, "of the kept", measureAll([]*judgedCrawl{a, b}, 5).OverlapKept, []Point{{3, 2. / 3}})
	if got := overlapKept([]*judgedCrawl{a, crawl(false, "p")}, 1); got != nil {
		t.Errorf("before refine: %v", got)
	}
}
