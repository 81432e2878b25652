//go:build ignore

// Learns the order of relevance/learned from sights of crawls (eval/lab, TestOrder):
//
//	go run scripts/learnorder.go hand FILE      the weights that learning starts from
//	go run scripts/learnorder.go learn DIR      DIR/sights → DIR/orders/WEB.order, learned without that web, and all.order
//
// Links and pages have a logistic model each, whose weights are linear in the crawl's state. It minimises
// the loss of all webs alike, plus λ/2 · Σ (w − w₀)² with w₀ set by hand, by Adam. For links it also
// estimates each weight's variance between rows, which bounds what a crawl learns on top.
package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

const states = 26 // of a crawl

// A kind is links or pages: what is learned, from sights of head and features.
type kind struct {
	name           string
	head, features int
	takes          int // one in so many sights, which are much alike
	lambda         float64
	fixed          []int              // features whose weight is not learned
	hand           map[[2]int]float64 // w₀ by feature and state, see relevance/learned/order.go
}

var links = kind{"links", 4, 38, 5, 10, []int{21, 25}, map[[2]int]float64{
	{0, 0}: -3.5, {1, 0}: 1, {3, 0}: .2, {4, 0}: .6, {5, 0}: .6, {6, 0}: .2, {7, 0}: .1, {10, 0}: 2, {11, 0}: 1, {12, 0}: .5,
	{13, 0}: .8, {14, 0}: .8, {15, 0}: .7, {16, 0}: .2, {17, 0}: .2, {18, 0}: -.5, {23, 0}: .2,
	{1, 1}: -.9, {10, 1}: 1.5, // early
	{22, 12}: -4, {22, 3}: -4, {24, 3}: .5, // a judge that knows little
	{34, 16}: 4, {35, 16}: 4, // start pages that lie together
	{4, 3}: -.15, {5, 3}: -.15, {10, 3}: -.5, {11, 3}: -.25, {12, 3}: -.12, {13, 3}: -.2,
}}

var pages = kind{"pages", 3, 12, 1, 1, nil, map[[2]int]float64{{1, 0}: 1, {2, 0}: .8, {4, 0}: 1, {5, 12}: .3, {6, 12}: .3, {10, 16}: 6, {11, 16}: 3}}

type example struct {
	row  float32
	y, w float64 // on topic or not, weight
	c, x []float32
}

type web struct {
	name string
	all  []*example
}

func (k *kind) read(dir string) (webs []*web) {
	files, _ := filepath.Glob(filepath.Join(dir, "sights", "*."+k.name))
	for _, f := range files {
		b, err := os.ReadFile(f)
		check(err)
		w := &web{name: strings.TrimSuffix(filepath.Base(f), "."+k.name)}
		rows, sum, seen := map[float32]float64{}, 0.0, 0
		for size := k.head + 1 + states + k.features; len(b) >= 4*size; b = b[4*size:] {
			if seen++; seen%k.takes != 0 {
				continue
			}
			v := make([]float32, size)
			for i := range v {
				v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
			}
			rows[v[0]]++
			w.all = append(w.all, &example{row: v[0], y: float64(v[2]), c: v[k.head+1:][:states], x: v[k.head+1+states:]})
		}
		for _, e := range w.all { // long rows count more, but not in proportion
			e.w = 1 / math.Sqrt(rows[e.row])
			sum += e.w
		}
		for _, e := range w.all { // webs count alike
			e.w *= 1e5 / sum
		}
		webs = append(webs, w)
	}
	return webs
}

// model has weights by feature and state, in units of the features' scales.
type model struct {
	*kind
	w, scale []float64
}

func (m *model) odds(e *example) (z float64) {
	for i, x := range e.x {
		if x != 0 {
			s := 0.0
			for j, v := range e.c {
				s += m.w[i*states+j] * float64(v)
			}
			z += s / m.scale[i] * float64(x)
		}
	}
	return z
}

func (m *model) start() {
	m.w = make([]float64, m.features*states)
	for at, w := range m.hand {
		m.w[at[0]*states+at[1]] = w * m.scale[at[0]]
	}
}

