package card

import (
	"fossick/internal/printable"
)

// flaws says what who uses the pages should beware of.
func (c *Card) flaws() []string {
	flaws := []string{
		"Relevance is the crawl's own judgement, and harvest an estimate by it. Its interval says nothing of errors of the judgement.",
		"Pages are no random sample: a crawl goes from start pages along links, and takes what seems best first.",
		"JavaScript was not run; what only scripts show is missing.",
		"Languages are estimates made from the text. Words are those of the main text as it was told from menus and footers, which errs.",
	}
	if c.Refined < c.Pages.Exported {
		flaws = append(flaws, printable.Sprintf("Whether refine would keep them is not known of %d pages.", c.Pages.Exported-c.Refined))
	}
	if c.Languages.Unknown > 0 {
		flaws = append(flaws, printable.Sprintf("The language of %d pages is not known.", c.Languages.Unknown))
	}
	silent := c.Pages.Exported
	if c.Rights != nil {
		silent -= c.Rights.Pages
	}
	if silent > 0 {
		flaws = append(flaws, printable.Sprintf("What the owners of %d pages want is not known: nothing was found, or nothing was looked for. Who uses them must ask.", silent))
	}
	if c.Pages.Damaged > 0 {
		flaws = append(flaws, printable.Sprintf("%d pages are damaged: left out, or without their text.", c.Pages.Damaged))
	}
	for _, crawl := range c.Crawls {
		if crawl.Settings == nil {
			flaws = append(flaws, "The settings of the crawl "+crawl.Store+" are not known.")
		}
		if crawl.Recall == nil {
			flaws = append(flaws, "Recall, the share of the relevant pages of the web that the crawl "+crawl.Store+" found, is not known; a second crawl of the topic from other start pages, exported with it, lets it be estimated.")
		} else {
			flaws = append(flaws, "Recall of the crawl "+crawl.Store+" is an estimate: "+crawl.Recall.Caution+".")
		}
		if n := crawl.States["waiting"]; n > 0 {
			flaws = append(flaws, printable.Sprintf("The crawl %s left %d known URLs that it never asked for.", crawl.Store, n))
		}
	}
	return flaws
}
