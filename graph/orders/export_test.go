package orders

// Operations returns the number of list and class operations of an ordering, which bounds its time.
func Operations(o Sequence) uint64 { return o.(interface{ operations() uint64 }).operations() }

func (r *ring) operations() uint64 { return r.ops }

func (l *lists) operations() uint64 { return l.ops }
