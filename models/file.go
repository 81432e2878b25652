package models

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/fxamacker/cbor/v2"
	"github.com/klauspost/compress/zstd"

	"fossick/internal/fileio"
	"fossick/models/features"
)

// A model file is, byte by byte (docs/model-format.md):
//
//	 0  8  magic "FOSSICKM"
//	 8  2  version, little-endian as all numbers
//	10  8  length of the payload
//	18  8  length of the payload when decompressed
//	26     payload: zstd of CBOR
//	    32 SHA-256 of all before
const (
	magic      = "FOSSICKM"
	headerSize = 26

	// version is the format that this build writes. It reads older ones if their terms have its stems.
	version = 9

	// maxRawBytes limits a file, and its payload when decompressed.
	maxRawBytes = 1 << 28

	// A payload may have smallRawBytes and this many times the file's size, because tables of zeros pack
	// well. Those of the built-in topics are a quarter larger than their files.
	smallRawBytes = 1 << 20
	maxPacked     = 64
)

// errFormat reports bytes that this build cannot read as a model.
var errFormat = errors.New("not a model that can be read")

// marks are written as little-endian bytes, like floats.
type marks []uint64

func (m marks) MarshalCBOR() ([]byte, error) {
	b := make([]byte, 0, 8*len(m))
	for _, v := range m {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return cbor.Marshal(b)
}

func (m *marks) UnmarshalCBOR(data []byte) error {
	var b []byte
	if err := cbor.Unmarshal(data, &b); err != nil {
		return err
	}
	if len(b)%8 != 0 || len(b) > 8*marksMost {
		return fmt.Errorf("%d bytes of marks; want a multiple of 8, and %d at most", len(b), 8*marksMost)
	}
	*m = nil
	for ; len(b) > 0; b = b[8:] {
		v := binary.LittleEndian.Uint64(b)
		if n := len(*m); n > 0 && v <= (*m)[n-1] {
			return errors.New("marks that do not rise")
		}
		*m = append(*m, v)
	}
	return nil
}

// floats are written as little-endian bytes: a quarter shorter than CBOR's numbers, and faster to read.
type floats []float32

func (f floats) MarshalCBOR() ([]byte, error) {
	b := make([]byte, 0, 4*len(f))
	for _, v := range f {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return cbor.Marshal(b)
}

func (f *floats) UnmarshalCBOR(data []byte) error {
	var b []byte
	if err := cbor.Unmarshal(data, &b); err != nil {
		return err
	}
	if len(b)%4 != 0 {
		return fmt.Errorf("%d bytes of numbers; want a multiple of 4", len(b))
	}
	*f = nil
	if len(b) == 0 {
		return nil
	}
	*f = make(floats, len(b)/4)
	for i := range *f {
		(*f)[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return nil
}

// Write writes m; the same model gives the same bytes.
func (m *Model) Write(w io.Writer) error {
	if err := m.Check(); err != nil {
		return err
	}
	raw, err := payload(m)
	if err != nil {
		return err
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBetterCompression))
	if err != nil {
		return fmt.Errorf("model: %w", err)
	}
	payload := enc.EncodeAll(raw, nil)
	if err := errors.Join(affordable(raw), proportionate(len(raw), headerSize+len(payload)+sha256.Size)); err != nil {
		return fmt.Errorf("model: %w; train one of fewer words or classes", err) // no build could read it
	}
	file := make([]byte, 0, headerSize+len(payload)+sha256.Size)
	file = append(file, magic...)
	file = binary.LittleEndian.AppendUint16(file, version)
	file = binary.LittleEndian.AppendUint64(file, uint64(len(payload)))
	file = binary.LittleEndian.AppendUint64(file, uint64(len(raw)))
	file = append(file, payload...)
	sum := sha256.Sum256(file)
	if _, err := w.Write(append(file, sum[:]...)); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	return nil
}

// payload returns m as deterministic CBOR (RFC 8949, section 4.2.1).
func payload(m *Model) ([]byte, error) {
	mode, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	raw, err := mode.Marshal(newWire(m))
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	return raw, nil
}

// Read reads a model to the end of r and checks it. An error is ErrFormat or r's.
func Read(r io.Reader) (*Model, error) {
	file, err := readBounded(r)
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	raw, err := unpack(file)
	if err != nil {
		return nil, err
	}
	return parse(raw)
}

// readBounded reads at most the size in the header and one byte more, or only the header if its magic is
// wrong.
func readBounded(r io.Reader) ([]byte, error) {
	file := make([]byte, headerSize)
	n, err := io.ReadFull(r, file)
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return file[:n], nil
	case err != nil:
		return nil, err
	case string(file[:len(magic)]) != magic:
		return file, nil
	}
	size := min(binary.LittleEndian.Uint64(file[10:]), maxRawBytes)
	rest, err := io.ReadAll(io.LimitReader(r, int64(size)+sha256.Size+1))
	return append(file, rest...), err
}

// parse decodes a payload and checks that its tables fit together.
func parse(raw []byte) (*Model, error) {
	if err := affordable(raw); err != nil {
		return nil, fmt.Errorf("model: %w: %w; train the model again", errFormat, err)
	}
	mode, err := cbor.DecOptions{
		MaxArrayElements: maxNumbers, MaxMapPairs: 1 << 20, DupMapKey: cbor.DupMapKeyEnforcedAPF,
		IndefLength: cbor.IndefLengthForbidden, TagsMd: cbor.TagsForbidden,
	}.DecMode()
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	var w wire
	if err := mode.Unmarshal(raw, &w); err != nil {
		return nil, fmt.Errorf("model: %w: %w; train the model again", errFormat, err)
	}
	if !w.Extractor.stemmed() {
		return nil, fmt.Errorf("model: %w: its words were stemmed by another version of fossick; train the model again", errFormat)
	}
	if w.Extractor.Bigrams || w.Extractor.Chars != 0 || w.Extractor.TitleWeight > 1 {
		return nil, fmt.Errorf("model: %w: it has pairs of words or runs of characters as terms, or counts titles more than once, which fossick no longer reads; train the model again", errFormat)
	}
	m := w.model()
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("%w: %w; train the model again", errFormat, err)
	}
	m.Weighting.Bind(m.Terms)
	return m, nil
}

// unpack checks the file and returns the decompressed payload.
func unpack(file []byte) ([]byte, error) {
	if len(file) < len(magic) || string(file[:len(magic)]) != magic {
		return nil, fmt.Errorf("model: %w: not a fossick model; make one with fossick train", errFormat)
	}
	if len(file) < headerSize+sha256.Size {
		return nil, fmt.Errorf("model: %w: truncated after %d bytes; copy or train it again", errFormat, len(file))
	}
	if v := binary.LittleEndian.Uint16(file[8:]); v == 0 || v > version {
		return nil, fmt.Errorf("model: %w: version %d, this build reads up to %d; update fossick or train the model again", errFormat, v, version)
	}
	body := file[:len(file)-sha256.Size]
	size, rawSize := binary.LittleEndian.Uint64(file[10:]), binary.LittleEndian.Uint64(file[18:])
	if err := proportionate(int(min(rawSize, math.MaxInt)), len(file)); err != nil {
		return nil, fmt.Errorf("model: %w: %w; train it again", errFormat, err)
	}
	if size != uint64(len(body)-headerSize) {
		return nil, fmt.Errorf("model: %w: %d bytes where the header says %d; copy or train it again", errFormat, len(body)-headerSize, size)
	}
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:], file[len(body):]) {
		return nil, fmt.Errorf("model: %w: damaged, its checksum does not match; copy or train it again", errFormat)
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(max(rawSize, 1<<20)))
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	defer dec.Close()
	raw, err := dec.DecodeAll(body[headerSize:], nil)
	if err != nil || uint64(len(raw)) != rawSize {
		return nil, fmt.Errorf("model: %w: its payload does not decompress to %d bytes (%v); train it again", errFormat, rawSize, err)
	}
	return raw, nil
}

