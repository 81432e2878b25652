// Package planted puts paginated databases of a million URLs each into a stored web.
//
// In: the pages of a web, each with what it is in truth. Out: a Web that answers every URL,
// and says whether its page is on topic and new. Some pages on topic move into an archive,
// whose other records are worthless. Four kinds of databases wait beside them: wares on a
// good host, a board whose lists look better than its threads, an archive that is soon
// exhausted, and records that differ in a name and a number.
//
// The same pages and seed give the same bytes. It knows no other room. Start with New.
// Files: planted.go the Web; kinds.go the databases; prose.go their texts.
package planted
