package clients

import (
	"context"
	"errors"
	"path/filepath"

	"golang.org/x/mod/modfile"

	"github.com/slipway-dev/slipway/generate/internal/generator"
	"github.com/slipway-dev/slipway/generate/internal/load"
	"github.com/slipway-dev/slipway/internal/codegen"
	"github.com/slipway-dev/slipway/internal/codegen/wire"
	"github.com/slipway-dev/slipway/internal/report"
)

// jobs are the runs of one pass, by the module in which their packages are looked up.
type jobs struct {
	pass     *generator.Pass
	requests []*job
	failed   bool // the generators did not like something
}

// job is what is asked in one module.
type job struct {
	wire.Request
	packages []*load.Package
}

func newJobs(pass *generator.Pass) *jobs { return &jobs{pass: pass} }

// add adds runs that read the packages, which are looked up in the module of the
// first one.
func (j *jobs) add(packages []*load.Package, runs []wire.Run) error {
	m, err := moduleOf(j.pass.Loader, packages[0].Dir)
	if err != nil {
		return err
	}
	for _, r := range j.requests {
		if r.Dir == m.dir {
			r.Runs = append(r.Runs, runs...)
			r.packages = append(r.packages, packages...)
			return nil
		}
	}
	j.requests = append(j.requests, &job{wire.Request{Dir: m.dir, Runs: runs}, packages})
	return nil
}

// do has everything generated. What the generators do not like is a finding.
func (j *jobs) do(ctx context.Context) error {
	for _, r := range j.requests {
		inputs, err := inputsOf(j.pass.Loader, r.Dir, r.packages)
		if err != nil {
			return err
		}
		files, err := j.pass.Codegen.Generate(ctx, r.Request, inputs)
		if errors.Is(err, codegen.ErrRefused) {
			j.failed = true
			j.pass.Report(report.Finding{Position: report.Position{File: r.packages[0].Dir}, Message: err.Error(), Fatal: true})
			continue
		}
		if err != nil {
			return err
		}
		for _, f := range files {
			j.pass.At(f.Path, f.Content)
		}
	}
	return nil
}

// goModule is a module that a folder lies in.
type goModule struct{ dir, path string }

// moduleOf finds the module of a folder, which need not exist yet.
func moduleOf(loader *load.Loader, dir string) (goModule, error) {
	for at := dir; ; {
		text, err := loader.ReadFile(filepath.Join(at, "go.mod"))
		if err == nil {
			if path := modfile.ModulePath(text); path != "" {
				return goModule{at, path}, nil
			}
			return goModule{}, &report.Error{What: "go.mod names no module", Where: filepath.Join(at, "go.mod")}
		}
		parent := filepath.Dir(at)
		if parent == at {
			return goModule{}, &report.Error{What: "no go.mod in this folder or above", Where: dir, Hint: "clients are generated for packages of a module; go mod init makes one"}
		}
		at = parent
	}
}
