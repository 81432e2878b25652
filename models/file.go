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

	"fossick/internal/reading"
	"fossick/internal/wholefile"
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

	// Version is the version of the model format that this build writes. It reads all
	// versions up to it, where it has the stems of their terms.
	Version = 9

	// maxRawBytes bounds what a file may ask to decompress, and what it has itself.
	maxRawBytes = 1 << 28

	// A payload may be as large as this and so many times the file, for tables of zeros
	// are packed well. Those of the built-in topics are a quarter larger than their files.
	smallRawBytes = 1 << 20
	maxPacked     = 64
)

// ErrFormat reports bytes that are not a model which this build can read.
var ErrFormat = errors.New("not a model that can be read")

// marks are written as little-endian bytes, as floats are.
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

// floats are written as little-endian bytes: a quarter shorter than CBOR's
// numbers, and read without a decision a number.
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
		return fmt.Errorf("model: %w; train one of fewer words or classes", err) // which nobody could read
	}
	file := make([]byte, 0, headerSize+len(payload)+sha256.Size)
	file = append(file, magic...)
	file = binary.LittleEndian.AppendUint16(file, Version)
	file = binary.LittleEndian.AppendUint64(file, uint64(len(payload)))
	file = binary.LittleEndian.AppendUint64(file, uint64(len(raw)))
	file = append(file, payload...)
	sum := sha256.Sum256(file)
	if _, err := w.Write(append(file, sum[:]...)); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	return nil
}

// payload returns m as CBOR, the deterministic kind of RFC 8949, section 4.2.1.
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

// Read reads a model to the end of r and checks it. Errors are ErrFormat, or r's.
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

// readBounded reads no more of r than the header says that a model has, and one byte.
// When the header is of something else it reads no more.
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

// parse reads a payload and checks that its tables fit together.
func parse(raw []byte) (*Model, error) {
	if err := affordable(raw); err != nil {
		return nil, fmt.Errorf("model: %w: %w; train the model again", ErrFormat, err)
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
		return nil, fmt.Errorf("model: %w: %w; train the model again", ErrFormat, err)
	}
	if !w.Extractor.stemmed() {
		return nil, fmt.Errorf("model: %w: its words were stemmed by another version of fossick; train the model again", ErrFormat)
	}
	if w.Extractor.Bigrams || w.Extractor.Chars != 0 {
		return nil, fmt.Errorf("model: %w: it has pairs of words or runs of characters as terms, which fossick no longer reads; train the model again", ErrFormat)
	}
	m := w.model()
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("%w: %w; train the model again", ErrFormat, err)
	}
	m.Weighting.Bind(m.Terms)
	return m, nil
}

// unpack checks the file and returns the payload, decompressed.
func unpack(file []byte) ([]byte, error) {
	if len(file) < len(magic) || string(file[:len(magic)]) != magic {
		return nil, fmt.Errorf("model: %w: not a fossick model; make one with fossick train", ErrFormat)
	}
	if len(file) < headerSize+sha256.Size {
		return nil, fmt.Errorf("model: %w: truncated after %d bytes; copy or train it again", ErrFormat, len(file))
	}
	if v := binary.LittleEndian.Uint16(file[8:]); v == 0 || v > Version {
		return nil, fmt.Errorf("model: %w: version %d, this build reads up to %d; update fossick or train the model again", ErrFormat, v, Version)
	}
	body := file[:len(file)-sha256.Size]
	size, rawSize := binary.LittleEndian.Uint64(file[10:]), binary.LittleEndian.Uint64(file[18:])
	if err := proportionate(int(min(rawSize, math.MaxInt)), len(file)); err != nil {
		return nil, fmt.Errorf("model: %w: %w; train it again", ErrFormat, err)
	}
	if size != uint64(len(body)-headerSize) {
		return nil, fmt.Errorf("model: %w: %d bytes where the header says %d; copy or train it again", ErrFormat, len(body)-headerSize, size)
	}
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:], file[len(body):]) {
		return nil, fmt.Errorf("model: %w: damaged, its checksum does not match; copy or train it again", ErrFormat)
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(max(rawSize, 1<<20)))
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	defer dec.Close()
	raw, err := dec.DecodeAll(body[headerSize:], nil)
	if err != nil || uint64(len(raw)) != rawSize {
		return nil, fmt.Errorf("model: %w: its payload does not decompress to %d bytes (%v); train it again", ErrFormat, rawSize, err)
	}
	return raw, nil
}

// WriteFile writes m to a file, which is replaced only once the new one is whole.
func (m *Model) WriteFile(path string) error {
	if err := wholefile.Write(path, 0o644, func(f *os.File) error { return m.Write(f) }); err != nil {
		return fmt.Errorf("model %s: %w", path, err)
	}
	return nil
}

// ReadFile reads a model from a regular file.
func ReadFile(path string) (*Model, error) {
	f, err := reading.Open(path)
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
