package datasets

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

var errJSON = errors.New("want one JSON object a line")

// eachMember calls member for each member of the JSON object that is all of
// line, in order; a repeated name is no error. The value is valid until member
// returns. A syntax error comes with its place.
func eachMember(line []byte, member func(name string, value jsontext.Value) error) error {
	dec := jsontext.NewDecoder(bytes.NewBuffer(line), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if dec.PeekKind() != '{' {
		if _, err := dec.ReadToken(); err != nil && err != io.EOF {
			return syntax(dec, err)
		}
		return fmt.Errorf("column %d: no { at the start; %w", dec.InputOffset()+1, errJSON)
	}
	if _, err := dec.ReadToken(); err != nil {
		return syntax(dec, err)
	}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return syntax(dec, err)
		}
		key := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return syntax(dec, err)
		}
		if err := member(key, value); err != nil {
			return err
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return syntax(dec, err)
	}
	if _, err := dec.ReadToken(); err != io.EOF {
		return fmt.Errorf("column %d: more after the object; %w", dec.InputOffset()+1, errJSON)
	}
	return nil
}

func syntax(dec *jsontext.Decoder, err error) error {
	return fmt.Errorf("column %d: %w; %w", dec.InputOffset()+1, err, errJSON)
}

// text returns what a JSON string stands for; bytes that are no UTF-8 become
// U+FFFD. That is all that can be wrong with a value that was read.
func text(value jsontext.Value) string {
	out, _ := jsontext.AppendUnquote(make([]byte, 0, len(value)), value) // see above
	return string(out)
}
