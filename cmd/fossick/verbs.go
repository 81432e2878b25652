package main

// verbs lists what fossick can do; a verb that does not work is not here.
type verbs struct {
	Demo        demoCmd        `cmd:"" group:"crawl" help:"Show all of fossick at work on a small web of its own, offline."`
	Train       trainCmd       `cmd:"" group:"learn" help:"Train a classifier on a labelled set."`
	Classify    classifyCmd    `cmd:"" group:"learn" help:"Label pages with a model, and say why."`
	Topic       topicCmd       `cmd:"" group:"crawl" help:"List, show, check and make topics, and propose start pages."`
	Focus       focusCmd       `cmd:"" group:"crawl" help:"Crawl for a topic, best links first."`
	Survey      surveyCmd      `cmd:"" group:"crawl" help:"Crawl sites party by party, and list the seeds of the next survey."`
	Agent       agentCmd       `cmd:"" group:"crawl" help:"Crawl together with other machines."`
	Coordinator coordinatorCmd `cmd:"" group:"crawl" help:"Run the agent that coordinates the others."`
	Cluster     clusterCmd     `cmd:"" group:"crawl" help:"Prepare and watch the machines of one crawl."`
	Refine      refineCmd      `cmd:"" group:"learn" help:"Label the pages of a crawl and drop those off topic."`
	Eval        evalCmd        `cmd:"" group:"learn" help:"Measure how good a crawl is."`
	Lab         labCmd         `cmd:"" group:"graphs" help:"Compare crawl policies on a stored web."`
	Graph       graphCmd       `cmd:"" group:"graphs" help:"Build a compressed graph of links."`
	Simulate    simulateCmd    `cmd:"" group:"graphs" help:"Crawl a graph virtually by several orderings."`
	Rank        rankCmd        `cmd:"" alone:"" group:"graphs" help:"Rank pages by their links: PageRank, BlockRank, HITS."`
	Serve       serveCmd       `cmd:"" group:"graphs" help:"Serve a corpus as a web of many hosts on loopback."`
	Why         whyCmd         `cmd:"" group:"look" help:"Tell the history of one URL of a crawl."`
	Label       labelCmd       `cmd:"" group:"look" help:"Label a page of a crawl, even a running one, as on or off topic."`
	Export      exportCmd      `cmd:"" group:"look" help:"Write the pages of a crawl as tables, text, archives or networks."`
	Convert     convertCmd     `cmd:"" alone:"" group:"look" help:"Turn crawls into numbered tables for a database, and their links into a graph."`
	Import      importCmd      `cmd:"" group:"look" help:"Make a store from pages that other programs have collected."`
	Stats       statsCmd       `cmd:"" group:"look" help:"Describe a web: outcomes, sizes, types, links, domains."`
	Watch       watchCmd       `cmd:"" group:"look" help:"Visit the pages of a crawl again and again, and measure how they change."`
	Search      searchCmd      `cmd:"" group:"look" help:"Find pages of a crawl by their words."`
	Forget      forgetCmd      `cmd:"" group:"look" help:"Delete pages on their owner's request, and never fetch them again."`
	Verify      verifyCmd      `cmd:"" group:"look" help:"Check a store, record by record."`
	Repair      repairCmd      `cmd:"" group:"look" help:"Repair the errors that verify finds."`

	Help       helpCmd       `cmd:"" group:"self" help:"Show how to use a verb; help config explains fossick.toml."`
	Completion completionCmd `cmd:"" group:"self" help:"Print a script with which a shell completes verbs, flags and values."`
	Version    versionCmd    `cmd:"" group:"self" help:"Print version, commit and Go version."`
}
