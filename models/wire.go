package models

import "fossick/models/features"

// wire is a Model as it is written: CBOR maps with these keys. A key that a
// later build adds is passed over by this one only if the version says so.
type wire struct {
	Classifier string                     `cbor:"classifier"`
	Classes    []string                   `cbor:"classes"`
	Extractor  wireExtractor              `cbor:"extractor"`
	Terms      []string                   `cbor:"terms"`
	IDF        floats                     `cbor:"idf,omitempty"`
	Frequency  floats                     `cbor:"frequency,omitempty"`   // from version 4
	ClassPages [][]int32                  `cbor:"class_pages,omitempty"` // from version 5
	Titles     map[string][]wireTitleWord `cbor:"titles,omitempty"`      // from version 5
	Domain     *wireDomain                `cbor:"domain,omitempty"`      // from version 8
	Sublinear  bool                       `cbor:"sublinear"`
	Norm       bool                       `cbor:"norm"`
	Blocks     floats                     `cbor:"blocks"`
	Linear     *wireLinear                `cbor:"linear,omitempty"`
	Tree       *wireTree                  `cbor:"tree,omitempty"`
	Rules      *wireRules                 `cbor:"rules,omitempty"`
	Network    *wireNetwork               `cbor:"network,omitempty"`
	Vote       []wireMember               `cbor:"vote,omitempty"`   // from version 3
	Forest     []*wireTree                `cbor:"forest,omitempty"` // from version 9
	Scale      float64                    `cbor:"scale"`
	Offset     []float64                  `cbor:"offset,omitempty"`
	Thresholds []float64                  `cbor:"thresholds"`
	Keywords   map[string][]string        `cbor:"keywords"`
	Card       wireCard                   `cbor:"card"`
}

type wireTitleWord struct {
	_      struct{} `cbor:",toarray"`
	Word   string
	Lang   string
	Pages  int
	Others int
}

type wireDomain struct {
	Words         []string `cbor:"words"`
	Shares        floats   `cbor:"shares"`
	LeastFamiliar float64  `cbor:"least_familiar"`
	LeastForeign  float64  `cbor:"least_foreign"`
	LeastWords    int      `cbor:"least_words"`
	LeastTerms    int      `cbor:"least_terms"`
	Languages     []string `cbor:"languages"`
}

type wireExtractor struct {
	NoStem      bool  `cbor:"no_stem"`
	Stems       int   `cbor:"stems,omitempty"` // features.StemVersion; from version 6, absent with NoStem
	KeepStop    bool  `cbor:"keep_stop"`
	MinLength   int   `cbor:"min_length"`
	MaxLength   int   `cbor:"max_length"`
	Numbers     uint8 `cbor:"numbers"`
	TitleWeight int   `cbor:"title_weight"`
	Fields      bool  `cbor:"fields"`
	Bigrams     bool  `cbor:"bigrams"`
	Lead        int   `cbor:"lead,omitempty"` // from version 3
	Chars       int   `cbor:"chars,omitempty"`
}

type wireLinear struct {
	Weights floats `cbor:"weights"`
	Bias    floats `cbor:"bias"`
}

type wireTree struct {
	Term      []int32 `cbor:"term"`
	Threshold floats  `cbor:"threshold"`
	Low       []int32 `cbor:"low"`
	High      []int32 `cbor:"high"`
	Leaf      []int32 `cbor:"leaf"`
	Counts    floats  `cbor:"counts"`
	Shares    floats  `cbor:"shares,omitempty"`

	Rules *wireRules `cbor:"rules,omitempty"`
}

type wireRules struct {
	Ordered   bool    `cbor:"ordered"`
	Shares    bool    `cbor:"shares"`
	Start     []int32 `cbor:"start"`
	Term      []int32 `cbor:"term"`
	Threshold floats  `cbor:"threshold"`
	Above     []uint8 `cbor:"above"`
	Class     []int32 `cbor:"class"`
	Counts    floats  `cbor:"counts"`
}

type wireNetwork struct {
	Input      floats `cbor:"input"`
	HiddenBias floats `cbor:"hidden_bias"`
	Output     floats `cbor:"output"`
	OutputBias floats `cbor:"output_bias"`
}

type wireCard struct {
	Data     []string          `cbor:"data"`
	Split    string            `cbor:"split"`
	Pages    int               `cbor:"pages"`
	PerClass map[string]int    `cbor:"per_class"`
	Settings map[string]string `cbor:"settings"`
	Seed     int64             `cbor:"seed"`
	CV       *Score            `cbor:"cv"`
	Test     *Score            `cbor:"test"`
	Marks    marks             `cbor:"marks,omitempty"` // from version 7
}

