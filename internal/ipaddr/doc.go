// Package ipaddr knows three things of a URL's host. It knows in what spellings
// it is an IP address, which addresses no public server has, and which names
// are too long for any.
//
// In: host names, addresses. Out: addresses, and what an address is kept for. It
// decides nothing; the egress guard in package fetch does.
//
// Start with EndsInNumber and ParseIPv4, Special and Inner, or TooLong.
//
// Files: ipv4.go the spellings; special.go the table; special.tsv its rows; length.go
// names.
package ipaddr
