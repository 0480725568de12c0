package isolated

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/slipway-dev/slipway/cluster/realnode/capability"
	"github.com/slipway-dev/slipway/cluster/realnode/cri"
	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// Prepare makes the container's folders, and the description for the process that becomes the container.
func (i *Starter) Prepare(c cri.Container) (cri.Prepared, error) {
	security := c.Config.GetLinux().GetSecurityContext()
	process, err := i.process(c, security)
	if err != nil {
		return nil, err
	}
	spec := wire.Container{
		Root: filepath.Join(c.Dir, "root"), Lower: []string{c.Image.Root}, Upper: filepath.Join(c.Dir, "upper"), Work: filepath.Join(c.Dir, "work"),
		ReadOnlyRoot: security.GetReadonlyRootfs(), Hostname: c.Pod.GetHostname(), Mounts: slices.Concat(c.Files, c.Mounts), Process: process,
	}
	if !security.GetPrivileged() {
		spec.Masked, spec.ReadOnly = security.GetMaskedPaths(), security.GetReadonlyPaths()
	}
	for _, dir := range []string{spec.Upper, spec.Work, spec.Root} {
		if err := os.MkdirAll(dir, folderMode); err != nil {
			return nil, fmt.Errorf("make the container's folder: %w", err)
		}
	}
	if err := addMountPointLayer(&spec, c.Points); err != nil {
		return nil, err
	}
	return &prepared{i, c, spec}, nil
}

func (i *Starter) process(c cri.Container, security *runtimeapi.LinuxContainerSecurityContext) (wire.Process, error) {
	p := wire.Process{
		Args: c.Args, Env: c.Env, Dir: c.WorkDir, IDs: i.options.IDs,
		Capabilities: capability.Of(security), NoNewRights: security.GetNoNewPrivs(), Terminal: c.Config.GetTty(),
	}
	if usesDefaultFilter(security) {
		p.Filter = i.options.Filter
	}
	identity, err := findUser(c.Image.Root, wantedUser(c.Image.Config.User, security))
	if err != nil {
		return p, err
	}
	p.UID, p.GID = identity.uid, identity.gid
	if security.GetSupplementalGroupsPolicy() != runtimeapi.SupplementalGroupsPolicy_Strict {
		p.Groups = identity.groups
	}
	for _, g := range security.GetSupplementalGroups() {
		if !slices.Contains(p.Groups, int(g)) {
			p.Groups = append(p.Groups, int(g))
		}
	}
	return p, nil
}

// User returns the user of the container's first process. Its primary group is among the supplementary ones, as with
// other runtimes.
func (p *prepared) User() *runtimeapi.LinuxContainerUser {
	process := p.spec.Process
	u := &runtimeapi.LinuxContainerUser{Uid: int64(process.UID), Gid: int64(process.GID), SupplementalGroups: []int64{int64(process.GID)}}
	for _, g := range process.Groups {
		if process.IDs && g != process.GID { // a single id has no supplementary groups
			u.SupplementalGroups = append(u.SupplementalGroups, int64(g))
		}
	}
	slices.Sort(u.SupplementalGroups)
	return u
}

// usesDefaultFilter reports whether a container has the seccomp profile RuntimeDefault.
func usesDefaultFilter(security *runtimeapi.LinuxContainerSecurityContext) bool {
	return !security.GetPrivileged() && security.GetSeccomp().GetProfileType() == runtimeapi.SecurityProfile_RuntimeDefault && security.GetSeccomp() != nil
}
