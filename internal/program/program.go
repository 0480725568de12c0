// Package program finds the programs that are not part of slipway itself, and builds them when there are none: the
// slipway-cluster program, and two small ones.
//
// The API server is large: no user should compile or download it to scaffold
// a project, and no user should have to install it by hand either. So it is a
// program of its own that is looked for in this order:
//
//  1. the path in SLIPWAY_CLUSTER;
//  2. beside slipway's own executable, as release archives have it;
//  3. in the user's cache folder, under a key of the sources' content;
//  4. in the archive of slipway's release, for a slipway that is of one: its programs go into that cache, once their
//     checksum was found in the list that the release has signed (package download; SLIPWAY_DOWNLOAD);
//  5. nowhere: it is built into that cache, once, from the sources that slipway
//     itself was built from (SLIPWAY_SOURCE, or the path recorded by the
//     compiler), or else by `go install` of slipway's own version.
//
// slipway-kubectl, the kubectl of the same version, lies beside it, and is built when it is needed for the first time
// ([Finder.EnsureKubectl]): a cluster starts without it. slipway-check, which checks CRDs, is looked for and built in
// the same way, by itself ([Finder.EnsureChecker], SLIPWAY_CHECK): it is a fifth of the size. So are slipway-codegen,
// which writes clients ([Finder.EnsureCodegen], SLIPWAY_CODEGEN), and slipway-node, which is a real node
// ([Finder.EnsureNode], SLIPWAY_NODE).
//
// A program beside slipway is taken only if it is of slipway's own version or sources, and speaks the same number of
// the protocol; others are passed over with a warning. A program that the user asked for by name, in SLIPWAY_CLUSTER,
// is used or refused.
//
// Built programs are the same for all users: the go command runs with the settings of package gocommand. A note beside
// them says from which sources they are and what they are like. They are compared with it whenever they are found; a
// damaged program is built again, with a warning.
//
// A build can be interrupted at any time: Go's build cache keeps the packages that are
// done. Two builds at once wait for each other; a finished program appears under
// its name in one step. The cache keeps what was used lately, and few programs besides.
package program

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/internal/process"
	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/release"
	"github.com/slipway-dev/slipway/internal/report"
)

// Module is the module of the slipway command.
const Module = release.Module

// The file names of the program and of its kubectl, without their extensions.
const (
	name        = "slipway-cluster"
	kubectlName = "slipway-kubectl"
)

// Program is the program as it was found.
type Program struct {
	Path string
	// Origin reports why this one was taken, for messages.
	Origin Origin
}

// Origin is the place where a program was found.
type Origin string

// The origins, in the order in which they are tried.
const (
	FromEnvironment Origin = "SLIPWAY_CLUSTER"
	FromNeighbour   Origin = "beside slipway"
	FromCache       Origin = "cache"
	FromBuild       Origin = "built"
)

// Finder finds the program. The zero value of every field but Getenv and Handler
// asks the running process.
type Finder struct {
	Getenv  func(string) string
	Handler report.Handler

	executable func() (string, error) // slipway's own path
	recorded   string                 // root of the sources that slipway was built from, if known
	version    string                 // of slipway's module, if it has one
	revision   string                 // commit that slipway was built from, if it is known and nothing was changed
	stamp      release.Stamp          // of slipway's release, with the key of its downloads
	told       sync.Map               // paths of programs that a warning was about
}

// NewFinder returns a finder for the running process.
func NewFinder(getenv func(string) string, h report.Handler) *Finder {
	return &Finder{Getenv: getenv, Handler: h, executable: os.Executable, recorded: recordedRoot(), version: moduleVersion(), revision: ownRevision(), stamp: release.Stamped()}
}

// ErrNotFound is returned by [Finder.Find] when the program is in none of the places.
var ErrNotFound = errors.New("no slipway-cluster program")

