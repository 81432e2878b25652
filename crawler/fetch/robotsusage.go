package fetch

import "strings"

// usageLine is a line on what pages may be used for: Content-Signal, or Content-Usage with a
// pattern of paths before its value (draft-ietf-aipref-attach).
type usageLine struct{ name, value string }

// maxUsageLines bounds what is kept of one agent.
const maxUsageLines = 16

// usage gives a line to the agents of the present group. As with a Crawl-delay it ends no run
// of User-agent lines.
func (p *robotsParser) usage(u usageLine) {
	if u.value == "" {
		return
	}
	for _, i := range p.current {
		if a := &p.r.agents[i]; len(a.usage) < maxUsageLines {
			a.usage = append(a.usage, u)
		}
	}
}

// Usage returns what the file says agent may use a page for, by its path and query: names
// and values of lines.
func (r *Robots) Usage(agent, pathAndQuery string) (said [][2]string) {
	a := r.agent(agent)
	if a == nil {
		return nil
	}
	for _, u := range a.usage {
		value := u.value
		if strings.HasPrefix(value, "/") {
			pattern, rest, _ := strings.Cut(value, " ")
			rule := compileRule(true, pattern)
			if !rule.matches(normalOctets(pathAndQuery)) {
				continue
			}
			value = strings.TrimSpace(rest)
		}
		said = append(said, [2]string{strings.ToLower(u.name), value})
	}
	return said
}

// Speaks says whether the file has a group for a token itself, and not only for all.
func (r *Robots) Speaks(token string) bool {
	_, ok := r.index[productToken(token)]
	return ok
}
