package revisit

// heap orders ids by a key that its owner keeps: the smallest is ids[0], equal ones by id. It
// knows where each id stands, so that one whose key changed finds its place in O(log n).
type heap struct {
	ids []int32
	pos []int32 // by id; −1 for those not in the heap. Heaps of disjoint ids share it.
	key func(id int32) float64
}

// init puts the ids in order. O(n).
func (h heap) init() {
	for i, id := range h.ids {
		h.pos[id] = int32(i)
	}
	for i := len(h.ids)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
}

// fix moves an id whose key changed.
func (h heap) fix(id int32) {
	if i := int(h.pos[id]); !h.up(i) {
		h.down(i)
	}
}

// push adds an id.
func (h *heap) push(id int32) {
	h.ids = append(h.ids, id)
	h.pos[id] = int32(len(h.ids) - 1)
	h.up(len(h.ids) - 1)
}

// remove takes an id out, if it is in.
func (h *heap) remove(id int32) {
	i := int(h.pos[id])
	if i < 0 {
		return
	}
	last := len(h.ids) - 1
	h.swap(i, last)
	h.ids = h.ids[:last]
	if h.pos[id] = -1; i < last && !h.up(i) {
		h.down(i)
	}
}

func (h heap) less(i, j int) bool {
	a, b := h.key(h.ids[i]), h.key(h.ids[j])
	return a < b || a == b && h.ids[i] < h.ids[j]
}

func (h heap) swap(i, j int) {
	h.ids[i], h.ids[j] = h.ids[j], h.ids[i]
	h.pos[h.ids[i]], h.pos[h.ids[j]] = int32(i), int32(j)
}

func (h heap) up(i int) (moved bool) {
	for i > 0 {
		parent := (i - 1) / 2
		if !h.less(i, parent) {
			break
		}
		h.swap(i, parent)
		i, moved = parent, true
	}
	return moved
}

func (h heap) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(h.ids) {
			return
		}
		if child+1 < len(h.ids) && h.less(child+1, child) {
			child++
		}
		if !h.less(child, i) {
			return
		}
		h.swap(i, child)
		i = child
	}
}
