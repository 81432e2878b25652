// Package patience decides whether a free worker takes the best link that it may fetch now,
// or waits for a better one whose host rests.
//
// In: the best links that wait, whatever their hosts do; pages fetched and those left to
// spend; the clock. Out: a price, the priority that a link needs to be taken now. It makes
// no request and sees no queue. Start with New, then Price; docs/frontier.md has the rule.
// Waits remembers which links were left for better ones, and which were waited for.
package patience
