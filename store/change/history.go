package change

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// History holds visits to one page in order of time, each in some ten bytes. The zero value is
// empty. It is the start of the first visit (uvarint, Unix milliseconds), then for each visit:
//
//	state and kind   1 byte: index in the list of states, plus 32 × the kind of change,
//	                 plus 128 if a byte of further parts follows
//	further parts    1 byte: 1 code, 2 target, 4 Retry-After, 8 own rest, 16 Last-Modified
//	since            uvarint: milliseconds since the previous visit began; 0 for the first
//	took, rest       uvarints, milliseconds
//	the parts        uvarints, in the order of their bits; code only if it is not the
//	                 state's usual one; Last-Modified is its age at the visit, in seconds,
//	                 plus 1
type History []byte

// Most is the number of visits in a full History, which bounds the cost of adding one.
const Most = 64

var (
	errDamaged = errors.New("the history of visits cannot be read")
	// errNoRoom means that this History is full or ends later; the visit needs another one.
	errNoRoom = errors.New("the history of visits refuses this visit")
	// ErrUnfit means that no History can hold the visit.
	ErrUnfit = errors.New("the visit does not fit into a history of visits")
)

const (
	stateBits = 5
	hasParts  = 1 << 7
)

// Append returns h with one more visit; on an error, h unchanged.
func (h History) Append(v Visit) (History, error) {
	had, err := h.Visits(nil)
	if err != nil {
		return h, err
	}
	state := slices.Index(states, v.State)
	switch {
	case state < 0 || v.Change > Unsure || min(v.At, v.Took, v.Rest, v.RetryAfter, v.Own, int64(v.Code), v.Modified) < 0, v.Modified > v.At/1000:
		return h, fmt.Errorf("%w: %+v", ErrUnfit, v)
	case len(had) >= Most || len(had) > 0 && v.At < had[len(had)-1].At:
		return h, errNoRoom
	}
	out, since := slices.Clone(h), int64(0)
	if len(had) == 0 {
		out = binary.AppendUvarint(nil, uint64(v.At))
	} else {
		since = v.At - had[len(had)-1].At
	}
	return appendVisit(out, byte(state), v, since), nil
}

func appendVisit(out History, state byte, v Visit, since int64) History {
	code := uint64(0)
	if v.Code != usual(state) {
		code = uint64(v.Code) + 1 // distinguishes "no code" from the usual code
	}
	age := uint64(0)
	if v.Modified != 0 {
		age = uint64(v.At/1000-v.Modified) + 1
	}
	parts := []uint64{code, v.To, uint64(v.RetryAfter), uint64(v.Own), age}
	has := byte(0)
	for i, p := range parts {
		if p != 0 {
			has |= 1 << i
		}
	}
	head := state | byte(v.Change)<<stateBits
	if has != 0 {
		out = append(out, head|hasParts, has)
	} else {
		out = append(out, head)
	}
	for _, x := range []int64{since, v.Took, v.Rest} {
		out = binary.AppendUvarint(out, uint64(x))
	}
	for _, p := range parts {
		if p != 0 {
			out = binary.AppendUvarint(out, p)
		}
	}
	return out
}

// Visits appends the visits of h to dst; on damage it returns the readable ones and an error.
func (h History) Visits(dst []Visit) ([]Visit, error) {
	if len(h) == 0 {
		return dst, nil
	}
	r := reader{rest: h}
	at := r.time()
	for n := 0; len(r.rest) > 0 && !r.bad; n++ {
		v, since := r.visit()
		at += since
		r.date(&v, at)
		if r.bad || n == 0 && since != 0 || n >= Most || at < 0 {
			r.bad = true
			break
		}
		dst = append(dst, v)
	}
	if r.bad {
		return dst, errDamaged
	}
	return dst, nil
}

// Len returns the number of visits, in a damaged History of the readable ones.
func (h History) Len() int {
	var room [Most]Visit
	all, _ := h.Visits(room[:0]) // Visits reports damage to readers
	return len(all)
}

type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) visit() (v Visit, since int64) {
	head, has := r.byte(), byte(0)
	if head&hasParts != 0 {
		if has = r.byte(); has == 0 || has > 31 {
			r.bad = true
		}
	}
	state := head & (1<<stateBits - 1)
	if int(state) >= len(states) {
		r.bad = true
		return v, 0
	}
	v.State, v.Change, v.Code = states[state], Kind(head&^hasParts>>stateBits), usual(state)
	since, v.Took, v.Rest = r.time(), r.time(), r.time()
	if has&1 != 0 {
		v.Code = int(r.part()) - 1
		r.bad = r.bad || v.Code == usual(state)
	}
	if has&2 != 0 {
		v.To = r.part()
	}
	if has&4 != 0 {
		v.RetryAfter = int64(r.part())
	}
	if has&8 != 0 {
		v.Own = int64(r.part())
	}
	if has&16 != 0 {
		v.Modified = int64(r.part())
	}
	r.bad = r.bad || min(v.RetryAfter, v.Own, int64(v.Code), v.Modified) < 0
	return v, since
}

// date sets the start of a visit and turns its Modified from an age into a time.
func (r *reader) date(v *Visit, at int64) {
	v.At = at
	if v.Modified != 0 {
		v.Modified = at/1000 - (v.Modified - 1)
		r.bad = r.bad || v.Modified <= 0 || v.Modified > at/1000
	}
}

func (r *reader) byte() byte {
	if len(r.rest) == 0 {
		r.bad = true
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

func (r *reader) uvarint() uint64 {
	x, n := binary.Uvarint(r.rest)
	if n <= 0 || n > 1 && r.rest[n-1] == 0 { // truncated, too long, or not the shortest form
		r.bad = true
		return 0
	}
	r.rest = r.rest[n:]
	return x
}

// time reads milliseconds; a value that would be negative is damage.
func (r *reader) time() int64 {
	x := int64(r.uvarint())
	r.bad = r.bad || x < 0
	return x
}

// part reads a part that is marked as present, so must not be 0.
func (r *reader) part() uint64 {
	x := r.uvarint()
	r.bad = r.bad || x == 0
	return x
}
