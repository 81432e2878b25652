package models

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/BurntSushi/toml"
	"github.com/fxamacker/cbor/v2"
	"github.com/klauspost/compress/zstd"

	"fossick/internal/testkit"
	"fossick/models/features"
)

func linearModel() *Model {
	m := &Model{
		Classifier: LinearSVM, Classes: []string{"banking", "other"},
		Extractor:   features.ExtractorOptions{Analyzer: features.AnalyzerOptions{KeepStop: true, Numbers: features.NumbersShape}, Fields: true, Lead: 32},
		Terms:       []string{"mortgag", "title:bank", "lead:été"},
		Weighting:   features.Weighting{IDF: []float32{1.5, 2, 3}, Sublinear: true, Norm: true, Blocks: features.DefaultBlocks},
		Frequency:   []float32{1, 0.5, 0.25},
		ClassPages:  [][]int32{{2, 2, 0}, {3, 0, 1}},
		Titles:      map[string][]TitleWord{"banking": {{Word: "bank", Lang: "en", Pages: 2}, {Word: "été", Lang: "fr", Pages: 1, Others: 3}}},
		Linear:      &Linear{Weights: []float32{1, -1, 0.5, -0.5, 0, 0}, Bias: []float32{-0.1, 0.1}},
		Calibration: Calibration{Scale: 3, Offset: []float64{0.25, -0.25}},
		Thresholds:  []float64{0.4, 0.6},
		Keywords:    map[string][]string{"banking": {"mortgage", "bank"}, "other": {}},
		Card: Card{Data: []string{"demo"}, Split: "all", Pages: 5, PerClass: map[string]int{"banking": 2, "other": 3},
			Settings: map[string]string{"svm_c": "3"}, Seed: 1, CV: &Score{Pages: 5, Accuracy: 0.8, MacroF1: 0.75}, Marks: []uint64{3, 1 << 40, math.MaxUint64}},
	}
	m.Weighting.Bind(m.Terms)
	return m
}

func treeModel() *Model {
	m := linearModel()
	m.Classifier, m.Linear, m.Calibration = C45, nil, Calibration{Scale: 1}
	m.Tree = &Tree{
		Term: []int32{0, -1, 0, -1, -1}, Threshold: []float32{0, 0, 2, 0, 0},
		Low: []int32{1, -1, 3, -1, -1}, High: []int32{2, -1, 4, -1, -1}, Leaf: []int32{-1, 0, -1, 2, 4},
		Counts: []float32{0, 3, 1, 1, 4, 0},
	}
	return m
}

// simpleTree is treeModel with shares and a rule for each of its leaves.
func simpleTree() *Model {
	m := treeModel()
	m.Tree.Shares = []float32{0.25, 0.75, 0.5, 0.5, 1, 0}
	m.Tree.Rules = &Rules{
		Start: []int32{0, 1, 2, 3}, Term: []int32{0, 0, 0}, Threshold: []float32{0, 2, 2}, Above: []uint8{0, 0, 1},
		Class: []int32{1, 0, 0}, Counts: []float32{0, 3, 1, 4, 4, 0, 5, 4},
	}
	return m
}

func rulesModel() *Model {
	m := linearModel()
	m.Classifier, m.Linear, m.Calibration = CN2, nil, Calibration{Scale: 1}
	m.Rules = &Rules{
		Start: []int32{0, 2, 3}, Term: []int32{0, 1, 2}, Threshold: []float32{0, 0, 2}, Above: []uint8{1, 0, 1},
		Class: []int32{0, 1}, Counts: []float32{4, 0, 1, 2, 5, 5},
	}
	return m
}

func networkModel() *Model {
	m := linearModel()
	m.Classifier, m.Linear, m.Calibration = NN, nil, Calibration{Scale: 1}
	m.Network = &Network{
		Input: []float32{1, -2, 0.5, 0.25, -1, 3}, HiddenBias: []float32{0.5, -0.5},
		Output: []float32{2, -2, -1, 1}, OutputBias: []float32{0.1, -0.1},
	}
	return m
}

func voteModel() *Model {
	m := linearModel()
	m.Classifier, m.Linear, m.Weighting, m.Calibration = Voting, nil, features.Weighting{}, Calibration{Scale: 1.5}
	m.Weighting.Bind(m.Terms)
	m.Vote = &Vote{}
	for i, own := range []*Model{simpleTree(), networkModel(), linearModel()} {
		member := Member{Share: []float64{0.25, 0.25, 0.5}[i], Places: []int32{0, 1, 2}, Model: own}
		own.Frequency, own.ClassPages, own.Titles = nil, nil, nil
		if own.Keywords = nil; i == 2 {
			member.Places = []int32{0, 2}
			own.Terms = []string{m.Terms[0], m.Terms[2]}
			own.Weighting.IDF = []float32{1.5, 3}
			own.Linear.Weights = []float32{1, -1, 0, 0}
			own.Weighting.Bind(own.Terms)
		}
		m.Vote.Members = append(m.Vote.Members, member)
	}
	return m
}

