// Package wire writes and reads what agents tell each other, as CBOR.
//
// In: values, or bytes of others. Out: bytes, or values of which each field is bounded. Start
// with Encode and Decoder. The bounds stand at the fields, as the tag `most`. What the
// values mean is their rooms' matter.
//
// Files: wire.go writes and reads; bounds.go the bounds of fields.
package wire

import (
	"fmt"

	"github.com/fxamacker/cbor/v2"
)

// Encode returns a value's bytes, the same of the same value. It panics when the type is none
// that CBOR can have, which is a mistake in the program.
func Encode(v any) []byte {
	b, err := encoding.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("wire: %T: %v", v, err))
	}
	return b
}

var encoding = must(cbor.CoreDetEncOptions().EncMode())

// Decoder reads values with lists of at most so many elements, nested so deep.
type Decoder struct{ mode cbor.DecMode }

// NewDecoder returns one. Strings may have any bytes: what a page has in a link need not be
// UTF-8.
func NewDecoder(elements, levels int) Decoder {
	return Decoder{must(cbor.DecOptions{
		DupMapKey: cbor.DupMapKeyEnforcedAPF, IndefLength: cbor.IndefLengthForbidden, TagsMd: cbor.TagsForbidden, UTF8: cbor.UTF8DecodeInvalid,
		MaxArrayElements: elements, MaxMapPairs: elements, MaxNestedLevels: levels,
	}.DecMode())}
}

// Unmarshal reads b into the value that v points to. Errors: those of CBOR, and ErrBound.
func (d Decoder) Unmarshal(b []byte, v any) error {
	if err := d.mode.Unmarshal(b, v); err != nil {
		return err
	}
	return bounded(v)
}

func must[M any](mode M, err error) M {
	if err != nil {
		panic(err) // the bounds are none that the library takes
	}
	return mode
}
