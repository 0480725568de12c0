// Package state keeps what slipway remembers of clusters between invocations: one
// folder for each, owned by its user alone.
//
//	$SLIPWAY_STATE, or $XDG_STATE_HOME/slipway, or ~/.local/state/slipway
//	├── locks/NAME.lock      held by the command that starts or stops the cluster
//	└── clusters/NAME/       0700
//	    ├── config.json      the configuration that the program was started with
//	    ├── run.json         how it was started; removed by a clean stop
//	    ├── lock             held by the program for as long as it lives
//	    ├── socket           where it serves the protocol (elsewhere if the path is too long)
//	    ├── kubeconfig       its administrator's credentials
//	    ├── pki/             its keys and certificates
//	    ├── log              what it printed
//	    ├── logs/            what its components logged
//	    └── data.json        which versions wrote the data of a durable cluster
//
// Whether a cluster runs is decided by the lock and by nothing else: a process
// id in a file proves nothing after a crash or a reboot. A run.json without a
// holder of the lock is a cluster that died.
package state

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/report"
)

// Home is the folder that holds all clusters' state.
type Home struct{ Dir string }

// Locate finds the home from the environment.
func Locate(getenv func(string) string) (Home, error) {
	if dir := getenv("SLIPWAY_STATE"); dir != "" {
		return absolute(dir)
	}
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return Home{filepath.Join(dir, "slipway")}, nil
	}
	if dir := getenv("LocalAppData"); runtime.GOOS == "windows" && dir != "" {
		return Home{filepath.Join(dir, "slipway", "state")}, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return Home{}, &report.Error{What: "no folder for the state of clusters", Err: err,
			Hint: "set SLIPWAY_STATE to a folder that you may write to"}
	}
	return Home{filepath.Join(home, ".local", "state", "slipway")}, nil
}

func absolute(dir string) (Home, error) {
	abs, err := filepath.Abs(dir)
	return Home{abs}, err
}

// validName allows what may be part of a file name, a context name and a certificate.
var validName = lazy.Regexp(`^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$`)

// Cluster returns the state of the cluster called name, which need not exist. The error is [ErrForeign] for a folder of
// that name that is no cluster's.
func (h Home) Cluster(name string) (Cluster, error) {
	if !validName().MatchString(name) {
		return Cluster{}, &report.Error{What: "invalid cluster name", Where: name, Code: report.UsageCode,
			Hint: "use at most 40 lower-case letters, digits and inner hyphens, like my-cluster"}
	}
	c := Cluster{Name: name, Dir: filepath.Join(h.Dir, "clusters", name), lock: filepath.Join(h.Dir, "locks", name+".lock")}
	return c, c.refuseForeign()
}

// ErrForeign is that the folder of a cluster's name has nothing of a cluster.
var ErrForeign = errors.New("the folder has other files, and none of a cluster")

// refuseForeign refuses a folder that slipway did not make: stopping and deleting a cluster empty its folder, and the
// user may have named as the state a folder that has clusters of another kind, such as their manifests.
func (c Cluster) refuseForeign() error {
	entries, err := os.ReadDir(c.Dir)
	if err != nil || len(entries) == 0 {
		return nil
	}
	left := []string{"lock", "log", "run.json", "data.json", configFile} // each end of a cluster leaves one of them
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Type().IsRegular() && slices.Contains(left, e.Name()) }) {
		return nil
	}
	return &report.Error{Class: report.Conflict, What: "cluster " + c.Name + " cannot have this state folder", Where: c.Dir, Err: ErrForeign,
		Hint: "set SLIPWAY_STATE to a folder of slipway's own, or give the cluster another name"}
}

// Clusters returns the clusters that have state, by name.
func (h Home) Clusters() ([]Cluster, error) {
	entries, err := os.ReadDir(filepath.Join(h.Dir, "clusters"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, denied(err)
	}
	var all []Cluster
	for _, e := range entries {
		if c, err := h.Cluster(e.Name()); err == nil && e.IsDir() {
			all = append(all, c)
		}
	}
	return all, nil
}

// denied explains a failure to use the state folder.
func denied(err error) error {
	if said, ok := errors.AsType[*report.Error](err); ok {
		return said
	}
	e := &report.Error{What: "cannot use the state folder", Err: err,
		Hint: "set SLIPWAY_STATE to a folder that you may write to"}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		e.Where, e.Err = p.Path, p.Err
	}
	if errors.Is(err, syscall.ENOSPC) {
		e.What, e.Hint = "the disk with the state folder is full", spaceHint
	}
	return e
}
