// Package blocks cuts a page into runs of text, and says of each what can be known
// without reading it: how long it is, how much of it is links, what stands around it.
//
// In: the bytes of a page in UTF-8. Out: a Document, and a row of features for each of
// its blocks, which a forest turns into the chance that the block is main text.
//
// One pass of x/net/html's tokenizer, no tree. Files: read.go the pass; element.go what
// elements do; traits.go what their names say; describe.go the features; around.go those
// of neighbours; opinion.go what a first forest thought.
package blocks
