package wire

// Group is a request about a container's cgroup. Without Make, Update or Remove it only measures.
type Group struct {
	Container string
	Make      *Limits `json:",omitempty"` // the reply has the files by which processes join
	Update    *Limits `json:",omitempty"`
	Remove    bool    `json:",omitempty"` // after a last measurement
}

// Limits are the limits of a container. Zero means no limit.
type Limits struct {
	Memory              int64 // bytes
	CPUQuota, CPUPeriod int64 // microseconds of CPU time in each period, in microseconds
	CPUShares           int64 // 1024 for each CPU
	PIDs                int64 // processes and threads
}

// Usage is the resource usage of a container.
type Usage struct {
	CPU                 uint64 // nanoseconds
	Memory              uint64 // bytes, including caches
	WorkingSet          uint64 // bytes that the kernel cannot reclaim at once
	RSS                 uint64 // bytes of anonymous memory
	Faults, MajorFaults uint64 // page faults
	Processes           uint64 // and threads
	MemoryLimit         uint64 // bytes; 0 for none
	OutOfMemory         uint64 // processes that the kernel killed because of the limit
	Throttled           uint64 // periods in which the container had to wait for CPU time
}
