package peers

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"fossick/crawler/cluster"
	"fossick/internal/wire"
)

// wireVersion is of what follows. Agents of different versions do nothing together.
const wireVersion = 1

// Bounds of a frame: what it carries, and how many peers there may be.
const (
	pieceBytes = 64 << 10
	mostPeers  = 1 << 12
)

// frame is what one peer sends to another.
type frame struct {
	_       struct{} `cbor:",toarray"`
	Version uint64
	Session uint64 // of the roster
	From    uint64 // number of the peer
	Life    uint64 // of the sender: rises when it died and came back
	Of      uint64 // the life of the addressee that Seq and Ack are about
	Ack     uint64 // the last frame that was taken
	Seq     uint64 // from 1; 0: it only acknowledges
	Kind    uint64
	Bytes   []byte `most:"65536"`
}

// Kinds of frames with a Seq.
const (
	kindPiece = 1 // some of a message; the rest follows
	kindEnd   = 2 // the last of a message, or all
	kindBye   = 3 // the sender needs no more of the addressee
)

// ErrWire reports bytes that no peer of this version says.
var ErrWire = errors.New("not a message between peers")

var decoding = wire.NewDecoder(mostPeers, 4)

func decodeFrame(b []byte) (f frame, err error) {
	if err := decoding.Unmarshal(b, &f); err != nil {
		return f, fmt.Errorf("frame: %w: %w", ErrWire, err)
	}
	sane := (f.Seq == 0) == (f.Kind == 0) && f.Kind <= kindBye && f.From < mostPeers
	if f.Version != wireVersion || !sane {
		return f, fmt.Errorf("frame %d of version %d, kind %d, %d bytes: %w", f.Seq, f.Version, f.Kind, len(f.Bytes), ErrWire)
	}
	return f, nil
}

// address is where a task's messages to an agent go. It is not where those of the crawl go,
// so a crawl that goes on is not disturbed.
func address(task, role string, id cluster.AgentID) cluster.AgentID {
	sum := sha256.Sum256([]byte("fossick peers\x00" + task + "\x00" + role + "\x00" + string(id)))
	return cluster.AgentID(hex.EncodeToString(sum[:8]))
}
