// Package wire declares the messages between the programs of real nodes: the cluster's process, slipway-node and
// slipway-container (package [github.com/slipway-dev/slipway/cluster/realnode/containerinit]).
//
// The first argument of slipway-container names a part of it. A part inherits a description as JSON ([MachineConfig],
// [Container], [Process]) and files with fixed numbers. Parts that keep running receive a [Request] over a socket and
// send a [Reply]. The package has no code besides the encoding of its data.
package wire

import "net/netip"

// The parts of slipway-container, given as its first argument.
const (
	PartMachine   = "machine"
	PartNode      = "node"
	PartSpawn     = "spawn"
	PartContainer = "container"
	PartEnter     = "enter"
	PartSweep     = "sweep"
	PartRemove    = "remove"
)

// VolumesFolder is the folder for the cluster's volumes, in the machine's state. No node can have this name. Isolated
// nodes mount it at [PathVolumes].
const (
	VolumesFolder = ".volumes"
	PathVolumes   = "/volumes"
)

// MachineConfig is the description for the part machine.
type MachineConfig struct {
	State string // has a folder for each node
	IDs   bool   // many user and group ids are mapped, not one
	Wait  bool   // wait on FileGiven until the ids are mapped
}

// Exit statuses of a machine that this system cannot run.
const (
	StatusForbidden = 77 // the system denied a permission that it needs
	StatusTooOld    = 78 // the kernel lacks a feature that it needs
)

// A Request asks the machine, the host or the spawner. The [Reply] has the same ID.
type Request struct {
	ID     uint64
	Socket *Socket `json:",omitempty"`
	WayOut *WayOut `json:",omitempty"` // to the machine; the reply has a socket
	Start  *Node   `json:",omitempty"` // to the machine, with the node's program, configuration, output and socket to the host
	Kill   string  `json:",omitempty"` // to the machine: the name of a node
	Group  *Group  `json:",omitempty"` // from a node to the host
	Spawn  *Spawn  `json:",omitempty"` // from a node to the spawner
}

// Registries is the network of a connection that carries a node's requests to registries, which the host sends on.
const Registries = "registries"

// Socket describes a socket in the machine's network, which comes with the reply. A connecting one may not be connected
// yet.
type Socket struct {
	Network string // tcp4 or udp4; for the host also Registries
	Address string // to listen on or to connect to
	Listen  bool
	// Transparent lets a listener accept redirected connections to addresses that are not its own (IP_TRANSPARENT).
	Transparent bool `json:",omitempty"`
}

// WayOut asks for a listener at Address that receives all TCP connections of nodes and pods, except those to ranges in
// Keep.
type WayOut struct {
	Address string
	Keep    []netip.Prefix
}

// Node describes the node to start.
type Node struct {
	Name string
	IDs  bool
}

// Spawn asks for a container's first process, which becomes a child of the node. With the request come its network
// namespace, if it has its own, and the files that it inherits, except [FileProgram].
type Spawn struct {
	Network  bool // the request has a network namespace
	IDs      bool // many ids are mapped, not one
	UID, GID int  // without IDs: the ids that the one id appears as
}

// Reply answers a request, or reports the end of a node.
type Reply struct {
	ID    uint64 // 0 if no request caused it
	Error string `json:",omitempty"`
	Errno int    `json:",omitempty"`
	// Missing is the kernel module, or the option of the kernel's build (CONFIG_…), that the request needs and the
	// kernel lacks.
	Missing string `json:",omitempty"`
	Exited  string `json:",omitempty"` // the name of a node that ended
	Status  string `json:",omitempty"` // how that node ended
	Code    int    `json:",omitempty"` // that node's exit status
	Usage   *Usage `json:",omitempty"` // of the container
	PID     int    `json:",omitempty"` // of the spawned process, in the node's pid namespace
}

// The files that slipway-node inherits.
const (
	FileConfig  = 4 // a connection that begins with the configuration
	FileMachine = 5 // the machine's network namespace
	FileInside  = 6 // the file slipway-container
	FileHost    = 7 // a socket for requests to the host
)

// The files that a container's first process inherits. A process that enters a container inherits the same first three,
// and FileFirst, which stands for the container's first process.
const (
	FileProgram     = 3 // slipway-container, found at [PathProgram]
	FileSpawner     = 4 // a socket for requests to the spawner
	FileDescription = 4
	FileTerminal    = 5 // a socket that the other end of the terminal is sent over
	FileStatus      = 6 // receives the error if the process cannot start; closed once it runs
	FileFirst       = 6
	FileGroups      = 7 // this and the following: files that add a process to the container's cgroups
)

// FileGiven is readable when the ids of a process that starts without any have been mapped.
const FileGiven = 4

// PathProgram is the path of slipway-container for a process that inherits it as [FileProgram]. It must be among the
// inherited files: os/exec moves those by way of other numbers, and may overwrite any other open file.
const PathProgram = "/proc/self/fd/3"

// Container describes a container's first process and its file systems.
type Container struct {
	Root         string   // the mount point of the root file system
	Lower        []string // lower folders of the overlay, the uppermost first
	Upper, Work  string
	ReadOnlyRoot bool
	Hostname     string
	Mounts       []Mount
	Masked       []string // paths that appear empty
	ReadOnly     []string // read-only paths
	Process
}

// Mount bind-mounts a file or folder in a container.
type Mount struct {
	Source, Target string
	ReadOnly       bool
}

// Process describes a process in a container.
type Process struct {
	Args, Env    []string
	Dir          string
	IDs          bool // many ids are mapped: switch to UID, GID and Groups
	UID, GID     int
	Groups       []int
	Capabilities uint64 // the capabilities that root may keep, as a bit set
	NoNewRights  bool
	Filter       Filter `json:",omitempty"` // of system calls
	Terminal     bool   // send the other end of the terminal over the file after the description
	Cgroups      int    // number of cgroups to join
}
