package compile

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/git"
	"github.com/slipway-dev/slipway/internal/gocommand"
	"github.com/slipway-dev/slipway/internal/image/dockerfile"
	"github.com/slipway-dev/slipway/internal/image/store"
	"github.com/slipway-dev/slipway/internal/report"
)

// shown is how much of what the go command said is shown.
const shown = 20

// Compile compiles a program into a place of the store. Who gets a program closes it.
func (m Manager) Compile(ctx context.Context, b dockerfile.Build, p Platform, s store.Store) (program Program, err error) {
	arguments := m.arguments(b)
	lock, folder, err := s.Program(ctx, m.key(b, p, arguments))
	if err != nil {
		return Program{}, err
	}
	defer func() {
		if err != nil {
			_ = lock.Close() // what failed is told
		}
	}()
	path := filepath.Join(folder, store.ProgramFile)
	var said bytes.Buffer
	cmd := gocommand.Command{Dir: m.Dir, Env: m.variables(b, p), Args: append(arguments, "-o", path, b.Package), Stdout: &said, Stderr: &said}
	if err := cmd.Run(ctx); err != nil {
		return Program{}, m.explain(ctx, b, p, err, said.String(), folder)
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return Program{}, fmt.Errorf("read the compiled program: %w", err)
	}
	return Program{path, p, info, lock}, nil
}

// arguments are those of the go command, but for the output and the package. An image has no debugger, so its program
// has no tables for one, unless the recipe has flags for the compiler of its own.
func (m Manager) arguments(b dockerfile.Build) []string {
	arguments := append([]string{"build", "-trimpath", gocommand.NoDebugging}, b.Flags...)
	if !m.sources.stamped {
		arguments = append(arguments, "-buildvcs=false") // the last one counts
	}
	return arguments
}

// variables are those that the go command runs with.
func (m Manager) variables(b dockerfile.Build, p Platform) []string {
	return slices.Concat(m.env.With("GOWORK="+m.sources.workspace), git.Environment(), b.Env, p.environment())
}

// key names the place of a program: by what is compiled, and how.
func (m Manager) key(b dockerfile.Build, p Platform, arguments []string) string {
	all := slices.Concat(arguments, b.Env, []string{m.Dir, b.Package, p.String()})
	sum := sha256.Sum256([]byte(strings.Join(all, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// An Error is that the go command ran and did not compile the manager: the reason is in the code.
type Error struct{ Err error }

func (e Error) Error() string { return e.Err.Error() }

// Unwrap returns how the go command ended.
func (e Error) Unwrap() error { return e.Err }

func (m Manager) explain(ctx context.Context, b dockerfile.Build, p Platform, err error, said, out string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if e := m.env.Explain(said, out); e != nil {
		return e
	}
	refusal := &report.Error{Class: report.BadProject, What: "the manager does not compile for " + p.String(), Where: filepath.Join(m.Dir, b.Package), Err: Error{err}}
	linked, unread := codebase.Read(fileview.Disk(m.Dir), os.Getenv).Outside()
	if linked != "" || unread != nil {
		refusal.Where, refusal.Hint = cmp.Or(linked, refusal.Where), fileview.ErrOutside.Error()+", so the compiler's messages are not shown: put a copy of the file in the place of the link"
		return refusal
	}
	lines := strings.Split(strings.TrimSpace(said), "\n")
	if len(lines) > shown {
		lines = append(lines[:shown:shown], "…")
	}
	refusal.Hint = strings.Join(lines, "\n")
	return refusal
}
