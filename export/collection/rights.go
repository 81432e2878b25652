package collection

import (
	"encoding/json"

	"fossick/internal/rights"
	"fossick/store"
)

// said are the owner's statements on a page's use.
func said(p *store.Page) []rights.Statement {
	all := make([]rights.Statement, len(p.Rights))
	for i, s := range p.Rights {
		all[i] = rights.Statement(s)
	}
	return all
}

// refused says whether the owner of a page refuses what it is wanted for.
func (c *Choice) refused(p *store.Page, crawl rights.Purpose) bool {
	purpose := c.Purpose
	if purpose == "" {
		purpose = crawl
	}
	return rights.Refusal(said(p), purpose) != ""
}

// purposeOf is what a crawl was for, "" when it did not say.
func purposeOf(info store.Info) rights.Purpose {
	var kept struct{ Purpose string }
	if json.Unmarshal(info.Settings, &kept) != nil {
		return ""
	}
	purpose, _ := rights.Parse(kept.Purpose) // "" of none
	return purpose
}