func TestCheckRules(t *testing.T) {
	for name, damage := range map[string]func(*Rules){
		"no start":     func(r *Rules) { r.Start = nil },
		"start":        func(r *Rules) { r.Start[1] = 9 },
		"term":         func(r *Rules) { r.Term[0] = 3 },
		"class":        func(r *Rules) { r.Class[1] = 2 },
		"counts":       func(r *Rules) { r.Counts = r.Counts[1:] },
		"fewer than 0": func(r *Rules) { r.Counts[0] = -1 },
		"above":        func(r *Rules) { r.Above[0] = 2 },
	} {
		m := rulesModel()
		damage(m.Rules)
		if m.Check() == nil {
			t.Errorf("%s: Check finds nothing", name)
		}
	}
}

func encode(t testing.TB, m *Model) []byte {
	t.Helper()
	var b bytes.Buffer
	testkit.Must(t, m.Write(&b))
	return b.Bytes()
}

func TestWriteRead(t *testing.T) {
	for _, m := range []*Model{linearModel(), treeModel(), simpleTree(), rulesModel(), networkModel(), voteModel()} {
		path := filepath.Join(t.TempDir(), "x.model")
		testkit.Must(t, m.WriteFile(path))
		got := testkit.Call(ReadFile(path)).Must(t)
		if !reflect.DeepEqual(got, m) {
			t.Errorf("%s: read\n%+v\nwrote\n%+v", m.Classifier, got, m)
		}
		if !bytes.Equal(encode(t, got), encode(t, m)) {
			t.Errorf("%s: the same model has two forms", m.Classifier)
		}
	}
}

// TestReadFewerBlocks: version 2 has one block fewer and no lead.
func TestReadFewerBlocks(t *testing.T) {
	m := linearModel()
	m.Extractor.Lead, m.Terms[2] = 0, "été"
	m.Weighting.Blocks[len(m.Weighting.Blocks)-1] = 0
	m.Weighting.Bind(m.Terms)
	old := newWire(m)
	old.Blocks = old.Blocks[:len(old.Blocks)-1]
	raw := testkit.Call(cbor.Marshal(old)).Must(t)
	if bytes.Contains(raw, []byte("lead")) {
		t.Error("a model without a lead says something of one")
	}
	got := testkit.Call(parse(raw)).Must(t)
	if !reflect.DeepEqual(got, m) {
		t.Errorf("read\n%+v\nwant\n%+v", got, m)
	}
}

// TestReadOlder: files of earlier versions, which lack new keys, are read if their words are not stemmed.
func TestReadOlder(t *testing.T) {
	for version, m := range map[uint16]*Model{1: linearModel(), 2: treeModel()} {
		m.Extractor.Analyzer.NoStem = true
		if m.Tree != nil {
			m.Calibration.Scale = 0 // the shares were the probabilities; at scale 1 they are
		}
		old := encode(t, m)
		if m.Tree != nil {
			m.Calibration.Scale = 1
		}
		binary.LittleEndian.PutUint16(old[8:], version)
		sum := sha256.Sum256(old[:len(old)-sha256.Size])
		copy(old[len(old)-sha256.Size:], sum[:])
		got := testkit.Call(Read(bytes.NewReader(old))).Must(t)
		if !reflect.DeepEqual(got, m) {
			t.Errorf("version %d: read\n%+v\nwrote\n%+v", version, got, m)
		}
	}
}

// TestReadOtherStems: a model with other stems than this build's is rejected, because it would miss words.
func TestReadOtherStems(t *testing.T) {
	for _, m := range []*Model{linearModel(), voteModel()} {
		for _, stems := range []int{0, features.StemVersion - 1, features.StemVersion + 1} { // 0: as up to version 5
			w := newWire(m)
			w.Extractor.Stems = stems
			raw, err := cbor.Marshal(w)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := parse(raw); !errors.Is(err, errFormat) || !strings.Contains(err.Error(), "train the model again") {
				t.Errorf("%s, stems %d: error %v, want ErrFormat and what to do", m.Classifier, stems, err)
			}
			if w.Extractor.NoStem = true; stems == 0 {
				if raw, err = cbor.Marshal(w); err != nil {
					t.Fatal(err)
				}
				if _, err := parse(raw); err != nil {
					t.Errorf("%s, words as they are: %v", m.Classifier, err)
				}
			}
		}
	}
}

