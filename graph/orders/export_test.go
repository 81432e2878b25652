package orders

// Operations returns the number of list and class operations of an ordering, which bounds its time.
func Operations(o Sequence) uint64 { return o.(interface{ operations() uint64 }).operations() }
