package cri

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/slipway-dev/slipway/cluster/realnode/containerinit"
	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// defaultPath is used if neither the image nor the pod sets PATH.
const defaultPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// defaultTerminal is used if neither the image nor the pod sets TERM.
const defaultTerminal = "TERM=xterm"

var errNoCommand = errors.New("neither the pod nor the image names a program to run")

// describe combines the pod's and the image's settings for a container.
func (r *Runtime) describe(c *container) (Container, error) {
	volumes, err := r.volumes(c)
	if err != nil {
		return Container{}, err
	}
	d := Container{
		ID: c.id, Pod: c.sandbox.config, Config: c.config, Image: c.image, Network: c.sandbox.network, Dir: c.dir,
		Points: filepath.Join(r.options.Dir, pointsFolder),
		Args:   c.args(), Env: c.env(), WorkDir: c.config.GetWorkingDir(), Mounts: volumes, Files: c.sandbox.files(),
	}
	if d.WorkDir == "" {
		d.WorkDir = c.image.Config.WorkingDir
	}
	if len(d.Args) == 0 {
		return d, errNoCommand
	}
	return d, nil
}

// args returns the command with its arguments. A pod's command replaces the image's entrypoint and arguments, as
// Kubernetes documents.
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

// env returns the image's environment with the pod's on top.
func (c *container) env() []string {
	env := []string{defaultPath, "HOSTNAME=" + c.sandbox.config.GetHostname()}
	if c.config.GetTty() {
		env = append(env, defaultTerminal)
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

// volumes returns the mounts of the pod's volumes.
func (r *Runtime) volumes(c *container) ([]wire.Mount, error) {
	var mounts []wire.Mount
	for _, m := range c.config.GetMounts() {
		source, err := r.source(m)
		if err != nil {
			return nil, fmt.Errorf("mount %s: %w", m.GetContainerPath(), err)
		}
		mounts = append(mounts, wire.Mount{Source: source, Target: m.GetContainerPath(), ReadOnly: m.GetReadonly() || m.GetImage() != nil})
	}
	return mounts, nil
}

// source returns the path that a mount shows, without links. An image volume's links are resolved within the image.
func (r *Runtime) source(m *runtimeapi.Mount) (string, error) {
	ref := m.GetImage().GetImage()
	if ref == "" {
		return filepath.EvalSymlinks(m.GetHostPath())
	}
	img, err := r.options.Images.Get(ref)
	if err != nil {
		return "", err
	}
	root, err := filepath.EvalSymlinks(img.Root)
	if err != nil {
		return "", err
	}
	at, err := containerinit.Within(root, m.GetImageSubPath())
	if err != nil {
		return "", err
	}
	if _, err := os.Lstat(at); err != nil {
		return "", fmt.Errorf("image %s: %w", ref, err)
	}
	return at, nil
}

// files returns the mounts of the pod's own files in /etc, and of its shared memory.
func (s *sandbox) files() []wire.Mount {
	return append([]wire.Mount{
		{Source: filepath.Join(s.dir, resolvFile), Target: "/etc/resolv.conf"},
		{Source: filepath.Join(s.dir, hostnameFile), Target: "/etc/hostname"},
	}, s.memory...)
}
