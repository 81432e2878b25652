package lab

// SpreadResult says over how many hosts a policy's crawls went: means over the start
// sets.
type SpreadResult struct {
	Sites             float64        `json:"sites"`
	RelevantHosts     float64        `json:"relevant_hosts"`
	Effective         float64        `json:"effective_hosts"` // exp of the entropy of the pages fetched
	EffectiveRelevant float64        `json:"effective_relevant_hosts"`
	Capped            []CappedResult `json:"capped"`
}

// CappedResult is the harvest of the same crawls when no more than so many pages of a
// host count.
type CappedResult struct {
	Cap     int         `json:"cap"`
	Pages   float64     `json:"pages"`
	Harvest float64     `json:"harvest"`
	CI      *[2]float64 `json:"ci"`
}

func spreadOf(s Spread) SpreadResult {
	out := SpreadResult{
		Sites: s.Sites.Value, RelevantHosts: s.Relevant.Value,
		Effective: s.Effective.Value, EffectiveRelevant: s.EffectiveRelevant.Value,
	}
	for _, c := range s.Capped {
		out.Capped = append(out.Capped, CappedResult{c.Cap, c.Pages.Value, c.Harvest.Value, c.Harvest.CI})
	}
	return out
}

// harvestAt is the harvest with a cap.
func (s SpreadResult) harvestAt(pages int) float64 {
	for _, c := range s.Capped {
		if c.Cap == pages {
			return c.Harvest
		}
	}
	return 0
}