// WriteFile writes m to a file, which is replaced only once the new one is complete.
func (m *Model) WriteFile(path string) error {
	if err := fileio.Write(path, 0o644, func(f *os.File) error { return m.Write(f) }); err != nil {
		return fmt.Errorf("model %s: %w", path, err)
	}
	return nil
}

// ReadFile reads a model from a regular file.
func ReadFile(path string) (*Model, error) {
	f, err := fileio.Open(path)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w; make one with fossick train", path, err)
	}
	defer f.Close()
	m, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// wire is a Model as it is written: CBOR maps with these keys. A later build that adds a key raises the
// version if this build must not ignore the key.
type wire struct {
	Classifier string                 `cbor:"classifier"`
	Classes    []string               `cbor:"classes"`
	Extractor  wireExtractor          `cbor:"extractor"`
	Terms      []string               `cbor:"terms"`
	IDF        floats                 `cbor:"idf,omitempty"`
	Frequency  floats                 `cbor:"frequency,omitempty"`   // from version 4
	ClassPages [][]int32              `cbor:"class_pages,omitempty"` // from version 5
	Titles     map[string][]TitleWord `cbor:"titles,omitempty"`      // from version 5
	Domain     *Domain                `cbor:"domain,omitempty"`      // from version 8
	Sublinear  bool                   `cbor:"sublinear"`
	Norm       bool                   `cbor:"norm"`
	Blocks     floats                 `cbor:"blocks"`
	Linear     *Linear                `cbor:"linear,omitempty"`
	Tree       *Tree                  `cbor:"tree,omitempty"`
	Rules      *Rules                 `cbor:"rules,omitempty"`
	Network    *Network               `cbor:"network,omitempty"`
	Vote       []wireMember           `cbor:"vote,omitempty"`   // from version 3
	Forest     []*Tree                `cbor:"forest,omitempty"` // from version 9
	Scale      float64                `cbor:"scale"`
	Offset     []float64              `cbor:"offset,omitempty"`
	Thresholds []float64              `cbor:"thresholds"`
	Keywords   map[string][]string    `cbor:"keywords"`
	Card       Card                   `cbor:"card"`
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

func newWire(m *Model) *wire {
	return &wire{
		Classifier: m.Classifier, Classes: m.Classes, Terms: m.Terms, Extractor: newWireExtractor(&m.Extractor),
		IDF: m.Weighting.IDF, Sublinear: m.Weighting.Sublinear, Norm: m.Weighting.Norm, Blocks: m.Weighting.Blocks[:],
		Frequency: m.Frequency, ClassPages: m.ClassPages, Titles: m.Titles, Domain: m.Domain,
		Linear: m.Linear, Tree: m.Tree, Rules: m.Rules, Network: m.Network, Vote: newWireVote(m.Vote), Forest: m.Forest,
		Scale: m.Calibration.Scale, Offset: m.Calibration.Offset, Thresholds: m.Thresholds, Keywords: m.Keywords, Card: m.Card,
	}
}

func newWireExtractor(x *features.ExtractorOptions) wireExtractor {
	stems := features.StemVersion
	if x.Analyzer.NoStem {
		stems = 0
	}
	return wireExtractor{x.Analyzer.NoStem, stems, x.Analyzer.KeepStop, x.Analyzer.MinLength, x.Analyzer.MaxLength,
		uint8(x.Analyzer.Numbers), 0, x.Fields, false, x.Lead, 0}
}

// stemmed reports whether this build makes the stems of the model's terms.
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
			Fields: x.Fields, Lead: x.Lead,
		},
		Weighting:  features.Weighting{IDF: w.IDF, Sublinear: w.Sublinear, Norm: w.Norm},
		Frequency:  w.Frequency,
		ClassPages: w.ClassPages, Titles: w.Titles, Domain: w.Domain,
		Linear: w.Linear, Tree: w.Tree, Rules: w.Rules, Network: w.Network, Forest: w.Forest,
		Calibration: Calibration{w.Scale, w.Offset},
		Thresholds:  w.Thresholds, Keywords: w.Keywords, Card: w.Card,
	}
	if m.Tree != nil && m.Calibration.Scale == 0 {
		m.Calibration.Scale = 1 // before version 9 a leaf's shares were the probabilities
	}
	copy(m.Weighting.Blocks[:], w.Blocks) // versions 1 and 2 have one fewer: they have no lead
	m.Vote = readVote(w.Vote, m)
	return m
}

