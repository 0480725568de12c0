// Package process measures processes by /proc, if no cgroup measures them.
//
//	usage, err := process.Measure(process.All)
//	usage, err := process.Measure(of) // where of, err := process.Of(pid), all processes of a container
//
// CPU time includes that of ended processes whose parent has waited for them. Memory that processes share counts for
// each.
package process
