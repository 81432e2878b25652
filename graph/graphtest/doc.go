// Package graphtest opens graphs for the tests of the rooms that use them, and
// closes them when a test ends.
package graphtest
