package datasets

// Example is one row of a labelled set or one page of a corpus.
type Example struct {
	URL    string
	Label  string   // "" when the row has none
	Labels []string // all labels, Label first; may be finer or coarser ones
	Site   string   // what the corpus calls the page's site; "" when it says nothing
	Split  string   // "train", "test" or ""
	Title  string   // as the row says; a page's own title is in Page().Title
	HTML   string   // markup, or
	Text   string   // plain text when there is no markup
	File   string   // set or file that the row came from
	Line   int      // line in it, from 1; 0 when it has no lines

	// Fields holds the row's other string fields, for --where.
	Fields map[string]string
}
