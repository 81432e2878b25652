// Package plan turns what was asked of a crawl into a crawl that is ready to begin.
//
// In: a topic and settings from flags, environment or a file; for a resumed crawl also its
// store's settings. Out: the options of crawler and fetch, or the mistake in the settings.
// It opens no connection and prints nothing.
//
// Settings are grouped by subject, one struct each, with the tags of the command line: a
// setting's field, name, default, check and use are in one place. Start with Crawl and its
// Plan.
//
// Files: plan.go the whole plan, surveys, and the record in the store; settings.go the list
// of settings, goal, budget and scope; manners.go politeness, identity, and the network;
// policy.go the policies and the order of links; scorer.go models and learning; several.go
// and sharing.go topics that share a crawl.
package plan
