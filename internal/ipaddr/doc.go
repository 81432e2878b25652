// Package ipaddr knows two things of IP addresses: in what spellings a URL's host is
// one, and which of them no public server has.
//
// In: host names, addresses. Out: addresses, and what an address is kept for. It
// decides nothing; the egress guard in package fetch does.
//
// Start with EndsInNumber and ParseIPv4, or Special and Inner.
//
// Files: ipv4.go the spellings; special.go the table; special.tsv its rows.
package ipaddr
