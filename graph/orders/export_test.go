package orders

// Operations returns how often an ordering put a vertex into a list or took one out,
// made or dropped a class, or looked at a list in vain: what its time is linear in.
func Operations(o Sequence) uint64 { return o.(interface{ operations() uint64 }).operations() }
