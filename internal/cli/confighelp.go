package cli

// configHelp is the text of help config; docs/config.md has details.
const configHelp = `Settings of fossick

Every flag can be set for good. The first of these that sets a flag counts:

  1. the flag on the command line         --max-pages 500
  2. the environment                      FOSSICK_MAX_PAGES=500
  3. fossick.toml in the working folder
  4. fossick/fossick.toml in the user's configuration folder
     (~/.config, or what XDG_CONFIG_HOME names)

A fossick.toml sets flags by their long names without dashes. At the top they
hold for every verb that has them, in a verb's table for that verb alone:

  contact = "crawler@example.org"
  max-pages = "10k"

  [focus]
  delay = "5s"
  lang = ["en", "de"]
  also = ["sitemaps"]

  [topic.new]
  unlabelled = ["old-crawl/"]

Times are 500ms, 90s, 15m, 2h, 1d, 2w, or 0. Numbers are 500, 10k (thousand),
2M (million). Sizes are 500MB, 2GB (of 1024). A switch is true or false. Lists
are in brackets; in the environment by comma: FOSSICK_LANG=en,de.

A stranger may have made a working folder. So its file may set only numbers,
times, switches and flags that narrow a crawl; each run prints what it sets.
Files, addresses, start pages, models, keys and quiet are refused there. To
allow them, trust the folder in your own fossick.toml, at the top:

  trust = ["/home/me/crawls"]

A key that no verb has, or a value that its flag cannot have, is an error that
names the file and line. A FOSSICK_ variable without a flag gives a warning.
NO_COLOR and GOMEMLIMIT work as in other programs.
`
