package cri

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/slipway-dev/slipway/cluster/realnode/inside"
)

// defaultPath is PATH where neither image nor pod says one.
const defaultPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// describe brings together what the pod and what the image say of a container.
func (r *Runtime) describe(c *container) (inside.Container, error) {
	security := c.config.GetLinux().GetSecurityContext()
	p, err := r.process(c, security)
	if err != nil {
		return inside.Container{}, err
	}
	mounts, err := r.mounts(c)
	if err != nil {
		return inside.Container{}, err
	}
	spec := inside.Container{
		Root: filepath.Join(c.dir, "root"), Lower: c.image.Root, Upper: filepath.Join(c.dir, "upper"), Work: filepath.Join(c.dir, "work"),
		ReadOnlyRoot: security.GetReadonlyRootfs(), Hostname: c.sandbox.config.GetHostname(), Mounts: mounts, Process: p,
	}
	if !security.GetPrivileged() {
		spec.Masked, spec.ReadOnly = security.GetMaskedPaths(), security.GetReadonlyPaths()
	}
	return spec, nil
}

func (r *Runtime) process(c *container, security *runtimeapi.LinuxContainerSecurityContext) (inside.Process, error) {
	p := inside.Process{
		Args: c.args(), Env: c.env(), Dir: c.config.GetWorkingDir(), IDs: r.options.IDs,
		Capabilities: capabilities(security), NoNewRights: security.GetNoNewPrivs(), Terminal: c.config.GetTty(),
	}
	if len(p.Args) == 0 {
		return p, errNoCommand
	}
	if p.Dir == "" {
		p.Dir = c.image.Config.WorkingDir
	}
	if usesDefaultFilter(security) {
		p.Filter = r.options.Filter
	}
	identity, err := findUser(c.image.Root, wantedUser(c.image.Config.User, security))
	if err != nil {
		return p, err
	}
	p.UID, p.GID = identity.uid, identity.gid
	p.Groups = identity.groups
	for _, g := range security.GetSupplementalGroups() {
		if !slices.Contains(p.Groups, int(g)) {
			p.Groups = append(p.Groups, int(g))
		}
	}
	return p, nil
}

// usesDefaultFilter says whether a container wants the runtime's own filter of system calls. Profiles in files are not known here.
func usesDefaultFilter(security *runtimeapi.LinuxContainerSecurityContext) bool {
	return !security.GetPrivileged() && security.GetSeccomp().GetProfileType() == runtimeapi.SecurityProfile_RuntimeDefault && security.GetSeccomp() != nil
}

// args are the command and its arguments: a command of the pod's replaces both of the image's.
func (c *container) args() []string {
	command, args := c.image.Config.Entrypoint, c.image.Config.Cmd
	if len(c.config.GetCommand()) > 0 {
		command, args = c.config.GetCommand(), nil
	}
	if len(c.config.GetArgs()) > 0 {
		args = c.config.GetArgs()
	}
	return slices.Concat(command, args)
}

// env is the image's environment with the pod's over it.
func (c *container) env() []string {
	env := []string{defaultPath, "HOSTNAME=" + c.sandbox.config.GetHostname()}
	if c.config.GetTty() {
		env = append(env, "TERM=xterm")
	}
	for _, e := range c.image.Config.Env {
		env = setVariable(env, e)
	}
	for _, e := range c.config.GetEnvs() {
		env = setVariable(env, e.GetKey()+"="+string(e.GetValue()))
	}
	return env
}

func setVariable(env []string, entry string) []string {
	key, _, _ := strings.Cut(entry, "=")
	at := slices.IndexFunc(env, func(e string) bool { return strings.HasPrefix(e, key+"=") })
	if at < 0 {
		return append(env, entry)
	}
	env[at] = entry
	return env
}

func (r *Runtime) mounts(c *container) ([]inside.Mount, error) {
	mounts := []inside.Mount{
		{Source: filepath.Join(c.sandbox.dir, resolvFile), Target: "/etc/resolv.conf"},
		{Source: filepath.Join(c.sandbox.dir, hostnameFile), Target: "/etc/hostname"},
	}
	for _, m := range c.config.GetMounts() {
		source := m.GetHostPath()
		if ref := m.GetImage().GetImage(); ref != "" {
			img, err := r.options.Images.Get(ref)
			if err != nil {
				return nil, err
			}
			source = filepath.Join(img.Root, m.GetImageSubPath())
		}
		source, err := filepath.EvalSymlinks(source)
		if err != nil {
			return nil, fmt.Errorf("mount %s: %w", m.GetContainerPath(), err)
		}
		mounts = append(mounts, inside.Mount{Source: source, Target: m.GetContainerPath(), ReadOnly: m.GetReadonly() || m.GetImage() != nil})
	}
	return mounts, nil
}
