package main

// verbs lists what fossick can do; a verb that does not work is not here.
type verbs struct {
	Demo     demoCmd     `cmd:"" help:"Show the whole of fossick on a small web of its own, offline."`
	Train    trainCmd    `cmd:"" help:"Train a classifier on a labelled set."`
	Classify classifyCmd `cmd:"" help:"Label pages with a model, and say why."`
	Topic    topicCmd    `cmd:"" help:"Topics of your own."`
	Propose  proposeCmd  `cmd:"" help:"Propose start pages for a topic, out of a corpus, a store, a sitemap or a list."`
	Focus    focusCmd    `cmd:"" help:"Crawl for a topic, best links first."`
	Refine   refineCmd   `cmd:"" help:"Label the pages of a crawl and drop what is off topic."`
	Eval     evalCmd     `cmd:"" help:"Say how good a crawl is."`
	Lab      labCmd      `cmd:"" help:"Compare crawl policies on a stored web."`
	Graph    graphCmd    `cmd:"" help:"Build a compressed graph of links."`
	Simulate simulateCmd `cmd:"" help:"Crawl a graph virtually by several orderings."`
	Rank     rankCmd     `cmd:"" help:"Rank pages by their links: PageRank, BlockRank, HITS."`
	Serve    serveCmd    `cmd:"" help:"Serve a corpus as a web of many hosts on loopback."`
	Why      whyCmd      `cmd:"" help:"Tell the story of one URL of a crawl."`
	Label    labelCmd    `cmd:"" help:"Say of a page of a crawl, also a running one, whether it is on topic."`
	Verify   verifyCmd   `cmd:"" help:"Check a store, record by record."`
	Repair   repairCmd   `cmd:"" help:"Mend what verify finds."`
	Version  versionCmd  `cmd:"" help:"Print version, commit and Go version."`
}
