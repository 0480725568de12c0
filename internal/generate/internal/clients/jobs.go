package clients

import (
	"context"
	"errors"

	"github.com/slipway-dev/slipway/internal/codegen"
	"github.com/slipway-dev/slipway/internal/codegen/wire"
	"github.com/slipway-dev/slipway/internal/generate/internal/generator"
	"github.com/slipway-dev/slipway/internal/generate/internal/load"
	"github.com/slipway-dev/slipway/internal/report"
)

// jobs are the runs of one pass, by the module in which their packages are looked up.
type jobs struct {
	pass *generator.Pass
	// matching has the generators be of the version of the client-go that the module requires, for what they write is
	// compiled with it; else they are those that controller-gen has.
	matching bool
	version  string // of the generators, unless they match
	requests []*job
	failed   bool // the generators did not like something
}

// job is what is asked in one module.
type job struct {
	wire.Request
	version  string // of the generators
	packages []*load.Package
	without  []wire.Run // are done instead when the generator of apply configurations does not like what it reads
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
	version := j.version
	if j.matching {
		version = m.clientGo(j.pass.Loader)
	}
	j.requests = append(j.requests, &job{Request: wire.Request{Dir: m.dir, Runs: runs}, version: version, packages: packages})
	return nil
}

// do has everything generated. What the generators do not like is a finding.
func (j *jobs) do(ctx context.Context) error {
	for _, r := range j.requests {
		inputs, err := inputsOf(j.pass.Loader, r.Dir, r.packages)
		if err != nil {
			return err
		}
		r.World = world(j.pass.Loader, r.packages)
		files, err := j.generate(ctx, r, inputs)
		if errors.Is(err, codegen.ErrRefused) {
			j.failed = true
			j.pass.Report(report.Finding{Rule: report.RuleClients, Position: report.Position{File: r.packages[0].Dir}, Message: err.Error(), Fatal: true})
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

// world are the packages that the generators read, as far as their types say. The loader knows them faster than the go
// command, and checking the types of all that they import would take most of the time.
func world(loader *load.Loader, packages []*load.Package) []wire.Package {
	all, ok := loader.Closure(packages)
	if !ok {
		return nil
	}
	world := make([]wire.Package, len(all))
	for i, s := range all {
		world[i] = wire.Package{Path: s.Path, Name: s.Name, Files: s.Files, Imports: s.Imports}
	}
	return world
}

// generate has the files of one request made. Where apply configurations are the only thing that cannot be made, the
// rest is: their generator fails at types that the others are fine with, and clients are of use without it.
func (j *jobs) generate(ctx context.Context, r *job, inputs string) ([]wire.File, error) {
	files, err := j.pass.Codegen.Generate(ctx, r.version, r.Request, inputs)
	if errors.Is(err, codegen.ErrRefused) && len(r.World) > 0 {
		r.World = nil // the go command knows more, and the message is the generators' own
		files, err = j.pass.Codegen.Generate(ctx, r.version, r.Request, inputs)
	}
	if len(r.without) == 0 || !errors.Is(err, codegen.ErrRefused) {
		return files, err
	}
	files, without := j.pass.Codegen.Generate(ctx, r.version, wire.Request{Dir: r.Dir, Runs: r.without}, inputs)
	if without != nil {
		return nil, err
	}
	j.pass.Report(report.Finding{Rule: report.RuleClients, Position: report.Position{File: r.packages[0].Dir},
		Message: "clients have no apply configurations and no Apply methods: " + err.Error()})
	return files, nil
}