// Find looks for the program and never builds it.
func (f *Finder) Find(ctx context.Context) (Program, error) {
	if path := f.Getenv("SLIPWAY_CLUSTER"); path != "" {
		return f.named(ctx, path)
	}
	if p, ok := f.neighbour(ctx); ok {
		return p, nil
	}
	src, err := f.source(clusterProduct())
	if err != nil {
		return Program{}, errors.Join(ErrNotFound, err)
	}
	slot, err := f.slot(clusterProduct(), src)
	if err != nil {
		return Program{}, err
	}
	if f.filled(slot) {
		slot.touch()
		return Program{slot.program(), FromCache}, nil
	}
	return Program{}, ErrNotFound
}

// Ensure finds the program or builds it.
func (f *Finder) Ensure(ctx context.Context) (Program, error) {
	p, err := f.Find(ctx)
	if !errors.Is(err, ErrNotFound) {
		return p, err
	}
	path, err := f.obtain(ctx, clusterProduct())
	if err != nil {
		return Program{}, err
	}
	return Program{path, FromBuild}, nil
}

// named checks the program that the user named.
func (f *Finder) named(ctx context.Context, path string) (Program, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return Program{}, err
	}
	err = sound(path)
	if err == nil {
		err = f.speaks(ctx, path)
	}
	if err != nil {
		if ctx.Err() != nil {
			return Program{}, ctx.Err()
		}
		return Program{}, &report.Error{What: "SLIPWAY_CLUSTER names no usable cluster program", Where: path, Err: err,
			Hint: "use the slipway-cluster program of this slipway's version; unset SLIPWAY_CLUSTER to let slipway find or build it"}
	}
	f.touch(path)
	return Program{path, FromEnvironment}, nil
}

// neighbour looks beside slipway's own executable.
func (f *Finder) neighbour(ctx context.Context) (Program, bool) {
	path, ok := f.besideSlipway(clusterProduct())
	if !ok {
		return Program{}, false
	}
	if err := f.speaks(ctx, path); err != nil {
		f.passOver(path, err)
		return Program{}, false
	}
	return Program{path, FromNeighbour}, true
}

// speaks asks a program for its protocol.
func (f *Finder) speaks(ctx context.Context, path string) error {
	v, err := f.ask(ctx, path)
	if err == nil && v.Protocol != protocol.Number {
		err = otherProtocol(v)
	}
	return err
}

// errProtocol is why a program of another version is not used.
var errProtocol = errors.New("uses another protocol")

func otherProtocol(v protocol.Version) error {
	return fmt.Errorf("%w: slipway-cluster %s uses protocol %d, this slipway uses %d", errProtocol, v.Version, v.Protocol, protocol.Number)
}

// probeTime is how long a program may take to tell its version: it is large, and a
// cold disk is slow.
const probeTime = 20 * time.Second

// probe asks the program at path for its version.
func probe(ctx context.Context, path string) (protocol.Version, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	cmd, err := process.CommandContext(ctx, path, "version")
	if err != nil {
		return protocol.Version{}, err
	}
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if ctx.Err() == context.DeadlineExceeded {
		return protocol.Version{}, fmt.Errorf("`%s version` did not answer within %s", name, probeTime)
	}
	if err != nil {
		return protocol.Version{}, plain(err)
	}
	var v protocol.Version
	if err := json.Unmarshal(out, &v); err != nil {
		return protocol.Version{}, fmt.Errorf("`%s version` answered %.80q: %w", name, out, err)
	}
	return v, nil
}

// plain takes away the operation and the path that err repeats.
func plain(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// fileName is the name of a program's file.
func fileName(program string) string {
	if runtime.GOOS == "windows" {
		return program + ".exe"
	}
	return program
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Lookup is [Finder.Find] with ok for the absence of a program.
func (f *Finder) Lookup(ctx context.Context) (p Program, ok bool, err error) {
	p, err = f.Find(ctx)
	if errors.Is(err, ErrNotFound) {
		return Program{}, false, nil
	}
	return p, err == nil, err
}
