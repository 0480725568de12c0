package state

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
	"github.com/slipway-dev/slipway/internal/userdirs"
)

// Cluster is the state folder of one cluster.
type Cluster struct {
	Name string
	Dir  string
	// Remover names the program slipway-container, which removes what real nodes leave and this user may not remove.
	// Nothing in Dir names a program to start. May be nil.
	Remover func() string
	lock    string // of the command that starts or stops it
}

// Kubeconfig is the path of the kubeconfig that the program writes.
func (c Cluster) Kubeconfig() string { return filepath.Join(c.Dir, "kubeconfig") }

// RegistryToken is the token with which images are pushed into the cluster's registry, which the program writes; empty
// if there is none.
func (c Cluster) RegistryToken() (string, error) {
	text, err := os.ReadFile(filepath.Join(c.Dir, "registry-token"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", denied(err)
	}
	return string(text), nil
}

// Log is the path of the program's output.
func (c Cluster) Log() string { return filepath.Join(c.Dir, "log") }

// Logs is the folder with a log for each component of the cluster, written by the program.
func (c Cluster) Logs() string { return filepath.Join(c.Dir, "logs") }

// Registry is the folder with the contents of the image registry.
func (c Cluster) Registry() string { return filepath.Join(c.Dir, "registry") }

// Volumes is the folder with the data of PersistentVolumes that real nodes keep.
func (c Cluster) Volumes() string { return filepath.Join(c.nodes(), ".volumes") }

// NodeImages are the folders in which isolated and plain nodes keep images; they need not exist.
func (c Cluster) NodeImages() (dirs []string) {
	nodes, _ := os.ReadDir(c.nodes()) // without the folder there are no nodes
	for _, node := range nodes {
		dirs = append(dirs, filepath.Join(c.nodes(), node.Name(), "lib", "slipway", "images"), filepath.Join(c.nodes(), node.Name(), "images"))
	}
	return dirs
}

func (c Cluster) nodes() string { return filepath.Join(c.Dir, "nodes") }

// programLock is the path of the lock that the program holds.
func (c Cluster) programLock() string { return filepath.Join(c.Dir, "lock") }

func (c Cluster) run() string { return filepath.Join(c.Dir, "run.json") }

// Run is how a cluster was started: what is needed to stop it and to tidy up.
type Run struct {
	Program string    `json:"program"` // path of the program
	PID     int       `json:"pid"`     // for messages, and to end a program that does not answer
	Socket  string    `json:"socket"`
	Started time.Time `json:"started"`

	// Contexts reports what was changed in the user's kubeconfigs: one for each KUBECONFIG that the cluster was started
	// with.
	Contexts []Context `json:"contexts,omitempty"`
}

// Context is what a start changed in the user's kubeconfig files.
type Context struct {
	Name     string   `json:"name"`
	Files    []string `json:"files"`              // in the order of their precedence
	Selected string   `json:"selected,omitempty"` // the file in which it was made the current context
	Previous string   `json:"previous,omitempty"` // the context that was current before
}

// Prepare makes the folder, for its user alone.
func (c Cluster) Prepare() error {
	for _, dir := range []string{c.Dir, filepath.Dir(c.lock)} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return denied(err)
		}
	}
	if err := os.Chmod(c.Dir, 0o700); err != nil {
		return denied(err)
	}
	return nil
}

// Tidy removes a folder in which nothing is kept: that of a start which failed before there was anything to report.
func (c Cluster) Tidy() {
	entries, err := os.ReadDir(c.Dir)
	kept := slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return c.programLock() != filepath.Join(c.Dir, e.Name()) })
	if err == nil && !kept {
		_ = os.Remove(c.programLock())
		_ = os.Remove(c.Dir) // an empty folder does no harm, and in another one is something by now
	}
}

// WriteRun remembers how the program was started.
func (c Cluster) WriteRun(r Run) error { return write(c.run(), r, safefs.WriteCache) }

// store is a way to write a file.
type store func(path string, data []byte, perm fs.FileMode) error

func write(path string, value any, to store) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	if err := to(path, append(text, '\n'), 0o600); err != nil {
		return denied(err)
	}
	return nil
}

