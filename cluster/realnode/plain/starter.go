package plain

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/cluster/realnode/containerinit"
	"github.com/slipway-dev/slipway/cluster/realnode/cri"
	"github.com/slipway-dev/slipway/cluster/realnode/keeper"
	"github.com/slipway-dev/slipway/cluster/realnode/podnet"
	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// Options configure a [Starter].
type Options struct {
	Program string // the path of slipway-container
	Server  string // the API server, host:port on this machine's loopback
	// Presence is a file that all keepers hold open.
	Presence *os.File
}

// Starter runs containers as plain processes.
type Starter struct{ options Options }

var _ cri.Starter = (*Starter)(nil)

// New returns a starter.
func New(o Options) *Starter { return &Starter{o} }

const (
	rootFolder = "root"
	tempFolder = "tmp"
	folderMode = 0o755
	ownMode    = 0o700
)

// Prepare copies the image's files, and finds the container's program. It refuses privileged containers and images for
// other platforms.
func (s *Starter) Prepare(c cri.Container) (cri.Prepared, error) {
	if c.Config.GetLinux().GetSecurityContext().GetPrivileged() {
		return nil, fmt.Errorf("%w: a privileged container on a plain node", cri.ErrUnsupported)
	}
	if platform := runtime.GOOS + "/" + runtime.GOARCH; c.Image.Platform != platform {
		return nil, fmt.Errorf("%w: an image for %s on a plain node (slipway image build --platform %s)", cri.ErrUnsupported, c.Image.Platform, platform)
	}
	root := filepath.Join(c.Dir, rootFolder)
	if err := os.MkdirAll(filepath.Join(c.Dir, tempFolder), ownMode); err != nil {
		return nil, fmt.Errorf("make the container's folder: %w", err)
	}
	if err := os.CopyFS(root, os.DirFS(c.Image.Root)); err != nil {
		return nil, fmt.Errorf("copy the image's files: %w", err)
	}
	p := paths{root: root, mounts: c.Mounts}
	env, err := s.environment(c, p)
	if err != nil {
		return nil, err
	}
	w := &workload{
		starter: s, paths: p, env: env, search: variable(c.Env, "PATH"), dir: c.WorkDir, terminal: c.Config.GetTty(), stdin: c.Config.GetStdin(),
	}
	w.first, err = w.describe(c.Args)
	return w, err
}

// workload is a prepared container.
type workload struct {
	starter         *Starter
	paths           paths
	env             []string
	search          string // the container's PATH variable
	dir             string // working folder, as a path in the container
	terminal, stdin bool
	first           keeper.Process
}

// describe returns a process with its program, arguments and folder on this machine. It makes the folder.
func (w *workload) describe(args []string) (keeper.Process, error) {
	p := keeper.Process{Env: w.env, Args: w.paths.translateAll(withoutElection(args)), Dir: w.paths.of(w.dir)}
	if err := os.MkdirAll(p.Dir, folderMode); err != nil {
		return p, fmt.Errorf("make the working folder: %w", err)
	}
	var err error
	p.Program, err = w.program(args[0])
	return p, err
}

// withoutElection disables leader election in arguments. There is one replica, and client libraries read the namespace
// from a path that does not exist here.
func withoutElection(args []string) []string {
	const flag = "leader-elect"
	changed := make([]string, len(args))
	for i, a := range args {
		changed[i] = a
		if name := strings.TrimLeft(a, "-"); i > 0 && name != a && (name == flag || name == flag+"=true") {
			changed[i] = "--" + flag + "=false"
		}
	}
	return changed
}

// Dial connects to a port on this machine's loopback or, if nothing listens there, on the pod's address.
func (s *Starter) Dial(ctx context.Context, pod *podnet.Pod, port int) (net.Conn, error) {
	var errs []error
	for _, host := range []string{"127.0.0.1", pod.Address.String()} {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err == nil {
			return conn, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// paths maps a container's paths to this machine.
type paths struct {
	root   string // the copy of the image's files
	mounts []wire.Mount
}

// of returns the path on this machine. path is the container's, absolute or relative to its root.
func (p paths) of(path string) string {
	if m, rest, ok := p.mounted(filepath.Clean("/" + path)); ok {
		return filepath.Join(m.Source, rest)
	}
	at, err := containerinit.Within(p.root, path)
	if err != nil {
		return filepath.Join(p.root, path) // opening it then fails with the same error
	}
	return at
}

// mounted returns the innermost mount that contains path, and the rest of path below it.
func (p paths) mounted(path string) (found wire.Mount, rest string, ok bool) {
	for _, m := range p.mounts {
		target := filepath.Clean(m.Target)
		if r, in := strings.CutPrefix(path, target); in && (r == "" || r[0] == '/') && len(target) >= len(found.Target) {
			found, rest, ok = m, r, true
		}
	}
	return found, rest, ok
}

// program finds a program in the container by name, as a shell does: only names without a slash are looked up in PATH.
func (w *workload) program(name string) (string, error) {
	candidates := []string{name}
	switch {
	case filepath.IsAbs(name):
	case strings.Contains(name, "/"):
		candidates = []string{filepath.Join("/", w.dir, name)}
	default:
		candidates = nil
		for _, folder := range filepath.SplitList(w.search) {
			candidates = append(candidates, filepath.Join("/", folder, name))
		}
	}
	for _, c := range candidates {
		at := w.paths.of(c)
		if info, err := os.Stat(at); err == nil && !info.IsDir() {
			return at, nil
		}
	}
	return "", &exec.Error{Name: name, Err: fmt.Errorf("%w: the image does not have the program, and pods do not run programs of this machine", exec.ErrNotFound)}
}