const (
	epochs = 3
	batch  = 512
	rate   = 0.02
)

func (k *kind) learn(webs []*web) *model {
	m := &model{kind: k, scale: make([]float64, k.features)}
	var all []*example
	for _, w := range webs {
		all = append(all, w.all...)
	}
	for i := range m.scale {
		sum, n := 0.0, 0.0
		for at := 0; at < len(all); at += 17 {
			sum += float64(all[at].x[i]) * float64(all[at].x[i])
			n++
		}
		if m.scale[i] = math.Sqrt(sum / max(1, n)); m.scale[i] == 0 {
			m.scale[i] = 1
		}
	}
	m.start()
	first := slices.Clone(m.w)
	n := len(m.w)
	g, m1, m2, mean, means := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), 0.0
	weight := 0.0
	for _, e := range all {
		weight += e.w / float64(len(all))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	step, steps := 0.0, float64(epochs*(len(all)/batch))
	for range epochs {
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for some := range slices.Chunk(all[:len(all)/batch*batch], batch) {
			m.gradient(g, some, weight)
			step++
			b1, b2 := 1-math.Pow(.9, step), 1-math.Pow(.999, step)
			for i := range g {
				d := g[i]/batch + k.lambda*(m.w[i]-first[i])
				m1[i], m2[i] = .9*m1[i]+.1*d, .999*m2[i]+.001*d*d
				m.w[i] -= rate * (1 - step/(steps+1)) * (m1[i] / b1) / (math.Sqrt(m2[i]/b2) + 1e-8)
			}
			if step > steps*3/4 {
				means++
				for i := range mean {
					mean[i] += (m.w[i] - mean[i]) / means
				}
			}
		}
	}
	m.w = mean
	return m
}

// gradient sets g to the sum of the gradients of some examples.
func (m *model) gradient(g []float64, some []*example, weight float64) {
	clear(g)
	half := len(some) / 2
	parts := [2][]float64{make([]float64, len(g)), make([]float64, len(g))}
	var wg sync.WaitGroup
	for k, own := range parts {
		wg.Go(func() {
			for _, e := range some[k*half : (k+1)*half] {
				d := (sigmoid(m.odds(e)) - e.y) * e.w / weight
				for i, x := range e.x {
					if x == 0 || slices.Contains(m.fixed, i) {
						continue
					}
					for j, v := range e.c {
						own[i*states+j] += d * float64(x) / m.scale[i] * float64(v)
					}
				}
			}
		})
	}
	wg.Wait()
	for i := range g {
		g[i] = parts[0][i] + parts[1][i]
	}
}

// spread estimates each weight's variance between rows by expectation maximisation: a row's weights are
// those of m plus δ, and δ_i is normal.
func (m *model) spread(webs []*web) []float64 {
	const (
		rounds = 4
		takes  = 5 // one in so many examples
	)
	v := make([]float64, m.features)
	for i := range v {
		v[i] = .02 / (m.scale[i] * m.scale[i])
	}
	var rows [][]*example
	for _, w := range webs {
		at := map[float32]int{}
		for i := 0; i < len(w.all); i += takes {
			e := w.all[i]
			if _, known := at[e.row]; !known {
				at[e.row] = len(rows)
				rows = append(rows, nil)
			}
			rows[at[e.row]] = append(rows[at[e.row]], e)
		}
	}
	for range rounds {
		squares := make([][]float64, len(rows))
		var wg sync.WaitGroup
		for part := range 2 {
			wg.Go(func() {
				for k := part; k < len(rows); k += 2 {
					squares[k] = m.deviation(rows[k], v)
				}
			})
		}
		wg.Wait()
		for i := range v {
			sum, unit := 0.0, m.scale[i]*m.scale[i]
			for _, s := range squares {
				sum += s[i] / float64(len(rows))
			}
			if v[i] = max(.0004/unit, min(.25/unit, sum)); slices.Contains(m.fixed, i) {
				v[i] = 0
			}
		}
	}
	return v
}

