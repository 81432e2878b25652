package tables

// naive is how many days lie between two changes: the time of observation by the number
// of changes seen (paper E, E6). nil where none was seen. Two changes between two looks are
// seen as one, so it is too long where pages change faster than they are looked at.
func naive(days float64, changes int64) *float64 {
	if changes == 0 {
		return nil
	}
	x := days / float64(changes)
	return &x
}
