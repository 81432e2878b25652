package blocks

// limits of what one page may cost
const (
	maxNodes  = 100_000
	maxBlocks = 20_000
	maxOpen   = 256 // elements open at once; what is deeper counts as theirs
)

// Document is a page cut into blocks.
type Document struct {
	Title  string
	Text   []byte // of all blocks, white space folded, a line each
	Blocks []Block
	Nodes  []Node
	Marks  []Mark // in the order of the text
}

// Block is a run of text that no block-level element interrupts: a paragraph, a
// heading, a cell.
type Block struct {
	From, To int32 // in Document.Text
	Node     int32 // the innermost element around it, in Document.Nodes
	Words    int32

	linkWords, links int32
	sentences        int32  // marks that end one
	capitals         int32  // words that begin with a capital
	digits, letters  int32  // characters
	path             uint32 // hash of the elements above it and their first classes
}

// Node is an element that may hold blocks.
type Node struct {
	Parent int32 // -1 above the page's body, the first node
	Tag    Tag
	Order  int32 // of an item, row or cell: its number among its siblings, from 1

	depth                    int32
	own, all                 traits // its own, and with those of all above it
	path                     uint32
	blocks, words, linkWords int32 // right below it
	children                 int32
}

// Mark is where a link, an emphasis or code begins or ends in the text.
type Mark struct {
	At    int32 // in Document.Text
	Kind  MarkKind
	Start bool
	Href  string // of a link's start, as the page has it
}

// MarkKind is what a mark marks.
type MarkKind byte

const (
	Link MarkKind = iota
	Strong
	Emphasis
	Code
)

// TextOf is the text of block i. It is part of d.Text.
func (d *Document) TextOf(i int) []byte { return d.Text[d.Blocks[i].From:d.Blocks[i].To] }
