// Package wire encodes and decodes messages between agents as CBOR.
//
// In: values, or foreign bytes. Out: bytes, or values whose fields are all bounded, by the tag
// `most`. Start with Encode and Decoder.
package wire

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"

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

// ErrBound reports a field that is too long.
var ErrBound = errors.New("longer than it may be")

// defaultMost bounds strings, lists and maps without a tag `most:"N"`.
const defaultMost = 4096

// bounded checks all fields of the value that v points to.
func bounded(v any) error {
	return check(reflect.ValueOf(v).Elem(), "", defaultMost)
}

// check checks a value and its contents; most bounds its length, and that of strings in a list.
func check(v reflect.Value, name string, most int) error {
	switch v.Kind() {
	case reflect.String:
		return length(v.Len(), name, most)
	case reflect.Slice, reflect.Map:
		if err := length(v.Len(), name, most); err != nil {
			return err
		}
	case reflect.Struct:
		return fields(v)
	case reflect.Pointer:
		if !v.IsNil() {
			return check(v.Elem(), name, most)
		}
		return nil
	}
	switch v.Kind() {
	case reflect.Map:
		for entry := v.MapRange(); entry.Next(); {
			if err := errors.Join(check(entry.Key(), name, defaultMost), check(entry.Value(), name, defaultMost)); err != nil {
				return err
			}
		}
	case reflect.Slice:
		if !holdsLengths(v.Type().Elem().Kind()) {
			return nil
		}
		for i := range v.Len() {
			if err := check(v.Index(i), name, defaultMost); err != nil {
				return err
			}
		}
	}
	return nil
}

// holdsLengths reports whether values of a kind can be too long.
func holdsLengths(k reflect.Kind) bool {
	return k == reflect.String || k == reflect.Slice || k == reflect.Map || k == reflect.Struct || k == reflect.Pointer
}

func fields(v reflect.Value) error {
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		if !holdsLengths(f.Type.Kind()) || !f.IsExported() {
			continue
		}
		most := defaultMost
		if tag, ok := f.Tag.Lookup("most"); ok {
			n, err := strconv.Atoi(tag)
			if err != nil {
				return fmt.Errorf("field %s: %w", f.Name, err)
			}
			most = n
		}
		if err := check(v.Field(i), f.Name, most); err != nil {
			return err
		}
	}
	return nil
}

func length(n int, name string, most int) error {
	if n > most {
		return fmt.Errorf("%s: %d, %w: %d", name, n, ErrBound, most)
	}
	return nil
}
