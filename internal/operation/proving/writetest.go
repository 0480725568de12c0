package proving

import (
	"errors"
	goparser "go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/prove"
	"github.com/slipway-dev/slipway/internal/prove/gotest"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
	"github.com/slipway-dev/slipway/internal/shellword"
)

// testModule has the package clustertest.
const testModule = "github.com/slipway-dev/slipway/operator"

// Why a finding of a project cannot be written as a test.
var (
	errNoController = errors.New("the project has no controller, beside which the test would be")
	errConfined     = errors.New("the manager works in one namespace only, which the test's cluster has not")
	errServes       = errors.New("the manager serves webhooks, which the test would have to serve")
	errNoFolder     = errors.New("the project has no folder with the CRDs, or none with the roles of the manager")
	errTestExists   = errors.New("the file exists")
)

// writeTest writes the finding of a replay as a test beside the suite of the project's first controller.
func (b *bench) writeTest(findings []prove.Finding) error {
	if len(findings) == 0 {
		b.Handler.Handle(report.Note{Text: "no test is written: the plan has no finding that counts"})
		return nil
	}
	code := b.Codebase(b.root)
	project, folder, err := b.testProject(code)
	var text []byte
	if err == nil {
		text, err = gotest.Render(findings[0], b.scenario, project)
	}
	if err != nil {
		return &report.Error{What: "the finding cannot be written as a test", Where: "--replay " + b.proof.Replay, Err: err}
	}
	file := filepath.Join(folder, "prove_"+findings[0].Plans[0].ID()+"_test.go")
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return &report.Error{Class: report.Conflict, What: "the test is not written", Where: file, Err: errors.Join(errTestExists, err), Hint: "it may have changes of yours: delete it to have it written anew"}
	}
	if err := safefs.Write(file, text, 0o644); err != nil {
		return err
	}
	b.Handler.Handle(report.Note{Text: "wrote " + file + ": it fails until the operator stands the failure"})
	if code.Required(testModule) == "" {
		version := operation.ReadVersion().Version
		if version == "(devel)" {
			version = "latest"
		}
		b.Handler.Handle(report.Note{Text: "the test needs a module: go get " + shellword.Quote(testModule+"@"+version)})
	}
	return nil
}

// testProject is what a test has to know of the project, and the folder for it.
func (b *bench) testProject(code *codebase.Codebase) (p gotest.Project, folder string, err error) {
	controllers, err := code.Controllers()
	if err != nil {
		return p, "", err
	}
	if len(controllers) == 0 {
		return p, "", errNoController
	}
	if b.confines() != "" {
		return p, "", errConfined
	}
	var served bool
	if p.Arguments, p.Environment, served = b.manager.Start(b.identity.Namespace); served {
		return p, "", errServes
	}
	made, err := code.Generation()
	if err != nil {
		return p, "", err
	}
	roles := code.ConfigFolder("rbac")
	if made.CRDFolder() == "" || roles == "" {
		return p, "", errNoFolder
	}
	license, err := code.License()
	if err != nil {
		return p, "", err
	}
	folder = filepath.Join(b.root, filepath.FromSlash(controllers[0].Dir))
	source, err := goparser.ParseFile(token.NewFileSet(), filepath.Join(b.root, filepath.FromSlash(controllers[0].File)), nil, goparser.PackageClauseOnly)
	if err != nil {
		return p, "", err
	}
	p.Package, p.Kinds = source.Name.Name, b.kinds
	if license.Text != "" {
		p.Header = strings.TrimSpace(license.Text) + "\n\n"
	}
	for to, from := range map[*string]string{&p.CRDs: made.CRDFolder(), &p.Roles: roles, &p.Manager: b.main} {
		path, err := filepath.Rel(folder, filepath.Join(b.root, filepath.FromSlash(from)))
		if err != nil {
			return p, "", err
		}
		*to = filepath.ToSlash(path)
	}
	return p, folder, nil
}
