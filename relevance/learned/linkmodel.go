package learned

import (
	"math"
)

// linkModel makes features of a target's evidence and weighs them. It learns three things
// from fetched pages: the crawl's base rate, what words are worth, and the weights.
type linkModel struct {
	base    base
	words   vocabulary
	weights logistic
	local   locality
	scarce  float64 // how little the judge saw of the topic, see scarceOf
	doubt   float64 // of the judge, see belief
	blind   float64 // how far links go by where they come from, see blind.go
	away    float64 // what links from the start pages count now
	begun   bool    // there was a page that is no start page
	sums    *Sums   // what was learned since others were told; nil where nobody asks
}

func newLinkModel(background *Background, start *WarmStart) linkModel {
	m := linkModel{base: newBase(background, start), words: newVocabulary(), weights: newLogistic(background != nil, start != nil)}
	m.words.take(start)
	return m
}

// promise is the probability that a target is on topic. fix is of people's labels.
func (m *linkModel) promise(e *evidence, fix *correction) float64 {
	var x featureVector
	m.features(&x, e, fix)
	return highest * m.weights.probability(&x)
}

// learn takes in what the evidence of a target, and what was found in it, was
// worth. It does so for the weights, for the words of its links, and for the
// pages that named it.
func (m *linkModel) learn(e *evidence, found *featureVector, probability float64) {
	m.sums.learnWeights(&m.weights, found, probability)
	m.weights.learn(found, probability)
	for _, words := range [][]token{e.words[:e.count], e.endings[:e.ended]} {
		m.words.learnLink(words, probability)
		m.sums.learnLink(words, probability)
	}
	for i, s := range e.named() {
		s.turned(e.at[i], probability)
		m.sums.learnTurn(s, e.at[i], probability)
	}
}

// learnPage takes in a page's words, each given once, and returns as how many pages they
// count: less than one where they are an echo.
func (m *linkModel) learnPage(key uint64, words []token, probability, echo float64) (counted float64) {
	if counted = (1 - echo) * wordWeight(m.base.all.pages, key, probability); counted > 0 {
		m.words.learnPage(words, probability, counted)
		m.sums.learnPage(words, probability, counted)
	}
	m.base.all.add(probability * (1 - echo))
	if m.sums != nil {
		m.sums.all.add(probability * (1 - echo))
	}
	return counted
}

// begin takes in that there is a page that is no start page.
func (m *linkModel) begin() {
	m.begun = true
	if m.sums != nil {
		m.sums.begun = true
	}
}

// turn goes on to the next page: what lifts are above moves, and the warm-up fades.
func (m *linkModel) turn() {
	m.base.move()
	m.weights.age(float64(m.base.all.pages))
	m.blind = max(m.blind, m.scarce*m.local.ramp(blindFrom, blindTo))
	m.away = m.doubt*m.local.ramp(awayFrom, awayTo) + m.blind
}

// rarity is the weight of a word by how few of the crawl's pages have it.
func (m *linkModel) rarity(w token) float64 {
	known := float64(m.words.words.find(w).page.pages)
	return math.Log((float64(m.base.all.pages) + 1) / (known + 1))
}

// Most pages of a crawl that has grown are off topic, and one more of them says little of
// what its words are worth. So they are undersampled: the words of every other one are not
// counted, and those of the others count twice. What is expected of a word's record is the
// same, for half the work.
const (
	undersampleFrom  = 2000 // pages, before which all count
	undersampleBelow = 0.1  // probability, from which on all count
)

// wordWeight says as how many pages the words of a page count, by the pages so far, its
// page.Key and how far it is taken to be on topic.
func wordWeight(pages float32, key uint64, probability float64) float64 {
	switch {
	case pages < undersampleFrom || probability >= undersampleBelow:
		return 1
	case key&1 == 0:
		return 0
	}
	return 2
}

// weighAround makes surroundings of what was read, with what words are worth now.
func (m *linkModel) weighAround(read *Around) []surroundings {
	all := make([]surroundings, len(read.Judged))
	from := 0
	for i, wanted := range read.Wanted {
		if wanted {
			all[i] = surroundings{true, read.Judged[i], m.words.over(read.Words[from:read.Ends[i]], &m.base)}
		}
		from = read.Ends[i]
	}
	return all
}

// account returns what the score of a target is made of.
func (m *linkModel) account(e *evidence, fix *correction) *account {
	a := &account{
		parents: float64(e.parents), host: float64(e.host.pages), folder: float64(e.folder.pages), hops: float64(e.hops),
		explored: e.explored && m.begun, byDegree: !m.begun, inText: e.text,
	}
	m.features(&a.found, e, fix)
	a.expected = m.weights.probability(&a.found)
	for i, x := range a.found {
		a.weighs[i] = m.weights.at(i) * x
	}
	return a
}
