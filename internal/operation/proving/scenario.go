package proving

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/kustomization"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
)

// file is a scenario as users write it.
type file struct {
	Command        []string          `yaml:"command"`        // of the operator; {kubeconfig} and {port} are replaced
	Operators      []operator        `yaml:"operators"`      // in place of Command
	ServiceAccount string            `yaml:"serviceAccount"` // NAMESPACE/NAME; empty: all rights
	Install        []string          `yaml:"install"`        // files and folders of manifests
	Env            map[string]string `yaml:"env"`            // of the operator
	Services       []service         `yaml:"services"`
	Patience       time.Duration     `yaml:"patience"`
	Steps          []step            `yaml:"steps"`
	Ignore         []ignore          `yaml:"ignore"`
	Invariants     []invariant       `yaml:"invariants"`
}

type step struct {
	Name     string         `yaml:"name"`
	Apply    map[string]any `yaml:"apply"`
	Patch    map[string]any `yaml:"patch"`
	Delete   map[string]any `yaml:"delete"`
	Scale    *scale         `yaml:"scale"`
	Exec     []string       `yaml:"exec"`
	Until    yaml.Node      `yaml:"until"` // see condition
	Patience time.Duration  `yaml:"patience"`
}

type scale struct {
	APIVersion string   `yaml:"apiVersion"`
	Kind       string   `yaml:"kind"`
	Metadata   metadata `yaml:"metadata"`
	Replicas   *int64   `yaml:"replicas"`
}

type metadata struct {
	Namespace string `yaml:"namespace"`
	Name      string `yaml:"name"`
}

type invariant struct {
	Name string `yaml:"name"`
	Kind string `yaml:"kind"` // of the objects that it is about; empty: all
	That string `yaml:"that"` // an expression
}

type ignore struct {
	Kind   string   `yaml:"kind"`
	Name   string   `yaml:"name"`
	Fields []string `yaml:"fields"`
}

// Limits of a scenario, far above what one needs.
const (
	maxScenario   = 1 << 20 // bytes
	maxSteps      = 500
	maxInvariants = 50
	maxServices   = 10
	maxOperators  = 5
	maxPatience   = 10 * time.Minute
)

// read reads the scenario.
func (b *bench) read() error {
	if b.proof.Scenario == "" {
		return nil
	}
	path := b.Absolute(b.proof.Scenario)
	text, err := safefs.ReadFile(path)
	if err != nil {
		return &report.Error{Class: report.BadProject, What: "the scenario cannot be read", Where: b.proof.Scenario, Err: err}
	}
	f, scenario, err := parse(text)
	if err != nil {
		return b.mistake(err)
	}
	b.command, b.scenario, b.env, b.services, b.operators = f.Command, scenario, f.Env, f.Services, f.Operators
	if len(f.Operators) > 0 {
		b.command = f.Operators[0].Command
	}
	for _, name := range f.Install {
		b.install = append(b.install, filepath.Join(filepath.Dir(path), name))
	}
	b.identity = account(f.ServiceAccount)
	return nil
}

// mistake says that the scenario is wrong.
func (b *bench) mistake(err error) error {
	return &report.Error{Class: report.BadProject, What: "the scenario has a mistake", Where: b.proof.Scenario, Err: err}
}

// objects are those that are installed before the operator begins.
func (b *bench) objects(ctx context.Context) (objects []*unstructured.Unstructured, err error) {
	for _, path := range b.install {
		info, err := os.Stat(path)
		if err != nil {
			return nil, b.mistake(err)
		}
		if info.IsDir() {
			built, err := b.Build(ctx, kustomization.Kustomization{Folder: path, Files: b.Files(path), Tell: b.Note})
			if err != nil {
				return nil, err
			}
			objects = append(objects, built...)
			continue
		}
		read, err := kustomization.ReadManifests(ctx, path)
		if err != nil {
			return nil, err
		}
		objects = append(objects, read...)
	}
	return objects, nil
}
