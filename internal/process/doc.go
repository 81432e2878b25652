// Package process is what a verb needs of the process that it is. That is
// signals that end it in order, pipes that break, memory and processor time,
// and what libraries say on Go's own log.
//
// In: stdout, the moment at which a signal came. Out: a context's end, an error for a
// result that nobody read. It prints nothing itself and chooses no exit code.
//
// Files: outlet.go stdout with a memory, broken pipes; signals.go first and second signal;
// librarylog.go Go's own log; heap.go memory; cputime_unix.go processor time.
package process
