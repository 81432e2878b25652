package change

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// History is visits to one page, in the order of time, each in some ten bytes. The zero
// value is empty. It is the begin of the first visit (uvarint, Unix milliseconds), then a
// visit after the other:
//
//	state and kind   1 byte: place in the list of states, plus 32 × the kind of change,
//	                 plus 128 where a byte of further parts follows
//	further parts    1 byte: 1 code, 2 target, 4 Retry-After, 8 own rest, 16 Last-Modified
//	since            uvarint: milliseconds since the visit before began; 0 of the first
//	took, rest       uvarints, milliseconds
//	the parts        uvarints, in the order of their bits; code is left out where it is the
//	                 state's usual one; Last-Modified is its age at the visit, in seconds,
//	                 plus 1
type History []byte

// Most is how many visits a History takes: a longer one is another History, so that a visit
// does not cost the writing of all those before.
const Most = 64

// Errors of a History.
var (
	errDamaged = errors.New("the history of visits cannot be read")
	// errNoRoom says that a visit needs another History: this one is full, or its clock was
	// ahead of the visit's.
	errNoRoom = errors.New("the history of visits refuses this visit")
	// ErrUnfit says that no History can keep a visit.
	ErrUnfit = errors.New("the visit does not fit into a history of visits")
)

const (
	stateBits = 5
	hasParts  = 1 << 7
)

// Append returns h with one more visit. The error is ErrNoRoom, ErrUnfit or ErrDamaged; h is
// then as it was.
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
		code = uint64(v.Code) + 1 // so that none can be told from the usual one
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

// Visits appends what h has to dst; after ErrDamaged, what could be read.
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

// Len counts the visits; of a damaged History those that can be read.
func (h History) Len() int {
	var room [Most]Visit
	all, _ := h.Visits(room[:0]) // what is damaged, Visits tells who reads it
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

// date has a visit begin at a time; its Modified is an age until then.
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
	if n <= 0 || n > 1 && r.rest[n-1] == 0 { // cut off, too long, or not the shortest
		r.bad = true
		return 0
	}
	r.rest = r.rest[n:]
	return x
}

// time reads milliseconds, which are never so many as to be negative.
func (r *reader) time() int64 {
	x := int64(r.uvarint())
	r.bad = r.bad || x < 0
	return x
}

// part reads a part that is said to be there, and so is not 0.
func (r *reader) part() uint64 {
	x := r.uvarint()
	r.bad = r.bad || x == 0
	return x
}
