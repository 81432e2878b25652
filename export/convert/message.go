package convert

import (
	"errors"
	"fmt"

	"fossick/internal/wire"
)

// kind says what a message between agents is for.
type kind uint8

const (
	hello kind = 1 + iota // to all: who it is, and whether it collects
	offer                 // to who collects: the finished files of a store
	want                  // from who collects: send a piece of one
	piece                 // the answer
	done                  // from who collects: what came out
)

// message is what agents that convert together say. What a kind does not need is left out.
type message struct {
	Kind kind `cbor:"1,keyasint"`

	// Of hello:
	Name     string `cbor:"2,keyasint,omitempty"`
	Print    string `cbor:"3,keyasint,omitempty"` // state of its store
	Collects bool   `cbor:"4,keyasint,omitempty"`
	Whole    bool   `cbor:"5,keyasint,omitempty"` // the folder is there already
	Again    bool   `cbor:"6,keyasint,omitempty"` // it died and came back; the answer is a hello

	Store *input `cbor:"7,keyasint,omitempty"`               // of offer
	Files []part `cbor:"8,keyasint,omitempty" most:"262144"` // of offer, in order

	// Of want and piece:
	File  int    `cbor:"9,keyasint,omitempty"`                // its place in Files
	From  int64  `cbor:"10,keyasint,omitempty"`               // byte
	Bytes []byte `cbor:"11,keyasint,omitempty" most:"524288"` // of piece

	Result *Result `cbor:"12,keyasint,omitempty"` // of done
}

// ErrMessage reports bytes that no agent of this version says, or not then.
var ErrMessage = errors.New("an unexpected message between agents that convert together; run the same version of fossick on all of them")

// pieceBytes is how much of a file is sent at once at most.
const pieceBytes = 512 << 10

// A message is a piece, or lists a store's files: a chunk has 20,000 pages.
var messages = wire.NewDecoder(1<<18, 8)

func (m message) encode() []byte { return wire.Encode(m) }

func decodeMessage(b []byte) (m message, err error) {
	if err := messages.Unmarshal(b, &m); err != nil {
		return m, fmt.Errorf("%w: %w", ErrMessage, err)
	}
	complete := true
	switch m.Kind {
	case hello:
		complete = m.Name != "" && m.Print != ""
	case offer:
		complete = m.Store != nil && len(m.Files) > 0
	case want, piece:
		complete = m.File >= 0 && m.From >= 0 && (len(m.Bytes) > 0) == (m.Kind == piece)
	case done:
		complete = m.Result != nil
	default:
		complete = false
	}
	for _, f := range m.Files {
		complete = complete && f.Bytes >= 0
	}
	if !complete {
		return m, fmt.Errorf("%w: kind %d", ErrMessage, m.Kind)
	}
	return m, nil
}