func TestReadDamaged(t *testing.T) {
	good := encode(t, linearModel())
	newer := bytes.Clone(good)
	binary.LittleEndian.PutUint16(newer[8:], version+1)
	for _, c := range []struct {
		name string
		file []byte
		says string
	}{
		{"empty", nil, "not a fossick model"},
		{"foreign", []byte("<html>not a model</html>"), "not a fossick model"},
		{"newer", newer, "update fossick"},
		{"magic only", good[:8], "truncated"},
		{"cut", good[:len(good)-1], "header says"},
		{"longer", append(bytes.Clone(good), 0), "header says"},
	} {
		if _, err := Read(bytes.NewReader(c.file)); !errors.Is(err, errFormat) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want ErrFormat and %q", c.name, err, c.says)
		}
	}
	for i := range good { // every flipped byte is noticed
		bad := bytes.Clone(good)
		bad[i] ^= 0x40
		if _, err := Read(bytes.NewReader(bad)); !errors.Is(err, errFormat) {
			t.Errorf("byte %d flipped: error %v, want ErrFormat", i, err)
		}
	}
}

func TestCheck(t *testing.T) {
	for name, damage := range map[string]func(*Model){
		"no classes":       func(m *Model) { m.Classes = nil },
		"class twice":      func(m *Model) { m.Classes[1] = "banking" },
		"thresholds":       func(m *Model) { m.Thresholds = nil },
		"frequency":        func(m *Model) { m.Frequency = m.Frequency[1:] },
		"share of pages":   func(m *Model) { m.Frequency[0] = 1.5 },
		"classes of pages": func(m *Model) { m.ClassPages = m.ClassPages[1:] },
		"terms of pages":   func(m *Model) { m.ClassPages[1] = m.ClassPages[1][:2] },
		"negative pages":   func(m *Model) { m.ClassPages[0][1] = -1 },
		"titles of nobody": func(m *Model) { m.Titles["x"] = nil },
		"no page's title":  func(m *Model) { m.Titles["banking"][0].Pages = 0 },
		"idf":              func(m *Model) { m.Weighting.IDF = m.Weighting.IDF[1:] },
		"no table":         func(m *Model) { m.Tree = nil },
		"two tables":       func(m *Model) { m.Linear = &Linear{} },
		"loop":             func(m *Model) { m.Tree.Low[0] = 0 },
		"child outside":    func(m *Model) { m.Tree.High[2] = 9 },
		"term outside":     func(m *Model) { m.Tree.Term[0] = 3 },
		"leaf outside":     func(m *Model) { m.Tree.Leaf[4] = 5 },
		"rules and tree":   func(m *Model) { m.Rules = rulesModel().Rules },
		"leaf below":       func(m *Model) { m.Tree.Leaf[1] = -1 },
		"threshold no num": func(m *Model) { m.Tree.Threshold[0] = float32(math.NaN()) },
		"calibration":      func(m *Model) { m.Calibration.Offset = []float64{1} },
		"weights": func(m *Model) {
			m.Tree, m.Linear = nil, &Linear{Weights: make([]float32, 5), Bias: make([]float32, 2)}
		},
	} {
		m := treeModel()
		damage(m)
		if m.Check() == nil {
			t.Errorf("%s: Check finds nothing", name)
		}
	}
	if err := treeModel().Check(); err != nil {
		t.Error(err)
	}
}

func TestCalibration(t *testing.T) {
	p := []float64{1, 0}
	(&Calibration{Scale: 2, Offset: []float64{0, 1}}).Apply(p)
	if want := 1 / (1 + math.Exp(-1)); math.Abs(p[0]-want) > 1e-12 || math.Abs(p[0]+p[1]-1) > 1e-12 {
		t.Errorf("probabilities %v, want %v and the rest", p, want)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(encode(f, linearModel()))
	f.Add(encode(f, treeModel()))
	f.Add(encode(f, rulesModel()))
	f.Add(encode(f, networkModel()))
	f.Add(encode(f, voteModel()))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, file []byte) {
		m, err := Read(bytes.NewReader(file))
		if err != nil {
			return
		}
		again, err := Read(bytes.NewReader(encode(t, m)))
		if err != nil || !reflect.DeepEqual(m, again) {
			t.Fatalf("written and read it differs: %v", err)
		}
	})
}

