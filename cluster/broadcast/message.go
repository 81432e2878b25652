package broadcast

import (
	"errors"
	"fmt"

	"github.com/fxamacker/cbor/v2"
)

// message is what one agent tells another in a round.
type message struct {
	_       struct{} `cbor:",toarray"`
	Version uint64
	Run     uint64 // of the sender
	To      uint64 // run of the receiver that the rest is for; 0: none is known yet
	Heard   uint64 // number of the receiver's last item that was heard, and all before
	Floor   uint64 // no item up to this number will be sent any more
	After   uint64 // number of the item before the first
	Items   []item // whose numbers follow each other
}

type item struct {
	_     struct{} `cbor:",toarray"`
	Old   bool
	Bytes []byte
}

const (
	version   = 1
	mostItems = 4096
)

var errMessage = errors.New("not what agents of this version say")

var (
	encoding = must(cbor.CoreDetEncOptions().EncMode())
	decoding = must(cbor.DecOptions{
		IndefLength: cbor.IndefLengthForbidden, TagsMd: cbor.TagsForbidden, MaxArrayElements: mostItems, MaxNestedLevels: 4,
	}.DecMode())
)

func must[M any](mode M, err error) M {
	if err != nil {
		panic(err) // the options above are not of this version of the library
	}
	return mode
}

func (m *message) encode() []byte {
	b, err := encoding.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("broadcast: %v", err)) // nothing in it can fail to be written
	}
	return b
}

func decode(b []byte) (m message, err error) {
	if err := decoding.Unmarshal(b, &m); err != nil {
		return m, fmt.Errorf("%w: %w", errMessage, err)
	}
	if m.Version != version || m.Run == 0 || m.Floor > m.After {
		return m, fmt.Errorf("%w: version %d, run %d", errMessage, m.Version, m.Run)
	}
	return m, nil
}
