//go:build !linux

package badgerfiles

// Trim does nothing: only Linux tells what is mapped where.
func (d *Database) Trim(bool) error { return nil }
