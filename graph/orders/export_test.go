package orders

// Operations returns how often an ordering put a vertex into a list or took one
// out, made or dropped a class, or looked at a list in vain. Its time is linear
// in that.
func Operations(o Sequence) uint64 { return o.(interface{ operations() uint64 }).operations() }