// deviation returns the expected squares of a row's δ, by Newton steps from 0.
func (m *model) deviation(row []*example, v []float64) []float64 {
	const (
		steps  = 6
		weight = 0.2 // of an example, because they are much alike
	)
	n := len(v)
	delta, inverse := make([]float64, n), [][]float64(nil)
	for range steps {
		g, h := make([]float64, n), make([][]float64, n)
		for i := range h {
			h[i] = make([]float64, n)
			h[i][i] = 1 / max(1e-6, v[i])
			g[i] = -delta[i] * h[i][i]
		}
		for _, e := range row {
			z := m.odds(e)
			for i, x := range e.x {
				z += delta[i] * float64(x)
			}
			p := sigmoid(z)
			for i, x := range e.x {
				if x == 0 || slices.Contains(m.fixed, i) {
					continue
				}
				g[i] += weight * (e.y - p) * float64(x)
				for j, y := range e.x {
					if !slices.Contains(m.fixed, j) {
						h[i][j] += weight * max(.05, p*(1-p)) * float64(x) * float64(y)
					}
				}
			}
		}
		inverse = invert(h)
		for i := range delta {
			for j := range g {
				delta[i] += inverse[i][j] * g[j]
			}
		}
	}
	for i := range delta {
		delta[i] = delta[i]*delta[i] + inverse[i][i]
	}
	return delta
}

// invert inverts a positive definite matrix by Gauss-Jordan elimination.
func invert(a [][]float64) [][]float64 {
	b := make([][]float64, len(a))
	for i := range b {
		b[i] = make([]float64, len(a))
		b[i][i] = 1
	}
	for k := range a {
		d := a[k][k]
		for j := range a {
			a[k][j] /= d
			b[k][j] /= d
		}
		for i := range a {
			if f := a[i][k]; i != k && f != 0 {
				for j := range a {
					a[i][j] -= f * a[k][j]
					b[i][j] -= f * b[k][j]
				}
			}
		}
	}
	return b
}

func sigmoid(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

// packed is a model in the form of relevance/learned.ReadOrder.
func (m *model) packed(spread []float64) (b []byte) {
	for i, w := range m.w {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(w/m.scale[i/states])))
	}
	for _, v := range spread {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
	}
	return b
}

func (k *kind) byHand() *model {
	m := &model{kind: k, scale: slices.Repeat([]float64{1}, k.features)}
	m.start()
	return m
}

func (m *model) loss(w *web) float64 {
	loss, sum := 0.0, 0.0
	for _, e := range w.all {
		z := m.odds(e)
		loss += e.w * (math.Log1p(math.Exp(-math.Abs(z))) + max(0, z) - e.y*z)
		sum += e.w
	}
	return loss / sum
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	if len(os.Args) != 3 || os.Args[1] != "hand" && os.Args[1] != "learn" {
		check(fmt.Errorf("usage: learnorder hand FILE, or learnorder learn DIR"))
	}
	dir := os.Args[2]
	if os.Args[1] == "hand" {
		spread := slices.Repeat([]float64{.1}, links.features)
		check(os.WriteFile(dir, append(links.byHand().packed(spread), pages.byHand().packed(nil)...), 0o644))
		return
	}
	allLinks, allPages := links.read(dir), pages.read(dir)
	for left := -1; left < len(allLinks); left++ {
		name, l, p := "all", allLinks, allPages
		if left >= 0 {
			name = allLinks[left].name
			without := func(w *web) bool { return w.name == name }
			l, p = slices.DeleteFunc(slices.Clone(l), without), slices.DeleteFunc(slices.Clone(p), without)
		}
		ofLinks, ofPages := links.learn(l), pages.learn(p)
		check(os.WriteFile(filepath.Join(dir, "orders", name+".order"), append(ofLinks.packed(ofLinks.spread(l)), ofPages.packed(nil)...), 0o644))
		if left >= 0 {
			fmt.Printf("%s left out: loss of links %.3f (by hand %.3f), of pages %.3f (by hand %.3f)\n", name,
				ofLinks.loss(allLinks[left]), links.byHand().loss(allLinks[left]), ofPages.loss(allPages[left]), pages.byHand().loss(allPages[left]))
		}
	}
}
