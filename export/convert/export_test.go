package convert

// Tight makes sorters spill and chunks end after a few items.
func (o *Options) Tight() { o.limits = limits{15, 20, 20, 20, 20, 3, 300} }
