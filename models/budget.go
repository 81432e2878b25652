package models

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// What a payload may hold. In memory a byte of it that is an item of its own
// costs up to 64 as an empty text, several hundred as an empty map. 14 KB could
// cost 2.3 GB.
const (
	maxItems   = 1 << 22 // texts, byte strings and arrays: 256 MiB of headers
	maxNumbers = 1 << 25
	maxMaps    = 1 << 12
)

// errBudget reports a payload that holds more than any model does.
var errBudget = errors.New("it holds more than any model has")

// proportionate refuses a payload that is larger than one of a file of so many bytes can be.
func proportionate(raw, file int) error {
	if raw > min(maxRawBytes, smallRawBytes+maxPacked*file) {
		return fmt.Errorf("%w: %d bytes that unpack to %d", errBudget, file, raw)
	}
	return nil
}

// affordable counts what a payload holds before memory is taken for it. That it is CBOR
// is the decoder's to say, which allows no indefinite lengths.
func affordable(raw []byte) error {
	items, numbers, maps := 0, 0, 0
	for i := 0; i < len(raw); {
		kind, info := raw[i]>>5, raw[i]&31
		length, ok := uint64(info), true
		i++
		if info >= 24 {
			if length, i, ok = argument(raw, i, info); !ok {
				return nil // cut off, or no CBOR
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

// argument reads what follows an item's first byte.
func argument(raw []byte, i int, info byte) (n uint64, next int, ok bool) {
	size := 1 << (info - 24)
	if info > 27 || len(raw)-i < size {
		return 0, i, false
	}
	var b [8]byte
	copy(b[8-size:], raw[i:i+size])
	return binary.BigEndian.Uint64(b[:]), i + size, true
}
