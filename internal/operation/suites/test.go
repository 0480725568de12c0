// Package suites runs a project's tests and its manager, and provides control planes as setup-envtest does.
package suites

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/clusterctl/clusterspec"
	"github.com/slipway-dev/slipway/internal/dev"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/delivery"
	"github.com/slipway-dev/slipway/internal/operation/generation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
	"github.com/slipway-dev/slipway/internal/ship"
)

// Suites describes the tests to run and their control planes.
type Suites struct {
	Args          []string // arguments of go test
	Controllers   *string  // --controllers, for [clusterspec.Flags]; nil if not given
	SimulatedPods string   // --simulated-pods
	SimulatedJobs string   // --simulated-jobs
	Shared        bool     // one cluster for all packages instead of a control plane each
	AsData        bool     // report results as events instead of printing go test's text
	Dependencies  bool     // install the CRDs of other modules that the project uses
}

// controllersVariable replaces --controllers for suites that start their own control planes, which read it themselves.
const controllersVariable = "SLIPWAY_CONTROLLERS"

// Test runs go test with a control plane for suites that use envtest. In a project it first brings generated files up
// to date.
func Test(ctx context.Context, s *operation.Session, t Suites) error {
	suites, err := t.read(s.Environ)
	if err != nil {
		return err
	}
	root, err := operation.ProjectRootOrNone(s)
	if err != nil {
		return err
	}
	if root == "" {
		if err := requireModule(s, t.Args); err != nil {
			return err
		}
	}
	if t.Dependencies {
		if suites.Definitions, err = suiteDefinitions(ctx, s, root); err != nil {
			return err
		}
	}
	if !t.Shared && !strings.EqualFold(s.Getenv("USE_EXISTING_CLUSTER"), "true") {
		runs := func(module, file string) bool {
			return dev.Tests(testFolder(s, root, t.Args), module, t.Args, s.Getenv).Has(file)
		}
		if err := provideForModule(ctx, s, runs); err != nil {
			return err
		}
	}
	clusters := clusterctl.New(s.Getenv, s.Handler)
	plane := dev.ControlPlane{Assets: clusters.Assets, Program: clusters.Program, Share: func(ctx context.Context, suites dev.Suites) (_ dev.Shared, end func() error, err error) {
		return shareCluster(ctx, s, suites)
	}}
	options := devOptions(s, testFolder(s, root, t.Args), generation.Generation{NoWebhooks: true})
	if root != "" {
		options.Files = s.Folder(root)
	}
	return dev.Test(ctx, options, root, suites, plane)
}

// requireModule refuses to test packages of this folder if it is in no module, before control planes are prepared. It
// allows packages of the standard library, which have no leading dot, and -C.
func requireModule(s *operation.Session, args []string) error {
	begins := func(prefix string) bool {
		return slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, prefix) })
	}
	_, _, err := operation.ModuleRoot(s)
	if err == nil || inWorkspace(s) || begins("-C") || dev.NamesPackage(args) && !begins(".") {
		return nil
	}
	return err
}

