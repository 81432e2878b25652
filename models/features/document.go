package features

// Doc is a text to be classified, by field. It has the same fields as
// page.Fields, so that features.Doc(p.Fields()) converts without an import.
type Doc struct {
	URL, Title, Description, Headings, Text, Lang string
}
