package broadcast

import (
	"errors"
	"fmt"

	"fossick/internal/wire"
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
	Bytes []byte `most:"262144"`
}

const (
	version   = 1
	mostItems = 4096
)

var errMessage = errors.New("not a message of this version of fossick")

var decoding = wire.NewDecoder(mostItems, 4)

func decode(b []byte) (m message, err error) {
	if err := decoding.Unmarshal(b, &m); err != nil {
		return m, fmt.Errorf("%w: %w", errMessage, err)
	}
	if m.Version != version || m.Run == 0 || m.Floor > m.After {
		return m, fmt.Errorf("%w: version %d, run %d", errMessage, m.Version, m.Run)
	}
	return m, nil
}
