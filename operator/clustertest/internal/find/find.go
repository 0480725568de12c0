// Package find finds the slipway-cluster program: the one that SLIPWAY_CLUSTER
// names, or the one that the slipway command on PATH has or builds.
package find

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/fault"
	"github.com/slipway-dev/slipway/operator/clustertest/internal/process"
)

// Variable names the program.
const Variable = "SLIPWAY_CLUSTER"

// Program returns the path of the program. The slipway command writes to progress while it builds the program.
func Program(ctx context.Context, getenv func(string) string, progress io.Writer) (string, error) {
	if path := getenv(Variable); path != "" {
		return named(path)
	}
	slipway, err := exec.LookPath("slipway")
	if err != nil {
		return "", &fault.Error{What: "the cluster program is missing", Where: Variable + " is not set", Err: err,
			Hint: "install the slipway command, which builds the program, or set " + Variable + " to a slipway-cluster program",
			Next: "git clone https://github.com/slipway-dev/slipway ../slipway && go install -C ../slipway ./cmd/slipway && slipway cluster build"}
	}
	return build(ctx, slipway, progress)
}

// named checks the program that the environment names.
func named(path string) (string, error) {
	wrong := func(err error) error {
		return &fault.Error{What: "the cluster program does not exist at the path in " + Variable, Where: path, Err: err,
			Hint: "use the path of a slipway-cluster program, or unset the variable to use the slipway command on PATH",
			Next: "export " + Variable + "=$(slipway cluster build)"}
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", wrong(err)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", wrong(errors.Unwrap(err))
	case !info.Mode().IsRegular():
		return "", wrong(errors.New("it is not a file"))
	}
	return path, nil
}

// build has the slipway command find the program, or build it.
func build(ctx context.Context, slipway string, progress io.Writer) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd, err := process.Command(ctx, slipway, "cluster", "build")
	if err != nil {
		return "", err
	}
	// Not a file of ours: a build that outlives a killed test must not keep `go test` waiting for its output.
	cmd.Stdout, cmd.Stderr = &stdout, io.MultiWriter(&stderr, &announcing{w: progress})
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return "", &fault.Error{What: "the slipway command has no cluster program", Where: slipway + " cluster build", Err: err,
			Hint: strings.TrimSpace(stderr.String()), Next: "slipway cluster build"}
	}
	path := strings.TrimSpace(stdout.String())
	if !filepath.IsAbs(path) {
		return "", &fault.Error{What: "the slipway command printed no path of a cluster program", Where: slipway + " cluster build",
			Err: errors.New("it printed " + path), Hint: "use a slipway of the same version as this library", Next: "slipway version"}
	}
	return path, nil
}

// announcing says where output comes from before it passes on the first of it: silent commands stay silent.
type announcing struct {
	w    io.Writer
	once sync.Once
}

func (a *announcing) Write(p []byte) (int, error) {
	a.once.Do(func() {
		_, _ = io.WriteString(a.w, "clustertest: a program is missing; running `slipway cluster build`, which may take minutes:\n")
	})
	return a.w.Write(p)
}
