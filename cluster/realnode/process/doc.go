// Package process measures processes by what /proc reports about them, where no cgroup counts what they use.
//
//	usage, err := process.Measure(process.All)
//	usage, err := process.Measure(of) // where of, err := process.Of(pid), all processes of a container
//
// CPU time is that of the processes that run, and of those that they have waited for; memory that several share is
// counted for each.
package process