// Limits of what a payload holds. One of its bytes can cost 64 in memory as an empty text, several hundred
// as an empty map: 14 KB could cost 2.3 GB.
const (
	maxItems   = 1 << 22 // texts, byte strings and arrays: 256 MiB of headers
	maxNumbers = 1 << 25
	maxMaps    = 1 << 12
)

// errBudget reports a payload with more than any model has.
var errBudget = errors.New("it holds more than any model has")

// proportionate rejects a payload that is too large for a file of this size.
func proportionate(raw, file int) error {
	if raw > min(maxRawBytes, smallRawBytes+maxPacked*file) {
		return fmt.Errorf("%w: %d bytes that unpack to %d", errBudget, file, raw)
	}
	return nil
}

// affordable counts what a payload holds before memory is taken for it. The decoder checks that it is
// CBOR, and allows no indefinite lengths.
func affordable(raw []byte) error {
	items, numbers, maps := 0, 0, 0
	for i := 0; i < len(raw); {
		kind, info := raw[i]>>5, raw[i]&31
		length, ok := uint64(info), true
		i++
		if info >= 24 {
			if length, i, ok = argument(raw, i, info); !ok {
				return nil // truncated, or not CBOR
			}
		}
		switch kind {
		case 2, 3:
			items++
			if length > uint64(len(raw)-i) {
				return nil
			}
			i += int(length)
		case 4:
			items++
		case 5:
			maps++
		default:
			numbers++
		}
	}
	if items > maxItems || numbers > maxNumbers || maps > maxMaps {
		return fmt.Errorf("%w: %d texts and lists, %d numbers, %d maps", errBudget, items, numbers, maps)
	}
	return nil
}

// argument reads the number after an item's first byte.
func argument(raw []byte, i int, info byte) (n uint64, next int, ok bool) {
	size := 1 << (info - 24)
	if info > 27 || len(raw)-i < size {
		return 0, i, false
	}
	var b [8]byte
	copy(b[8-size:], raw[i:i+size])
	return binary.BigEndian.Uint64(b[:]), i + size, true
}
