// Package maintext finds what a page says: its main text, without menus, notices about
// cookies, related pages and footers; as text and as Markdown.
//
// In: the bytes of a page in UTF-8. Out: a Main. What is main is told block by block
// (package blocks) by two forests of small trees (package forest): the first by what a block
// and its neighbours look like, the second by what the first thought of those around.
//
// docs/page.md says what the forests were grown from and how good they are.
package maintext
