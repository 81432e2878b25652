package webstats

// hostCounts is what the stream of hosts adds up to.
type hostCounts struct {
	labels map[int]int64 // names by how many labels they have; 0 are addresses
	count  spread        // labels of names
	hosts  int64         // with their ports
	names  int64
	last   string
}

// add counts a host; those of one name come in a row.
func (c *hostCounts) add(host string) {
	c.hosts++
	name := withoutPort(host)
	if name == c.last {
		return
	}
	c.last = name
	c.names++
	p := placeOf(name)
	c.labels[p.labels]++
	if p.labels > 0 {
		c.count.add(int64(p.labels))
	}
}

func (c *hostCounts) walk(from Source) error {
	c.last = ""
	for host, err := range from.Hosts() {
		if err != nil {
			return err
		}
		c.add(host)
	}
	return nil
}
