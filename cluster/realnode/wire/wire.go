// Package wire is what the programs of real nodes say to each other: the cluster's process, slipway-node and
// slipway-container, which package [github.com/slipway-dev/slipway/cluster/realnode/containerinit] is.
//
// A part of slipway-container is started with its name, and inherits a description as JSON ([MachineConfig],
// [Container], [Process]) and files with fixed numbers. The parts that live on are asked by a [Request] over a socket
// and answer with a [Reply]. All programs are built from this package, so the form is in one place; it holds data only.
package wire

import "net/netip"

// The parts of slipway-container, which are its first argument.
const (
	PartMachine   = "machine"
	PartNode      = "node"
	PartSpawn     = "spawn"
	PartContainer = "container"
	PartEnter     = "enter"
	PartSweep     = "sweep"
	PartRemove    = "remove"
)

// VolumesFolder is the folder with the data of the cluster's volumes, in the machine's state; no node has such a
// name. An isolated node has it at [PathVolumes].
const (
	VolumesFolder = ".volumes"
	PathVolumes   = "/volumes"
)

// MachineConfig is the argument of the part machine.
type MachineConfig struct {
	State string // the folder with a folder for each node
	IDs   bool   // many user and group ids are mapped, not one
	Wait  bool   // until they are: the file FileGiven reports
}

// Exit statuses of a machine that cannot be here.
const (
	StatusForbidden = 77 // it was not let make what it needs
	StatusTooOld    = 78 // Linux lacks what it needs
)

// A Request asks the machine, the host or the spawner for something; the answer is a [Reply] with the same ID.
type Request struct {
	ID     uint64
	Socket *Socket `json:",omitempty"`
	WayOut *WayOut `json:",omitempty"` // asked of the machine; a socket comes with the reply
	Start  *Node   `json:",omitempty"` // comes with the node's program, configuration, output and way to the host
	Kill   string  `json:",omitempty"` // the name of a node
	Group  *Group  `json:",omitempty"` // asked of the host by a node
	Spawn  *Spawn  `json:",omitempty"` // asked of the spawner by a node
}

// Registries is the network of a connection to the host over which it answers a node's requests to registries.
const Registries = "registries"

// Socket describes a socket in the machine's network, which comes with the reply. One that connects is on its way.
type Socket struct {
	Network string // tcp4 or udp4; of the host also Registries
	Address string // of the other side; of this one when it listens
	Listen  bool
	// Transparent is for one that listens: it may be handed connections to addresses that are not its own.
	Transparent bool `json:",omitempty"`
}

// WayOut asks for a socket that listens at Address, and is led the connections over TCP that nodes and pods make to
// addresses which are in none of Keep.
type WayOut struct {
	Address string
	Keep    []netip.Prefix
}

// Node says which node to start.
type Node struct {
	Name string
	IDs  bool
}

// Spawn asks for a container's first process, which becomes a child of the node. With the request come the network
// namespace that it begins in, if it has one of its own, and the files that it inherits, without [FileProgram].
type Spawn struct {
	Network  bool // it has one of its own
	IDs      bool // many ids are mapped, not one
	UID, GID int  // as which the one is seen
}

// Reply answers a request, or reports that a node has ended.
type Reply struct {
	ID    uint64 // 0 for news
	Error string `json:",omitempty"`
	Errno int    `json:",omitempty"`
	// Missing is what the kernel lacks for the request: a module, or an option of its build (CONFIG_…).
	Missing string `json:",omitempty"`
	Exited  string `json:",omitempty"` // the name of a node that has ended
	Status  string `json:",omitempty"` // and how
	Code    int    `json:",omitempty"` // its exit status
	Usage   *Usage `json:",omitempty"` // of a container
	PID     int    `json:",omitempty"` // of the process that was asked for, in the node
}

// The files that slipway-node inherits.
const (
	FileConfig  = 4 // a connection that begins with its configuration
	FileMachine = 5 // the network namespace of the machine
	FileInside  = 6 // slipway-container
	FileHost    = 7 // a socket by which the host makes connections
)

// The files that a container's first process inherits. A process that enters a container inherits the first three, and
// in place of the fourth the one that stands for the container's first process.
const (
	FileProgram     = 3 // slipway-container, found at [PathProgram]
	FileSpawner     = 4 // a socket by which the spawner is asked
	FileDescription = 4
	FileTerminal    = 5 // a socket over which the other end of its terminal is sent
	FileStatus      = 6 // says why it could not begin, and is closed once it has
	FileFirst       = 6
	FileGroups      = 7 // and those that follow: the lists of processes of its cgroups
)

// FileGiven is where a process that begins without ids reads when it has been given them.
const FileGiven = 4

// PathProgram is the path of slipway-container for a process that inherits it as [FileProgram]. Only among the files
// that are inherited is it safe: os/exec puts those in their places by way of other numbers, and may put them over any
// file that is not one of them.
const PathProgram = "/proc/self/fd/3"

// Container describes a container's first process and what it finds.
type Container struct {
	Root         string   // the folder to mount the root file system on
	Lower        []string // of the overlay that it is, the uppermost first
	Upper, Work  string
	ReadOnlyRoot bool
	Hostname     string
	Mounts       []Mount
	Masked       []string // paths that show nothing
	ReadOnly     []string // paths that cannot be written
	Process
}

// Mount shows a file or folder in a container.
type Mount struct {
	Source, Target string
	ReadOnly       bool
}

// Process describes a process in a container.
type Process struct {
	Args, Env    []string
	Dir          string
	IDs          bool // many ids are mapped, so UID and those below are to be taken on
	UID, GID     int
	Groups       []int
	Capabilities uint64 // what root may keep, as a set of bits
	NoNewRights  bool
	Filter       Filter `json:",omitempty"` // of system calls
	Terminal     bool   // its terminal's other end is sent over the file that follows the description
	Cgroups      int    // how many cgroups it joins
}
