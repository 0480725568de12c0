package containerinit

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// machineServer is the state of the machine's process.
type machineServer struct {
	requests *requests
	network  *os.File // its network namespace
	self     *os.File // this program

	mu    sync.Mutex
	nodes map[string]*os.Process
}

// machine holds the namespaces and answers requests until the other side closes the socket.
func machine() error {
	var config wire.MachineConfig
	if len(os.Args) < 3 {
		return errors.New("a machine without a configuration")
	}
	if err := json.Unmarshal([]byte(os.Args[2]), &config); err != nil {
		return fmt.Errorf("read what to do: %w", err)
	}
	if config.Wait {
		if err := awaitIDs(); err != nil {
			return err
		}
	}
	if err := closeOnExecFrom(firstFile); err != nil { // after awaitIDs: the parent would report an earlier end as a failure to map ids
		return err
	}
	h := &machineServer{requests: newRequests(firstFile), nodes: map[string]*os.Process{}}
	var err error
	if h.self, err = setUpMounts(config); err != nil {
		return err
	}
	if h.network, err = os.Open("/proc/self/ns/net"); err != nil {
		return err
	}
	h.requests.send(wire.Reply{}) // ready
	return h.requests.each(h.answer)
}

// setUpMounts sets up the machine's mounts with the original id, and then becomes the user namespace's root. It returns
// this program's file.
func setUpMounts(c wire.MachineConfig) (*os.File, error) {
	for _, m := range []mount{
		{"keep mounts to the machine", "", "/", "", unix.MS_REC | unix.MS_PRIVATE, ""},
		{"mount /proc", "proc", "/proc", "proc", unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC, ""},
	} {
		if err := m.make(); err != nil {
			return nil, err
		}
	}
	self, err := protectedSelf()
	if err != nil {
		return nil, fmt.Errorf("protect this program: %w", err)
	}
	if err := (mount{"show the nodes' files", c.State, varFolder, "", unix.MS_BIND, ""}).make(); err != nil {
		return nil, err
	}
	if c.IDs {
		if err := becomeRoot(); err != nil {
			return nil, err
		}
	}
	if err := loopbackUp(); err != nil {
		return nil, err
	}
	return self, unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0)
}

// protectedSelf returns this program, opened on a read-only mount. Processes in containers can open it by /proc, and
// its owner may be the user that is root in the container.
func protectedSelf() (*os.File, error) {
	const self = "/proc/self/exe"
	path, err := os.Readlink(self)
	if err != nil {
		return nil, err
	}
	if err := unix.Mount(self, path, "", unix.MS_BIND, ""); err != nil {
		return nil, err
	}
	if err := readOnly(path); err != nil {
		return nil, err
	}
	return os.Open(path)
}

func (h *machineServer) answer(r wire.Request, files []int) {
	switch {
	case r.Socket != nil:
		fd, err := openSocket(*r.Socket)
		if err != nil {
			h.requests.refuse(r, err)
			return
		}
		h.requests.send(wire.Reply{ID: r.ID}, fd)
		_ = unix.Close(fd)
	case r.WayOut != nil:
		fd, err := listenOutside(*r.WayOut)
		if err != nil {
			h.requests.refuse(r, err)
			return
		}
		h.requests.send(wire.Reply{ID: r.ID}, fd)
		_ = unix.Close(fd)
	case r.Start != nil:
		if err := h.start(*r.Start, files); err != nil {
			h.requests.refuse(r, err)
			return
		}
		h.requests.send(wire.Reply{ID: r.ID})
	case r.Kill != "":
		h.kill(r.Kill)
		h.requests.send(wire.Reply{ID: r.ID})
	default:
		h.requests.refuse(r, errors.New("the request names no operation"))
	}
}

// startFiles is the number of files with a request to start a node.
const startFiles = 4

// start starts a node with its program, configuration, output and socket to the host.
func (h *machineServer) start(n wire.Node, files []int) error {
	if len(files) != startFiles {
		return fmt.Errorf("start node %s: %d files in place of %d", n.Name, len(files), startFiles)
	}
	var open []*os.File
	for i, fd := range files {
		copied, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return err
		}
		open = append(open, os.NewFile(uintptr(copied), strconv.Itoa(i)))
	}
	defer func() {
		for _, f := range open {
			_ = f.Close()
		}
	}()
	cmd := exec.Command("/proc/self/exe", wire.PartNode, n.Name)
	cmd.Args[0] = "slipway-container"
	if !n.IDs {
		cmd.Args = append(cmd.Args, "single")
	}
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root"}
	cmd.ExtraFiles = []*os.File{open[0], open[1], h.network, h.self, open[3]}
	cmd.Stdout, cmd.Stderr = open[2], open[2]
	cmd.SysProcAttr = &unix.SysProcAttr{
		Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWPID | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC,
		Pdeathsig:  unix.SIGKILL, Setsid: true,
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start node %s: %w", n.Name, err)
	}
	h.mu.Lock()
	h.nodes[n.Name] = cmd.Process
	h.mu.Unlock()
	go h.wait(n.Name, cmd)
	return nil
}

// wait reports the node's end. All its processes end with the first one.
func (h *machineServer) wait(name string, cmd *exec.Cmd) {
	_ = cmd.Wait()
	h.mu.Lock()
	if h.nodes[name] == cmd.Process {
		delete(h.nodes, name)
	}
	h.mu.Unlock()
	h.requests.send(wire.Reply{Exited: name, Status: cmd.ProcessState.String(), Code: cmd.ProcessState.ExitCode()})
}

func (h *machineServer) kill(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p := h.nodes[name]; p != nil {
		_ = p.Kill() // it may have ended already
	}
}
