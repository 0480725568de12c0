package proving

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/kustomization"
	"github.com/slipway-dev/slipway/internal/prove"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
)

// file is a scenario as users write it.
type file struct {
	Command        []string      `yaml:"command"`        // of the operator; {kubeconfig} is replaced
	ServiceAccount string        `yaml:"serviceAccount"` // NAMESPACE/NAME; empty: all rights
	Install        []string      `yaml:"install"`        // files and folders of manifests
	Patience       time.Duration `yaml:"patience"`
	Steps          []step        `yaml:"steps"`
	Ignore         []ignore      `yaml:"ignore"`
}

type step struct {
	Name   string         `yaml:"name"`
	Apply  map[string]any `yaml:"apply"`
	Patch  map[string]any `yaml:"patch"`
	Delete map[string]any `yaml:"delete"`
}

type ignore struct {
	Kind   string   `yaml:"kind"`
	Name   string   `yaml:"name"`
	Fields []string `yaml:"fields"`
}

// maxScenario bounds a scenario's file, in bytes.
const maxScenario = 1 << 20

// read reads the scenario.
func (b *bench) read() error {
	if b.proof.Scenario == "" {
		return nil
	}
	path := b.Absolute(b.proof.Scenario)
	text, err := safefs.ReadFile(path)
	if err != nil {
		return &report.Error{What: "the scenario cannot be read", Where: b.proof.Scenario, Err: err, Code: report.UsageCode}
	}
	if len(text) > maxScenario {
		return b.mistake(errors.New("it is larger than 1 MiB"))
	}
	var f file
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&f); err != nil {
		return b.mistake(err)
	}
	b.command = f.Command
	b.scenario.Patience = f.Patience
	for i, s := range f.Steps {
		made, err := s.step()
		if err != nil {
			return b.mistake(fmt.Errorf("step %d: %w", i+1, err))
		}
		b.scenario.Steps = append(b.scenario.Steps, made)
	}
	if len(f.Steps) == 0 {
		return b.mistake(errors.New("it has no steps"))
	}
	for _, i := range f.Ignore {
		b.scenario.Ignore = append(b.scenario.Ignore, prove.Ignore(i))
	}
	for _, name := range f.Install {
		b.install = append(b.install, filepath.Join(filepath.Dir(path), name))
	}
	if f.ServiceAccount != "" {
		namespace, name := filepath.Split(f.ServiceAccount)
		b.identity = prove.Identity(clusterctl.ServiceAccount(filepath.Clean(namespace), name))
	}
	return nil
}

func (b *bench) mistake(err error) error {
	if wrong, ok := errors.AsType[*yaml.TypeError](err); ok {
		texts := slices.Clone(wrong.Errors)
		for i, text := range texts {
			texts[i], _, _ = strings.Cut(text, " in type ") // of Go, which no user knows
		}
		err = errors.New(strings.Join(texts, "; "))
	}
	return &report.Error{What: "the scenario has a mistake", Where: b.proof.Scenario, Err: err, Code: report.UsageCode}
}

var errStep = errors.New("a step has one of apply, patch and delete, with an object's apiVersion, kind and metadata.name")

func (s step) step() (made prove.Step, err error) {
	given := 0
	made.Name = s.Name
	for object, into := range map[*map[string]any]*map[string]any{&s.Apply: &made.Apply, &s.Patch: &made.Patch, &s.Delete: &made.Delete} {
		if *object == nil {
			continue
		}
		given++
		encoded, err := json.Marshal(*object)
		if err == nil {
			err = utiljson.Unmarshal(encoded, into)
		}
		if err != nil {
			return made, err
		}
		o := unstructured.Unstructured{Object: *into}
		if o.GetAPIVersion() == "" || o.GetKind() == "" || o.GetName() == "" {
			return made, errStep
		}
	}
	if given != 1 {
		return made, errStep
	}
	return made, nil
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