func newWire(m *Model) *wire {
	w := &wire{
		Classifier: m.Classifier, Classes: m.Classes, Terms: m.Terms,
		Extractor: newWireExtractor(&m.Extractor),
		IDF:       m.Weighting.IDF, Frequency: m.Frequency, ClassPages: m.ClassPages, Titles: newWireTitles(m.Titles), Sublinear: m.Weighting.Sublinear, Norm: m.Weighting.Norm, Blocks: m.Weighting.Blocks[:],
		Scale: m.Calibration.Scale, Offset: m.Calibration.Offset,
		Thresholds: m.Thresholds, Keywords: m.Keywords, Card: newWireCard(&m.Card),
	}
	if m.Linear != nil {
		w.Linear = &wireLinear{m.Linear.Weights, m.Linear.Bias}
	}
	w.Tree = newWireTree(m.Tree)
	for _, t := range m.Forest {
		w.Forest = append(w.Forest, newWireTree(t))
	}
	w.Rules = newWireRules(m.Rules)
	if n := m.Network; n != nil {
		w.Network = &wireNetwork{n.Input, n.HiddenBias, n.Output, n.OutputBias}
	}
	w.Vote = newWireVote(m.Vote)
	if d := m.Domain; d != nil {
		w.Domain = &wireDomain{d.Words, d.Shares, d.LeastFamiliar, d.LeastForeign, d.LeastWords, d.LeastTerms, d.Languages}
	}
	return w
}

func newWireCard(c *Card) wireCard {
	return wireCard{c.Data, c.Split, c.Pages, c.PerClass, c.Settings, c.Seed, c.CV, c.Test, c.Marks}
}

func (w *wireCard) card() Card {
	return Card{w.Data, w.Split, w.Pages, w.PerClass, w.Settings, w.Seed, w.CV, w.Test, w.Marks}
}

func newWireExtractor(x *features.ExtractorOptions) wireExtractor {
	stems := features.StemVersion
	if x.Analyzer.NoStem {
		stems = 0
	}
	return wireExtractor{x.Analyzer.NoStem, stems, x.Analyzer.KeepStop, x.Analyzer.MinLength, x.Analyzer.MaxLength,
		uint8(x.Analyzer.Numbers), x.TitleWeight, x.Fields, false, x.Lead, 0}
}

// stemmed reports whether this build makes the stems that the model's terms are.
func (x *wireExtractor) stemmed() bool {
	return x.NoStem || x.Stems == features.StemVersion
}

func (w *wire) model() *Model {
	x := w.Extractor
	m := &Model{
		Classifier: w.Classifier, Classes: w.Classes, Terms: w.Terms,
		Extractor: features.ExtractorOptions{
			Analyzer: features.AnalyzerOptions{NoStem: x.NoStem, KeepStop: x.KeepStop,
				MinLength: x.MinLength, MaxLength: x.MaxLength, Numbers: features.Numbers(x.Numbers)},
			TitleWeight: x.TitleWeight, Fields: x.Fields, Lead: x.Lead,
		},
		Weighting:  features.Weighting{IDF: w.IDF, Sublinear: w.Sublinear, Norm: w.Norm},
		Frequency:  w.Frequency,
		ClassPages: w.ClassPages, Titles: readTitles(w.Titles),
		Calibration: Calibration{w.Scale, w.Offset},
		Thresholds:  w.Thresholds, Keywords: w.Keywords, Card: w.Card.card(),
	}
	copy(m.Weighting.Blocks[:], w.Blocks) // of versions 1 and 2 one fewer: they have no lead
	if l := w.Linear; l != nil {
		m.Linear = &Linear{l.Weights, l.Bias}
	}
	m.Tree = w.Tree.tree()
	for _, t := range w.Forest {
		m.Forest = append(m.Forest, t.tree())
	}
	m.Rules = w.Rules.rules()
	if n := w.Network; n != nil {
		m.Network = &Network{n.Input, n.HiddenBias, n.Output, n.OutputBias}
	}
	m.Vote = readVote(w.Vote, m)
	if d := w.Domain; d != nil {
		m.Domain = &Domain{d.Words, d.Shares, d.LeastFamiliar, d.LeastForeign, d.LeastWords, d.LeastTerms, d.Languages}
	}
	return m
}

func newWireTitles(titles map[string][]TitleWord) map[string][]wireTitleWord {
	if len(titles) == 0 {
		return nil
	}
	out := make(map[string][]wireTitleWord, len(titles))
	for class, words := range titles {
		for _, t := range words {
			out[class] = append(out[class], wireTitleWord{Word: t.Word, Lang: t.Lang, Pages: t.Pages, Others: t.Others})
		}
	}
	return out
}

func readTitles(titles map[string][]wireTitleWord) map[string][]TitleWord {
	if len(titles) == 0 {
		return nil
	}
	out := make(map[string][]TitleWord, len(titles))
	for class, words := range titles {
		for _, t := range words {
			out[class] = append(out[class], TitleWord{t.Word, t.Lang, t.Pages, t.Others})
		}
	}
	return out
}

func newWireTree(t *Tree) *wireTree {
	if t == nil {
		return nil
	}
	return &wireTree{t.Term, t.Threshold, t.Low, t.High, t.Leaf, t.Counts, t.Shares, newWireRules(t.Rules)}
}

func (t *wireTree) tree() *Tree {
	if t == nil {
		return nil
	}
	return &Tree{t.Term, t.Threshold, t.Low, t.High, t.Leaf, t.Counts, t.Shares, t.Rules.rules()}
}

func newWireRules(r *Rules) *wireRules {
	if r == nil {
		return nil
	}
	return &wireRules{r.Ordered, r.Shares, r.Start, r.Term, r.Threshold, r.Above, r.Class, r.Counts}
}

func (r *wireRules) rules() *Rules {
	if r == nil {
		return nil
	}
	return &Rules{r.Ordered, r.Shares, r.Start, r.Term, r.Threshold, r.Above, r.Class, r.Counts}
}
