// Package wire encodes and decodes messages between agents as CBOR.
//
// In: values, or foreign bytes. Out: bytes, or values whose fields are all bounded, by the tag
// `most`. Start with Encode and Decoder. Files: wire.go encoding and decoding; bounds.go the bounds
// of fields.
package wire

import (
	"fmt"

	"github.com/fxamacker/cbor/v2"
)

// Encode returns a value's bytes; equal values give equal bytes. It panics if CBOR cannot represent
// the type, which is a programming error.
func Encode(v any) []byte {
	b, err := encoding.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("wire: %T: %v", v, err))
	}
	return b
}

var encoding = must(cbor.CoreDetEncOptions().EncMode())

// Decoder decodes values with bounded lists and nesting.
type Decoder struct{ mode cbor.DecMode }

// NewDecoder returns a decoder. Strings may hold any bytes, since a page's links need not be UTF-8.
func NewDecoder(elements, levels int) Decoder {
	return Decoder{must(cbor.DecOptions{
		DupMapKey: cbor.DupMapKeyEnforcedAPF, IndefLength: cbor.IndefLengthForbidden, TagsMd: cbor.TagsForbidden, UTF8: cbor.UTF8DecodeInvalid,
		MaxArrayElements: elements, MaxMapPairs: elements, MaxNestedLevels: levels,
	}.DecMode())}
}

// Unmarshal decodes b into the value that v points to. Errors are CBOR's and ErrBound.
func (d Decoder) Unmarshal(b []byte, v any) error {
	if err := d.mode.Unmarshal(b, v); err != nil {
		return err
	}
	return bounded(v)
}

func must[M any](mode M, err error) M {
	if err != nil {
		panic(err) // the library rejects these bounds
	}
	return mode
}
