// Package wire writes and reads what agents tell each other, as CBOR.
//
// In: values, or bytes of others. Out: bytes, or what reads such bytes within bounds. Start
// with Encode and Decoder. What the values mean is their rooms' matter.
//
// Files: wire.go all of it.
package wire

import (
	"fmt"

	"github.com/fxamacker/cbor/v2"
)

// Encode returns a value's bytes. It panics when the type is none that CBOR can have, which
// is a mistake in the program.
func Encode(v any) []byte {
	b, err := cbor.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("wire: %T: %v", v, err))
	}
	return b
}

// Decoder returns a decoder of lists of at most so many elements, nested so deep.
func Decoder(elements, levels int) cbor.DecMode {
	mode, err := cbor.DecOptions{MaxArrayElements: elements, MaxNestedLevels: levels}.DecMode()
	if err != nil {
		panic(err) // the bounds are none that the library takes
	}
	return mode
}
