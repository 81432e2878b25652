package card

import (
	"fossick/internal/printable"
)

// flaws says what who uses the pages should beware of.
func (c *Card) flaws() []string {
	flaws := []string{
		"Relevance is the crawl's own judgement, and harvest is an estimate from it. The interval of the harvest does not cover errors of judgement.",
		"The pages are not a random sample: a crawl follows links from start pages and takes the most promising links first.",
		"JavaScript was not run; content that only scripts show is missing.",
		"Languages are estimates from the text. Words are those of the main text, whose separation from menus and footers makes errors.",
	}
	if c.Refined < c.Pages.Exported {
		flaws = append(flaws, printable.Sprintf("%d pages were not refined.", c.Pages.Exported-c.Refined))
	}
	if c.Languages.Unknown > 0 {
		flaws = append(flaws, printable.Sprintf("The language of %d pages is not known.", c.Languages.Unknown))
	}
	silent := c.Pages.Exported
	if c.Rights != nil {
		silent -= c.Rights.Pages
	}
	if silent > 0 {
		flaws = append(flaws, printable.Sprintf("The wishes of the owners of %d pages are not known: the crawl found no statement, or looked for none. Ask the owners before you use these pages.", silent))
	}
	if c.Pages.Damaged > 0 {
		flaws = append(flaws, printable.Sprintf("%d pages are damaged: they are left out, or lack their text.", c.Pages.Damaged))
	}
	for _, crawl := range c.Crawls {
		if crawl.Settings == nil {
			flaws = append(flaws, "The settings of the crawl "+crawl.Store+" are not known.")
		}
		if crawl.Recall == nil {
			flaws = append(flaws, "Recall, the share of the relevant pages of the web that the crawl "+crawl.Store+" found, is not known. To estimate it, make a second crawl of the topic from other start pages and export both together.")
		} else {
			flaws = append(flaws, "Recall of the crawl "+crawl.Store+" is an estimate: "+crawl.Recall.Caution+".")
		}
		if n := crawl.States["waiting"]; n > 0 {
			flaws = append(flaws, printable.Sprintf("The crawl %s never fetched %d URLs that it knew.", crawl.Store, n))
		}
	}
	return flaws
}
