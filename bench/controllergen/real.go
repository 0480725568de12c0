package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/slipway-dev/slipway/bench/fetch"
	"github.com/slipway-dev/slipway/bench/sidebyside"
)

// The real code that is measured on.
const (
	monitoringModule = "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring@v0.94.0"
	karpenterModule  = "sigs.k8s.io/karpenter@v1.8.0"
	sourceModule     = "github.com/fluxcd/source-controller/api@v1.6.2"
	clusterModule    = "sigs.k8s.io/cluster-api@v1.12.2"
)

// The bars.
const (
	barChange     = 0.05
	barUnchanged  = 0.01
	barRepository = 0.05
	barEmpty      = 0.15
	barMemory     = 0.3
	barApply      = 0.1
	barClients    = 0.2
)

// monitoring is the API of the Prometheus operator: ten kinds, some of the largest there are.
func (b *bench) monitoring(ctx context.Context) (dir string, err error) {
	return b.source(ctx, "monitoring", "./...", map[string]string{"": monitoringModule})
}

// source is a folder of modules, each in its place, with all that the packages import on this machine.
func (b *bench) source(ctx context.Context, name, packages string, modules map[string]string) (string, error) {
	dir := filepath.Join(b.dir, name)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	for place, module := range modules {
		if err := fetch.Module(ctx, module, filepath.Join(dir, place)); err != nil {
			return "", err
		}
	}
	for place := range modules {
		cmd := exec.CommandContext(ctx, "go", "list", "-e", "-deps", packages)
		cmd.Dir = filepath.Join(dir, place)
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
		if err := cmd.Run(); err != nil {
			return "", fmt.Errorf("download what %s imports: %w", modules[place], err)
		}
	}
	return dir, nil
}

// change measures a run after an edit.
func change(ctx context.Context, b *bench) ([]sidebyside.Figure, error) {
	dir, err := b.monitoring(ctx)
	if err != nil {
		return nil, err
	}
	return b.hold(ctx, contest{name: "one field changed", project: dir, prepare: anotherField, bar: barChange, memory: barMemory})
}

var errNoType = errors.New("the type to edit is not there")

// anotherField gives a type of the monitoring API another field.
func anotherField(dir string, run int) error {
	return fieldIn(filepath.Join(dir, "v1", "podmonitor_types.go"), "PodMonitorSpec", run)
}

// versions measures a run after an edit in the newer of two large versions of an API, which the older one imports to
// convert its objects.
func versions(ctx context.Context, b *bench) ([]sidebyside.Figure, error) {
	const packages = "./api/core/..."
	dir, err := b.source(ctx, "cluster-api", packages, map[string]string{"": clusterModule})
	if err != nil {
		return nil, err
	}
	edit := func(dir string, run int) error {
		return fieldIn(filepath.Join(dir, "api", "core", "v1beta2", "machine_types.go"), "MachineSpec", run)
	}
	return b.hold(ctx, contest{name: "one field changed in one of two versions", project: dir, paths: packages, prepare: edit, bar: barChange, memory: barMemory})
}

// fieldIn gives a type one more field, with another name and type before each run.
func fieldIn(path, name string, run int) error {
	head := "type " + name + " struct {\n"
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, after, found := bytes.Cut(text, []byte(head))
	if !found {
		return fmt.Errorf("%s: %w", path, errNoType)
	}
	if run > 0 {
		_, after, _ = bytes.Cut(after, []byte("\n")) // the field of the run before
	}
	field := fmt.Sprintf("\tField%d *%s `json:\"field%[1]d,omitempty\"`\n", run, [...]string{"string", "int32", "bool"}[run%3])
	return os.WriteFile(path, fmt.Appendf(nil, "%s%s%s%s", before, head, field, after), 0o644)
}

// unchanged measures a run that has nothing to do.
func unchanged(ctx context.Context, b *bench) ([]sidebyside.Figure, error) {
	dir, err := b.monitoring(ctx)
	if err != nil {
		return nil, err
	}
	return b.hold(ctx, contest{name: "nothing changed", project: dir, bar: barUnchanged})
}

// repository measures a whole repository of several modules, with an edit before each run.
func repository(ctx context.Context, b *bench) ([]sidebyside.Figure, error) {
	const nested = "third_party/monitoring"
	dir, err := b.source(ctx, "repository", "./...", map[string]string{"": karpenterModule, nested: monitoringModule, "third_party/source": sourceModule})
	if err != nil {
		return nil, err
	}
	edit := func(dir string, run int) error { return anotherField(filepath.Join(dir, nested), run) }
	return b.hold(ctx, contest{name: "repository of three modules", project: dir, prepare: edit, bar: barRepository, memory: barMemory})
}

// emptyCaches measures runs that find neither our cache nor the go command's build cache.
func emptyCaches(ctx context.Context, b *bench) ([]sidebyside.Figure, error) {
	dir, err := b.monitoring(ctx)
	if err != nil {
		return nil, err
	}
	goCache := filepath.Join(b.dir, "gocache")
	forget := func(string, int) error { return errors.Join(os.RemoveAll(goCache), os.RemoveAll(b.cache)) }
	return b.hold(ctx, contest{name: "empty caches", project: dir, env: []string{"GOCACHE=" + goCache}, prepare: forget, bar: barEmpty, memory: barMemory})
}

// check measures what the check of CRDs, which controller-gen does not have, adds to `slipway generate`.
func check(ctx context.Context, b *bench) ([]sidebyside.Figure, error) {
	dir, err := b.monitoring(ctx)
	if err != nil {
		return nil, err
	}
	generate := []string{b.slipway, "generate"}
	with := side{name: "with the check", copy: filepath.Join(b.dir, "ours"), command: generate, env: []string{"SLIPWAY_CHECK=" + os.Getenv("SLIPWAY_CHECK")}}
	without := side{name: "without", copy: filepath.Join(b.dir, "peer"), command: generate}
	return b.turns(ctx, contest{name: "slipway generate with its check of CRDs, against without", project: dir, prepare: inProject}, with, without)
}

// inProject is anotherField in what is made a project.
func inProject(dir string, run int) error {
	const file = "domain: coreos.com\nlayout:\n- go.kubebuilder.io/v4\nprojectName: monitoring\nrepo: github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring\nversion: \"3\"\n"
	if err := os.WriteFile(filepath.Join(dir, "PROJECT"), []byte(file), 0o644); err != nil {
		return err
	}
	return anotherField(dir, run)
}
