// Package crawlplan turns what was asked of a crawl into a crawl that is ready to begin.
//
// In: a topic and settings, as flags, environment or a file gave them; of a resumed crawl
// also those that its store keeps. Out: the options of crawler and fetch, or the mistake
// in the settings. It opens no connection and prints nothing.
//
// Settings are split by what they are about, one struct and one file each. Their tags are
// those of the command line, so a new setting stands in one file: field, name, default,
// check and use. Start with Crawl and its Plan.
//
// Files: settings.go all settings as a list, told and inherited; goal.go what
// to look for; scoring.go order of the links. budget.go when it ends; scope.go
// what it keeps to; params.go parameters that URLs lose; manners.go rests,
// workers, who we are. contact.go how we are reached; network.go proxy, guard,
// names; survey.go a crawl by parties; plan.go all of them together; stored.go what a
// store keeps of them.
package crawlplan
