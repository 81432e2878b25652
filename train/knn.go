package train

import (
	"context"
	"fmt"
	"math"

	"github.com/sjwhitworth/golearn/kdtree"
	"gonum.org/v1/gonum/mat"

	"fossick/models/features"
)

// knn gives a page the class of most of its nearest training pages, by golearn's tree of
// points: its knn package needs cgo. Distances are Euclidean between tf-idf weights of
// length 1, so they rank as cosines do.
type knn struct{}

// neighbours is k.
const neighbours = 5

func (knn) name() string { return golearnKNN }

func (knn) fit(_ context.Context, c *corpus, pages []int, by fitting) (*fitted, error) {
	f, _, y, err := c.counted(pages, by, golearnKNN, c45Words)
	if err != nil {
		return nil, err
	}
	f.weigh(c, c.counts(pages), len(pages), false)
	near := &nearestPages{tree: kdtree.New(), y: y}
	for _, v := range f.vectors(c, pages) {
		near.rows = append(near.rows, f.point(v))
	}
	if err := near.tree.Build(near.rows); err != nil {
		return nil, fmt.Errorf("training %s: %w", golearnKNN, err)
	}
	f.nearest = near
	return f, nil
}

// nearestPages is what knn has learned.
type nearestPages struct {
	tree *kdtree.Tree
	rows [][]float64
	y    []int
}

// point is a vector with all its zeros, and a 1 at its end.
func (f *fitted) point(v features.Vector) []float64 {
	p := make([]float64, len(f.kept)+1)
	p[len(f.kept)] = 1
	for k, i := range v.Index {
		p[i] = float64(v.Value[k])
	}
	return p
}

// scores counts the classes of the nearest pages in dst; the nearest of all decides
// between equal ones.
func (n *nearestPages) scores(dst []float64, at []float64) {
	clear(dst)
	rows, _, err := n.tree.Search(min(neighbours, len(n.rows)), apart{}, at)
	if err != nil { // only of shapes, which are ours
		panic(err)
	}
	for i, r := range rows {
		dst[n.y[r]]++
		if i == 0 {
			dst[n.y[r]] += 0.5
		}
	}
}

// apart is the Euclidean distance for golearn. Where its tree has no branch it has a
// point of zeros, and takes it for the first page: the 1 that points end with tells. It
// also asks for the distance along one axis.
type apart struct{}

func (apart) Distance(x, y *mat.Dense) float64 {
	a, b := x.RawMatrix().Data, y.RawMatrix().Data
	if len(b) > 1 && b[len(b)-1] == 0 {
		return math.Inf(1)
	}
	sum := 0.0
	for i, v := range a {
		sum += (v - b[i]) * (v - b[i])
	}
	return math.Sqrt(sum)
}