// inWorkspace reports whether the go command uses a go.work, or does not use modules at all.
func inWorkspace(s *operation.Session) bool {
	if s.Getenv("GO111MODULE") == "off" {
		return true
	}
	if set := s.Getenv("GOWORK"); set != "" {
		return set != "off"
	}
	for dir := s.Dir; ; dir = filepath.Dir(dir) {
		if operation.IsFile(dir, "go.work") {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

// testFolder returns where go test runs: the working folder. If no package is named and a project is below that, it is
// the project's folder.
func testFolder(s *operation.Session, root string, args []string) string {
	below := root != "" && root != s.Dir && operation.NestedProject(s) == root
	if !below || dev.NamesPackage(args) {
		return s.Dir
	}
	operation.NoteNestedProject(s, root)
	return root
}

// suiteDefinitions writes the CRDs of other modules to a file for suites, and returns its path. It returns "" if there
// are none.
func suiteDefinitions(ctx context.Context, s *operation.Session, root string) (string, error) {
	if root == "" {
		root, _, _ = operation.ModuleRoot(s) // without one, go test reports it
	}
	if root == "" {
		return "", nil
	}
	definitions, err := delivery.Dependencies(ctx, s, root, nil)
	if err != nil || len(definitions) == 0 {
		return "", err
	}
	return delivery.WriteDefinitions(s, definitions)
}

// read converts the options. Controllers come from the flag, else from the environment.
func (t Suites) read(environ []string) (dev.Suites, error) {
	suites := dev.Suites{Args: t.Args, Shared: t.Shared, AsData: t.AsData, SimulatedPods: t.SimulatedPods, SimulatedJobs: t.SimulatedJobs}
	text, where := t.Controllers, "--controllers"
	for _, pair := range environ {
		if value, ok := strings.CutPrefix(pair, controllersVariable+"="); ok && value != "" && t.Controllers == nil {
			text, where = &value, controllersVariable
		}
	}
	if text == nil {
		return suites, t.withoutControllers()
	}
	spec, err := clusterspec.Flags{"controllers": {*text}, "simulated-pods": {t.SimulatedPods}, "simulated-jobs": {t.SimulatedJobs}}.Spec("slipway test")
	if e, ok := errors.AsType[*report.Error](err); ok {
		e.Where = strings.Replace(e.Where, "--controllers", where, 1)
		return suites, e
	}
	if t.Controllers != nil || t.Shared {
		suites.Controllers, suites.ControllerNames = spec.RunControllers(), spec.ControllerNames
	}
	return suites, nil
}

// withoutControllers refuses the flags of simulated pods: without controllers there are no pods.
func (t Suites) withoutControllers() error {
	for flag, habit := range map[string]string{"--simulated-pods": t.SimulatedPods, "--simulated-jobs": t.SimulatedJobs} {
		if habit != "" {
			return &report.Error{What: flag + " is for simulated pods, which need controllers", Where: flag, Hint: "add --controllers",
				Next: "slipway test --help", Code: report.UsageCode}
		}
	}
	return nil
}

// shareCluster starts a cluster that ends with this process.
func shareCluster(ctx context.Context, s *operation.Session, suites dev.Suites) (_ dev.Shared, end func() error, err error) {
	spec := clusterctl.Spec{Controllers: &suites.Controllers, ControllerNames: suites.ControllerNames,
		SimulatedPods: suites.SimulatedPods, SimulatedJobs: suites.SimulatedJobs}
	session, err := clusterctl.New(s.Getenv, s.Handler).Tie(ctx, "test", clusterctl.Options{Spec: spec, Socket: true})
	if err != nil {
		return dev.Shared{}, nil, err
	}
	if err := define(ctx, s, session.Kubeconfig, suites.Definitions); err != nil {
		return dev.Shared{}, nil, errors.Join(err, session.Close())
	}
	return dev.Shared{Kubeconfig: session.Kubeconfig, Socket: session.Socket}, session.Close, nil
}

// define applies the CRDs in a file to a cluster. It does nothing if file is "".
func define(ctx context.Context, s *operation.Session, kubeconfig, file string) error {
	if file == "" {
		return nil
	}
	text, err := safefs.ReadFile(file)
	if err != nil {
		return err
	}
	var definitions []*unstructured.Unstructured
	for document := range strings.SplitSeq(string(text), "---\n") {
		if document == "" {
			continue
		}
		o := &unstructured.Unstructured{}
		if err := o.UnmarshalJSON([]byte(document)); err != nil {
			return fmt.Errorf("read %s: %w", file, err)
		}
		definitions = append(definitions, o)
	}
	cluster, err := ship.Connect(ship.Kubeconfig{Path: kubeconfig}, s.Handler)
	if err != nil {
		return err
	}
	return cluster.Apply(ctx, definitions, ship.ApplyOptions{})
}

// devOptions returns the options of the dev loop for this session, with children running in dir.
func devOptions(s *operation.Session, dir string, g generation.Generation) dev.Options {
	return dev.Options{
		Dir:     dir,
		Env:     slices.Clone(s.Environ),
		Stdout:  s.Output,
		Stderr:  s.Stderr,
		Handler: s.Handler,
		Generate: func(ctx context.Context, root string) error {
			_, err := generation.Regenerate(ctx, s, root, g)
			return err
		},
	}
}
