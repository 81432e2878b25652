package learned

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"math"
)

// Order holds weights learned offline, on many crawls of many webs; see docs/relevance.md. The weight of a
// feature is a linear function of the crawl's state c (a varying-coefficient model, Hastie and Tibshirani
// 1993):
//
//	weight_i = Σ_j W_ij · c_j
//
// links has the weights of a waiting target's features, pages those of an arriving page's. Both give
// log-odds of being on topic. Read-only.
type Order struct {
	links [numFeatures]state
	pages [numPageFeatures]state

	spread featureVector // variance of each weight of links between crawls
}

// state describes a crawl by figures that do not name its web, most of them in [0,1].
type state [numStates]float32

const (
	stateOne        = iota // 1
	stateEarly             // e^(−pages/60)
	stateLate              // log(1 + pages) / 7
	stateScarce            // 16/(16 + n²) with n the judge's training pages on topic
	stateFew               // 10/(10 + n)
	stateUnknown           // share of the start pages that the judge does not recognise
	stateLocal             // locality
	stateFewLocal          // product of stateFew and locality
	stateShare             // log-odds of the topic's share of the crawl / 5
	stateJudged            // mean log-odds by the judge / 5
	stateCertain           // mean size of these / 6
	stateEarlyLocal        // product of stateEarly and locality
	stateFewUnknown        // product of stateFew and stateUnknown
	stateSameHost          // share of the links that stay on their host
	stateLinks             // log(1 + links a page) / 5
	stateGap               // mean log-odds of the start pages by the judge above those of the crawl / 5
	stateTogether          // how much nearer to each other start pages lie than pages of the crawl to them
	stateGains             // 3 × the gain of each of gauged
	numStates       = stateGains + numGauged
)

// gauged are features that are log-odds above the crawl's: each is a prediction by itself.
var gauged = [...]int{featHost, featFolder, featHub, featNear, featLinkWord, featMeanAnchor, featMeanKin, featOver, featYield}

const numGauged = 9

// gauges tell how well each kind of evidence has predicted the outcomes of this crawl: the mean gain of
// log-likelihood over the crawl's share of the topic, in nats, with gaugeDoubt pages of gain 0.
type gauges struct {
	pages float64
	sum   [numGauged]float64
}

const (
	gaugeDoubt = 10
	gaugeBound = 2 // of a page's gain
)

// add takes in a page's features and its outcome.
func (g *gauges) add(x *featureVector, y, odds float64) {
	g.pages++
	base := likelihood(y, odds)
	for k, i := range gauged {
		lift := x[i]
		if i == featFolder {
			lift += x[featHost]
		}
		g.sum[k] += clip(likelihood(y, odds+clip(lift, gaugeBound*2))-base, gaugeBound)
	}
}

// likelihood is the log-likelihood of an outcome y in [0,1] by log-odds z.
func likelihood(y, z float64) float64 {
	return y*z - max(0, z) - math.Log1p(math.Exp(-math.Abs(z)))
}

// Scales of the state.
const (
	earlyPages = 60
	scarce     = 4
	few        = 10
)

// ReadOrder reads what scripts/learnorder.go wrote, float32 in little-endian order: links by feature and
// state, their spread, then pages.
func ReadOrder(b []byte) (*Order, error) {
	o := new(Order)
	if len(b) != 4*(numFeatures+numStates*(numFeatures+numPageFeatures)) {
		return nil, errors.New("the order of links is of another build of fossick")
	}
	next := func() float32 {
		x := math.Float32frombits(binary.LittleEndian.Uint32(b))
		b = b[4:]
		return x
	}
	for i := range o.links {
		for j := range o.links[i] {
			o.links[i][j] = next()
		}
	}
	for i := range o.spread {
		o.spread[i] = float64(next())
	}
	for i := range o.pages {
		for j := range o.pages[i] {
			o.pages[i][j] = next()
		}
	}
	return o, nil
}

//go:embed order.bin
var shippedOrder []byte

// weights sets the weights of the features of a target in a crawl's state.
func (o *Order) weights(c *state) (w featureVector) {
	for i := range o.links {
		w[i] = o.links[i].dot(c)
	}
	for _, i := range rising {
		w[i] = max(0, w[i])
	}
	w[featLabels], w[featDegree] = 1, degreeWeight
	return w
}

// rising are features that by all that is known of links never count against a target.
var rising = [...]int{featMeanParent, featBestParent, featOnTopic, featBestAnchor, featMeanAnchor, featLinkWord, featOver, featKin, featMeanKin}

func (s *state) dot(c *state) (sum float64) {
	for j, v := range c {
		sum += float64(s[j]) * float64(v)
	}
	return sum
}

// pageView holds the features of an arriving page.
type pageView [numPageFeatures]float64

const (
	viewBias     = iota
	viewJudged   // log-odds by the judge
	viewRise     // log-odds of the topic's share of the crawl above that at training
	viewFall     // the same below it
	viewAlike    // log-likelihood ratio of the similarity to the start pages
	viewStarts   // mean over-representation of its words on several start pages
	viewPromise  // log-odds that its links promised, above the crawl's
	viewShare    // log-odds of the topic's share of the crawl
	viewKin      // log-odds of the best page that links here
	viewLength   // log of the number of its words / 5
	viewNear     // greatest nearness to a start page's folder, above the crawl's
	viewNearMean // mean of these
	numPageFeatures
)

// odds returns the log-odds that a page is on topic.
func (o *Order) odds(x *pageView, c *state) (z float64) {
	for i, v := range x {
		z += v * o.pages[i].dot(c)
	}
	return z
}

func clip(x, most float64) float64 { return max(-most, min(most, x)) }
