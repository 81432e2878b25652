// Package harvest estimates what the next pages of a crawl are worth.
//
// In: which pages were relevant, in their order. Out: the harvest to be expected of the next
// ones with the upper end of its interval, and whether that is surely too little. Start with
// NewWatch, or with Of for a crawl that is over.
package harvest