func FuzzPayload(f *testing.F) {
	for _, m := range []*Model{linearModel(), treeModel(), rulesModel(), networkModel(), voteModel()} {
		raw := testkit.Call(payload(m)).Must(f)
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := parse(raw)
		if err != nil {
			return
		}
		scoreEmpty(m)
	})
}

func scoreEmpty(m *Model) []float64 {
	probs := make([]float64, len(m.Classes))
	if m.Vote != nil {
		m.Vote.Scores(probs, func(i int) []float64 { return scoreEmpty(m.Vote.Members[i].Model) })
	} else {
		NewScorer(m).Scores(probs, features.Vector{})
	}
	m.Calibration.Apply(probs)
	return probs
}

// TestCostlyModels: a small file costs little memory, and trained models stay far from the limits.
func TestCostlyModels(t *testing.T) {
	empties := func(n int) []string { return make([]string, n) }
	maps := make([]map[string]int, 300_000)
	for i := range maps {
		maps[i] = map[string]int{}
	}
	type m map[string]any
	costly := testkit.Tries(t, "model files that would cost memory")
	for name, w := range map[string]any{
		"terms":       m{"terms": empties(2 << 20)},
		"zeros":       m{"idf": make([]byte, 20<<20)},
		"class pages": m{"class_pages": make([][]int32, 2<<20)},
		"members":     m{"vote": maps},
		"votes":       m{"vote": []m{{"model": m{"vote": maps}}}},
		"titles":      m{"titles": m{"a": make([][]int, 2<<20)}},
		"keywords":    m{"keywords": m{"a": empties(2 << 20)}},
		"classes":     m{"classes": numbered(100_000), "thresholds": make([]float64, 100_000)},
		"nested":      cbor.RawMessage(nested(1000)),
	} {
		raw, err := cbor.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		file := pack(t, raw)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = Read(bytes.NewReader(file))
		runtime.ReadMemStats(&after)
		told := errors.Is(err, errFormat) && strings.Contains(err.Error(), "again")
		cost, most := after.TotalAlloc-before.TotalAlloc, uint64(64<<20+100*len(file))
		costly.Try(told && cost <= most, "%s: %v, want ErrFormat and what to do; a file of %d bytes cost %d MiB, want %d at most", name, err, len(file), cost>>20, most>>20)
	}
	if err := (&Model{Classes: numbered(MaxClasses + 1)}).Check(); err == nil || !strings.Contains(err.Error(), "classes") {
		t.Errorf("%d classes: %v", MaxClasses+1, err)
	}
}

// TestChangedModels: a changed payload with right sums is rejected or scores pages, at no more than its size.
func TestChangedModels(t *testing.T) {
	changed := testkit.Tries(t, "changed model files")
	rng := rand.New(rand.NewPCG(12, 15))
	for _, m := range []*Model{linearModel(), treeModel(), rulesModel(), networkModel(), voteModel()} {
		raw := testkit.Call(payload(m)).Must(t)
		for range testkit.Rounds(40, 2000) {
			bad := slices.Clone(raw)
			for range 1 + rng.IntN(4) {
				at := rng.IntN(len(bad))
				switch n := min(len(bad)-at, 1+rng.IntN(9)); rng.IntN(4) {
				case 0:
					bad[at] ^= 1 << rng.IntN(8)
				case 1:
					clear(bad[at : at+n])
				case 2: // the heads of CBOR's long arrays, maps and strings
					bad[at] = []byte{0x9a, 0x9b, 0xba, 0xbb, 0x7a, 0x5b, 0x9f, 0xbf}[rng.IntN(8)]
				case 3:
					bad = slices.Insert(bad, at, slices.Clone(bad[at:at+n])...)
				}
			}
			changed.Try(scored(pack(t, bad)), "a panic, or too much memory, by %x", bad)
		}
	}
}

