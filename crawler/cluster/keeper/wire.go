package keeper

import (
	"errors"
	"fmt"

	"fossick/internal/wire"
)

// wireVersion is of what follows. An agent of another version is not understood.
const wireVersion = 2

// frameBytes is about how much one frame carries; what is longer goes in several.
const frameBytes = 96 << 10

// frame is a step of a session, from an owner to its keeper. Each follows the one before.
type frame struct {
	_       struct{} `cbor:",toarray"`
	Version uint64
	Session uint64 // rises at an owner
	Seq     uint64 // from 1
	Kind    uint64
	Number  uint64  // base's end: its last parcel; changes: the parcel before the first
	Bytes   []byte  `most:"262144"` // base: some of it; piece: some of the next parcel
	Bodies  bool    // open, base's end: pages are among it
	Changes []entry `most:"131072"` // changes: parcels; what pieces came before is the begin of the first
}

// Kinds of frames.
const (
	kindOpen    = 1 // the first; the keeper's answer says what it has
	kindBase    = 2
	kindBaseEnd = 3
	kindPiece   = 4
	kindChanges = 5
)

// entry is what one commit changed.
type entry struct {
	_      struct{} `cbor:",toarray"`
	Number uint64
	Bytes  []byte `most:"262144"`
}

// answer is what a keeper has of an owner's.
type answer struct {
	_       struct{} `cbor:",toarray"`
	Version uint64
	Session uint64
	Seq     uint64 // the last frame carried out; 0: the session is unknown, as after a restart
	Number  uint64 // the last parcel in the replica, on disk; 0: there is no replica
	Newest  uint64 // the newest session that the keeper knows of
	Run     uint64 // of the keeper's process, by chance
}

var errWire = errors.New("not a message from an agent to its keeper")

var decoding = wire.NewDecoder(1<<17, 4)

func decodeFrame(b []byte) (f frame, err error) {
	if err := decoding.Unmarshal(b, &f); err != nil {
		return f, fmt.Errorf("frame: %w: %w", errWire, err)
	}
	if f.Version != wireVersion || f.Seq == 0 || f.Kind < kindOpen || f.Kind > kindChanges || (f.Kind == kindOpen) != (f.Seq == 1) {
		return f, fmt.Errorf("frame %d of version %d, kind %d: %w", f.Seq, f.Version, f.Kind, errWire)
	}
	return f, nil
}

func decodeAnswer(b []byte) (a answer, err error) {
	if err := decoding.Unmarshal(b, &a); err != nil {
		return a, fmt.Errorf("answer: %w: %w", errWire, err)
	}
	if a.Version != wireVersion {
		return a, fmt.Errorf("answer of version %d: %w", a.Version, errWire)
	}
	return a, nil
}
