package orders

// classes are records of the classes of a partition: 5 bytes each, in chunks, so that
// they never are in memory twice. A record is used again when its class is empty.
type classes struct {
	chunks []*classChunk
	n      uint32 // records there are
	free   uint32 // the first that is free, none for none; its head is the next one
}

const classChunkLen = 1 << 10

type classChunk struct {
	heads  [classChunkLen]uint32 // first vertex
	states [classChunkLen]classState
}

// classState says what this visit has done.
type classState uint8

const (
	settled classState = iota // nothing
	growing                   // made it, of targets of the class behind it
	closed                    // made it, and nothing comes to it from the class behind it
)

func (c *classes) head(i uint32) *uint32 {
	return &c.chunks[i/classChunkLen].heads[i%classChunkLen]
}

func (c *classes) state(i uint32) *classState {
	return &c.chunks[i/classChunkLen].states[i%classChunkLen]
}

// add makes a class that begins with a vertex.
func (c *classes) add(head uint32, state classState) uint32 {
	i := c.free
	if i == none {
		if i = c.n; i%classChunkLen == 0 {
			c.chunks = append(c.chunks, new(classChunk))
		}
		c.n++
	} else {
		c.free = *c.head(i)
	}
	*c.head(i), *c.state(i) = head, state
	return i
}

// drop ends an empty class.
func (c *classes) drop(i uint32) { *c.head(i), c.free = c.free, i }
