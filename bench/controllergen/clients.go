package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/bench/build"
	"github.com/slipway-dev/slipway/bench/sidebyside"
)

const (
	sourceGroup   = "source.toolkit.fluxcd.io"
	clientsFolder = "clients"
)

// clients measures typed clients after an edit, against the four programs of code-generator as kube_codegen.sh calls
// them. The programs that both build for it are built before.
func clients(ctx context.Context, b *bench) ([]sidebyside.Figure, error) {
	dir, err := b.source(ctx, "clients", "./v1", map[string]string{"": sourceModule})
	if err != nil {
		return nil, err
	}
	version, err := build.ClientGo(ctx)
	if err != nil {
		return nil, err
	}
	get := exec.CommandContext(ctx, "go", "get", "k8s.io/client-go@"+version)
	get.Dir, get.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	if output, err := get.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", get, err, output)
	}
	if err := askForClients(dir); err != nil {
		return nil, err
	}
	peers, err := b.codeGenerators(ctx)
	if err != nil {
		return nil, err
	}
	ours := side{name: "slipway", copy: filepath.Join(b.dir, "ours"),
		command: []string{b.slipway, "generate", "clients", "--dir", clientsFolder, "--group", sourceGroup}}
	peer := side{name: "code-generator", copy: filepath.Join(b.dir, "peer"), command: []string{"sh", "-ec", peers}}
	edit := func(dir string, run int) error {
		return fieldIn(filepath.Join(dir, "v1", "gitrepository_types.go"), "GitRepositorySpec", run)
	}
	figures, err := b.turns(ctx, contest{name: "clients, one field changed", project: dir, prepare: edit, bar: barClients}, ours, peer)
	if err != nil {
		return nil, err
	}
	return figures, sameFiles(filepath.Join(ours.copy, clientsFolder), filepath.Join(peer.copy, clientsFolder))
}

// askForClients makes a module a project with one version, whose kind GitRepository gets a client.
func askForClients(dir string) error {
	const kind = "type GitRepository struct"
	path := filepath.Join(dir, "v1", "gitrepository_types.go")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !bytes.Contains(text, []byte(kind)) {
		return fmt.Errorf("%s: %w", path, errNoType)
	}
	name, _, _ := strings.Cut(sourceModule, "@")
	project := "domain: toolkit.fluxcd.io\nlayout:\n- go.kubebuilder.io/v4\nprojectName: source\nrepo: " + name + "\nversion: \"3\"\n"
	return errors.Join(
		os.RemoveAll(filepath.Join(dir, "v1beta1")), os.RemoveAll(filepath.Join(dir, "v1beta2")),
		os.WriteFile(path, bytes.Replace(text, []byte(kind), []byte("// +genclient\n"+kind), 1), 0o644),
		os.WriteFile(filepath.Join(dir, "PROJECT"), []byte(project), 0o644),
		os.MkdirAll(filepath.Join(dir, "hack"), 0o755),
		os.WriteFile(filepath.Join(dir, "hack", "boilerplate.go.txt"), []byte("// A header.\n"), 0o644),
	)
}

// codeGenerators builds code-generator's programs and returns the shell commands by which kube_codegen.sh calls them.
func (b *bench) codeGenerators(ctx context.Context) (commands string, err error) {
	module, _, _ := strings.Cut(sourceModule, "@")
	version, pkg := module+"/v1", module+"/"+clientsFolder+"/"
	for _, run := range [][]string{
		{"applyconfiguration-gen", "applyconfiguration", version},
		{"client-gen", "clientset", "--clientset-name", "versioned", "--apply-configuration-package", pkg + "applyconfiguration", "--input-base", "", "--input", version},
		{"lister-gen", "listers", version},
		{"informer-gen", "informers", "--versioned-clientset-package", pkg + "clientset/versioned", "--listers-package", pkg + "listers", version},
	} {
		program, err := build.CodeGenerator(ctx, b.dir, run[0])
		if err != nil {
			return "", err
		}
		words := append([]string{program, "--go-header-file", "hack/boilerplate.go.txt",
			"--output-dir", clientsFolder + "/" + run[1], "--output-pkg", pkg + run[1]}, run[2:]...)
		commands += "'" + strings.Join(words, "' '") + "'\n"
	}
	return commands, nil
}
