package wire

// Group asks for the cgroup of a container: to make it, to change its limits, to measure it or to remove it.
type Group struct {
	Container string
	Make      *Limits `json:",omitempty"` // the reply brings the files by which processes join
	Update    *Limits `json:",omitempty"`
	Remove    bool    `json:",omitempty"` // with a last measurement; else it is measured
}

// Limits are those of a container. Zero is none.
type Limits struct {
	Memory              int64 // bytes
	CPUQuota, CPUPeriod int64 // microseconds of CPU time in each so many microseconds
	CPUShares           int64 // of 1024 for each CPU
	PIDs                int64 // processes and threads
}

// Usage is what a container has used until now, or uses now.
type Usage struct {
	CPU                 uint64 // nanoseconds
	Memory              uint64 // bytes, with caches
	WorkingSet          uint64 // bytes that cannot be taken back at once
	RSS                 uint64 // bytes of no file
	Faults, MajorFaults uint64 // of pages
	Processes           uint64 // and threads
	MemoryLimit         uint64 // bytes; 0 for none
	OutOfMemory         uint64 // how often the kernel ended a process because of the limit
	Throttled           uint64 // periods in which it had to wait for CPU time
}