// Run returns how the program was started; ok is false when it never was, or
// was stopped since.
func (c Cluster) Run() (r Run, ok bool, err error) {
	text, err := os.ReadFile(c.run())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Run{}, false, nil
	case err != nil:
		return Run{}, false, denied(err)
	case json.Unmarshal(text, &r) != nil:
		return Run{}, true, nil // damaged: it was started, and nothing more is known
	}
	return r, true, nil
}

// Clear forgets the last run: everything goes but the logs, the lock and, with keep, the data and what says
// that they are kept.
func (c Cluster) Clear(keep bool) error {
	entries, err := os.ReadDir(c.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return denied(err)
	}
	_ = os.Remove(c.SocketPath())
	for _, e := range configLast(entries) {
		name := e.Name()
		if name == "log" || name == "logs" || name == "record" || name == "lock" || keep && name != "run.json" {
			continue
		}
		if err := c.removeAll(filepath.Join(c.Dir, name)); err != nil {
			return denied(err)
		}
	}
	return nil
}

// configLast has the configuration go last: as long as there are data, it says whether they are kept.
func configLast(entries []fs.DirEntry) []fs.DirEntry {
	is := func(e fs.DirEntry) bool { return e.Name() == configFile }
	config := slices.DeleteFunc(slices.Clone(entries), func(e fs.DirEntry) bool { return !is(e) })
	return append(slices.DeleteFunc(entries, is), config...)
}

// Remove removes everything that is kept of the cluster, its data included. ok is false
// if there was nothing.
func (c Cluster) Remove() (ok bool, err error) {
	if _, err := os.Lstat(c.Dir); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	_ = os.Remove(c.SocketPath())
	if err := c.removeAll(c.Dir); err != nil {
		return true, denied(err)
	}
	return true, nil
}

// maxSocketPath is what the shortest of the systems (macOS, with 104 bytes and
// a closing zero) takes as the path of a unix socket.
const maxSocketPath = 103

// SocketPath is where the program serves the protocol: where the last start had
// it do so, whatever the environment says by now.
func (c Cluster) SocketPath() string {
	if run, _, err := c.Run(); err == nil && run.Socket != "" {
		return run.Socket
	}
	return c.newSocketPath()
}

// newSocketPath is where a program is to serve the protocol: in the cluster's
// folder, or in a private folder beneath the system's temporary one if
// that path is too long for a socket.
func (c Cluster) newSocketPath() string {
	path := filepath.Join(c.Dir, "socket")
	if len(path) <= maxSocketPath {
		return path
	}
	sum := sha256.Sum256([]byte(c.Dir))
	return filepath.Join(userdirs.PrivatePath(), hex.EncodeToString(sum[:8]))
}

// PrepareSocket returns the path for the socket of a new program, with its folder made and
// nothing in its place.
func (c Cluster) PrepareSocket() (string, error) {
	path := c.newSocketPath()
	if len(path) > maxSocketPath {
		return "", &report.Error{What: "the paths of the state folder and of the temporary folder are too long for a socket", Where: path,
			Err:  fmt.Errorf("it has %d bytes, and the limit is %d", len(path), maxSocketPath),
			Hint: "set SLIPWAY_STATE, or the system's variable for the temporary folder, to a shorter path"}
	}
	if filepath.Dir(path) != c.Dir {
		if _, err := userdirs.MakePrivate(); err != nil {
			return "", denied(err)
		}
	}
	_ = os.Remove(path)
	return path, nil
}

// logTail bounds how much of the end of a log is looked at.
const logTail = 64 << 10

// LastLines returns up to n of the last lines of the log, empty ones left out. If
// the program crashed, these are the lines that say why, and not the end of a
// stack trace.
func (c Cluster) LastLines(n int) []string {
	f, err := os.Open(c.Log())
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > logTail {
		if _, err := f.Seek(-logTail, io.SeekEnd); err != nil {
			return nil
		}
	}
	text, err := io.ReadAll(io.LimitReader(f, logTail))
	if err != nil {
		return nil
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "goroutine ") && strings.HasSuffix(strings.TrimSpace(line), "]:") {
			break // what a Go program says of its crash comes before its stacks
		}
		if line = strings.TrimRight(line, "\r\n\t "); line != "" {
			lines = append(lines, line)
		}
	}
	return lines[max(0, len(lines)-n):]
}
