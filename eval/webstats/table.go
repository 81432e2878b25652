package webstats

import (
	"bytes"
	"encoding/json"
)

// Unit says how a column's values are shown.
type Unit byte

// The units.
const (
	Words  Unit = iota
	Whole       // whole numbers
	Share       // in [0,1]
	Number      // with two places
	Days        // a time in days, shown in the unit that fits it
)

// Column is a column of a table.
type Column struct {
	Name  string // as a key
	Title string // as a heading
	Unit  Unit
}

// Table is one of a Result's. A value is a string, an int64, a float64, or nil where it is
// not known.
type Table struct {
	Name    string // as a key
	Title   string
	Note    string   // what is to be said below, "" for nothing
	Wide    []string // names of columns that a terminal has no room for
	Columns []Column
	Rows    [][]any
}

// MarshalJSON writes the rows, each an object with the columns' names as keys.
func (t Table) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, row := range t.Rows {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('{')
		for k, v := range row {
			if k > 0 {
				b.WriteByte(',')
			}
			if err := writePair(&b, t.Columns[k].Name, v); err != nil {
				return nil, err
			}
		}
		b.WriteByte('}')
	}
	b.WriteByte(']')
	return b.Bytes(), nil
}

// MarshalJSON writes the states, and a key a table.
func (r *Result) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	if err := writePair(&b, "states", r.States); err != nil {
		return nil, err
	}
	b.WriteByte(',')
	if err := writePair(&b, "seed_states", r.SeedStates); err != nil {
		return nil, err
	}
	for _, t := range r.Tables {
		b.WriteByte(',')
		if err := writePair(&b, t.Name, t); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func writePair(b *bytes.Buffer, key string, v any) error {
	value, err := json.Marshal(v)
	if err != nil {
		return err
	}
	b.WriteString(`"` + key + `":`) // keys are our own words
	b.Write(value)
	return nil
}

// share is a part of a whole, unknown of nothing.
func share(part, whole int64) any {
	if whole == 0 {
		return nil
	}
	return float64(part) / float64(whole)
}

// ratio is a quotient, unknown where there is nothing to divide by.
func ratio(sum, n int64) any { return share(sum, n) }

// known is a number that may not be known.
func known(x *float64) any {
	if x == nil {
		return nil
	}
	return *x
}
