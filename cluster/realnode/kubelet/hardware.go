package kubelet

import (
	"context"
	"maps"
	"runtime"
	"time"

	cadvisorapi "github.com/google/cadvisor/lib/model"
	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/slipway-dev/slipway/cluster/realnode/nodeconfig"
	"github.com/slipway-dev/slipway/cluster/realnode/process"
)

// cadvisorStub stands in for cAdvisor: it describes the machine and measures the node as a whole.
type cadvisorStub struct {
	name   string
	cpus   int
	memory uint64
	kernel string
	meter  process.Meter
	since  time.Time
	folders
}

func newHardware(c nodeconfig.Config, f folders) *cadvisorStub {
	h := &cadvisorStub{name: c.Name, cpus: runtime.NumCPU(), memory: memory(), since: time.Now(), folders: f}
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		h.kernel = unix.ByteSliceToString(name.Release[:])
	}
	return h
}

// advertised returns the resources that replace the machine's in the node's status alone. The kubelet measures and
// reserves by the machine's. The number of pods is missing: it is the setting MaxPods.
func (n *node) advertised() corev1.ResourceList {
	amounts := maps.Clone(n.Capacity)
	delete(amounts, corev1.ResourcePods)
	return amounts
}

// Start does nothing.
func (h *cadvisorStub) Start() error { return nil }

// MachineInfo describes the machine.
func (h *cadvisorStub) MachineInfo(klog.Logger) (*cadvisorapi.MachineInfo, error) {
	return &cadvisorapi.MachineInfo{
		NumCores: h.cpus, NumPhysicalCores: h.cpus, NumSockets: 1, MemoryCapacity: h.memory,
		MachineID: h.name, SystemUUID: h.name, BootID: h.name, Timestamp: time.Now(),
	}, nil
}

// VersionInfo describes the system.
func (h *cadvisorStub) VersionInfo() (*cadvisorapi.VersionInfo, error) {
	return &cadvisorapi.VersionInfo{KernelVersion: h.kernel, ContainerOsVersion: "Slipway real node"}, nil
}

// ContainerInfoV2 measures the node under the name "/" alone. The kubelet gets the pods' figures from the runtime.
func (h *cadvisorStub) ContainerInfoV2(name string, _ cadvisorapi.RequestOptions) (map[string]cadvisorapi.ContainerInfo, error) {
	if name != wholeNode {
		return map[string]cadvisorapi.ContainerInfo{}, nil
	}
	u, err := usage()
	if err != nil {
		return nil, err
	}
	return map[string]cadvisorapi.ContainerInfo{name: h.describe(h.meter.Note(u, time.Now()))}, nil
}

func (h *cadvisorStub) describe(m process.Reading) cadvisorapi.ContainerInfo {
	info := cadvisorapi.ContainerInfo{ContainerReference: cadvisorapi.ContainerReference{Name: wholeNode}}
	info.Spec.CreationTime, info.Spec.HasCpu, info.Spec.HasMemory, info.Spec.Memory.Limit = h.since, true, true, h.memory
	s := &cadvisorapi.ContainerStats{Timestamp: m.At, Cpu: &cadvisorapi.CpuStats{}, CpuInst: &cadvisorapi.CpuInstStats{}, Memory: &cadvisorapi.MemoryStats{}}
	s.Cpu.Usage.Total, s.CpuInst.Usage.Total = m.CPU, m.Rate
	s.Memory.Usage, s.Memory.WorkingSet, s.Memory.RSS = m.Memory, m.WorkingSet, m.RSS
	s.Memory.ContainerData.Pgfault, s.Memory.ContainerData.Pgmajfault = m.Faults, m.MajorFaults
	info.Stats = []*cadvisorapi.ContainerStats{s}
	return info
}

// wholeNode is the name of the root cgroup.
const wholeNode = "/"

// GetRequestedContainersInfo returns no containers.
func (h *cadvisorStub) GetRequestedContainersInfo(string, cadvisorapi.RequestOptions) (map[string]*cadvisorapi.ContainerInfo, error) {
	return map[string]*cadvisorapi.ContainerInfo{}, nil
}

// ImagesFsInfo describes the file system with the images.
func (h *cadvisorStub) ImagesFsInfo(context.Context) (cadvisorapi.FsInfo, error) {
	return h.GetDirFsInfo(h.images)
}

// RootFsInfo describes the file system with the kubelet's folder.
func (h *cadvisorStub) RootFsInfo() (cadvisorapi.FsInfo, error) { return h.GetDirFsInfo(h.root) }

// ContainerFsInfo describes the file system with the containers.
func (h *cadvisorStub) ContainerFsInfo(context.Context) (cadvisorapi.FsInfo, error) {
	return h.GetDirFsInfo(h.containers)
}

// GetDirFsInfo ignores the folder: all folders of a node are on one file system.
func (h *cadvisorStub) GetDirFsInfo(string) (cadvisorapi.FsInfo, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(h.containers, &s); err != nil {
		return cadvisorapi.FsInfo{}, err
	}
	size := uint64(s.Bsize)
	return cadvisorapi.FsInfo{
		Timestamp: time.Now(), Device: "var", Mountpoint: h.containers,
		Capacity: s.Blocks * size, Available: s.Bavail * size, Usage: (s.Blocks - s.Bfree) * size, Inodes: &s.Files, InodesFree: &s.Ffree,
	}, nil
}