// scored reports whether a model file is rejected or scores a page, in the memory that its size allows.
func scored(file []byte) (held bool) {
	defer func() { held = recover() == nil && held }()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if m, err := Read(bytes.NewReader(file)); err == nil {
		scoreEmpty(m)
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc-before.TotalAlloc <= 64<<20+100*uint64(len(file))
}

// TestEndlessModel: Read reads no more of an endless file than a model has.
func TestEndlessModel(t *testing.T) {
	file := pack(t, []byte{0xa0})
	large := binary.LittleEndian.AppendUint64(slices.Clone(file[:10]), 1<<20)
	for name, head := range map[string][]byte{"zeros": nil, "a model": file, "one that says it is large": large} {
		r := &endless{head: head, most: 3 << 20} // buffers ask for more than they need
		if _, err := Read(r); !errors.Is(err, errFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	testkit.Must(t, syscall.Mkfifo(pipe, 0o600))
	for _, path := range []string{pipe, "/dev/zero"} {
		if _, err := ReadFile(path); err == nil {
			t.Errorf("%s is a model", path)
		}
	}
}

// endless gives zeros after head, and an error beyond most bytes.
type endless struct {
	head []byte
	most int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.most -= len(p); e.most < 0 {
		return 0, errors.New("too much is read")
	}
	n := copy(p, e.head)
	e.head = e.head[n:]
	clear(p[n:])
	return len(p), nil
}

func pack(t *testing.T, raw []byte) []byte {
	t.Helper()
	enc := testkit.Call(zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))).Must(t)
	defer enc.Close()
	packed := enc.EncodeAll(raw, nil)
	file := binary.LittleEndian.AppendUint16([]byte(magic), version)
	file = binary.LittleEndian.AppendUint64(file, uint64(len(packed)))
	file = append(binary.LittleEndian.AppendUint64(file, uint64(len(raw))), packed...)
	sum := sha256.Sum256(file)
	return append(file, sum[:]...)
}

func numbered(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("class %06d", i)
	}
	return names
}

func nested(n int) []byte {
	return append(bytes.Repeat([]byte{0x81}, n), 0x80)
}

// TestTrainedShare: the card tells the trained share, exactly if it keeps all marks, else nearly.
func TestTrainedShare(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	for _, tc := range []struct {
		trained, judged, both int
		within                float64
	}{
		{300, 500, 200, 0}, {marksMost, 5000, 0, 0}, {20_000, 20_000, 5_000, 0.04}, {20_000, 20_000, 20_000, 0},
	} {
		all := make([]uint64, tc.trained+tc.judged-tc.both)
		for i := range all {
			all[i] = rng.Uint64()
		}
		c := Card{Marks: KeepMarks(slices.Clone(all[:tc.trained]))}
		known, trained := 0, 0
		for _, m := range all[tc.trained-tc.both:] {
			yes, tells := c.Trained(m)
			if tells {
				known++
			}
			if yes {
				trained++
			}
		}
		got, want := float64(trained)/float64(known), float64(tc.both)/float64(tc.judged)
		if known == 0 || math.Abs(got-want) > tc.within {
			t.Errorf("%+v: %d of %d, a share of %.3f, want %.3f", tc, trained, known, got, want)
		}
	}
	if trained, known := (&Card{}).Trained(7); trained || known {
		t.Error("a card without marks tells")
	}
}

// TestMark: a page's mark depends on title and text alone.
func TestMark(t *testing.T) {
	a := Mark(features.Doc{URL: "http://a.test/", Title: "x", Text: "y"})
	if b := Mark(features.Doc{URL: "http://b.test/", Title: "x", Text: "y"}); a != b {
		t.Error("a copy elsewhere has another mark")
	}
	if b := Mark(features.Doc{Title: "xy"}); a == b {
		t.Error("title and text run together")
	}
}

// TestMarksOfFiles: marks that do not rise, or too many, are rejected.
func TestMarksOfFiles(t *testing.T) {
	for name, m := range map[string]marks{"falling": {5, 4}, "twice": {5, 5}, "too many": make(marks, marksMost+1)} {
		b := testkit.Call(m.MarshalCBOR()).Must(t)
		var back marks
		if back.UnmarshalCBOR(b) == nil {
			t.Errorf("%s: read as %v", name, back)
		}
	}
}

// FuzzTopic: no topic file makes reading panic. A topic that was read has a name and survives writing.
func FuzzTopic(f *testing.F) {
	f.Add([]byte("name = \"bees\"\ntitle = \"Bees\"\nkeywords = [\"bee\", \"hive\"]\nseeds = [\"https://example.org/\"]\n"))
	f.Add([]byte("name = \"\"\nother = 1"))
	f.Add([]byte("[name]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		topic, err := readTopic(fstest.MapFS{topicFile: {Data: text}}, "t")
		if err != nil {
			return
		}
		if topic.Name == "" {
			t.Fatalf("%q: no name", text)
		}
		out, err := toml.Marshal(topic)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		again, err := readTopic(fstest.MapFS{topicFile: {Data: out}}, "t")
		if err != nil || again.Name != topic.Name || len(again.Keywords) != len(topic.Keywords) || len(again.Seeds) != len(topic.Seeds) {
			t.Errorf("%q: read %+v, and %+v after writing (%v)", text, topic, again, err)
		}
	})
}
