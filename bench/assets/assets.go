// Package assets makes the folders of programs that envtest starts, the ones that KUBEBUILDER_ASSETS names: etcd,
// kube-apiserver and kubectl.
//
//	stock, err := assets.Stock(ctx)          // upstream's programs, each by itself
//	ours, err := assets.Ours(ctx, dir)       // three links to slipway-cluster
//
// The stock programs are built from the versions that the cluster's module pins, with the linker flags of Kubernetes'
// release build, and kept in the user's cache folder: linking an API server takes a while.
package assets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/bench/build"
)

// programVariable names a built slipway-cluster; without it one is built.
const programVariable = "SLIPWAY_CLUSTER"

// Program is the path of slipway-cluster. When it has to be built, it is built into dir, with its kubectl beside it.
func Program(ctx context.Context, dir string) (string, error) {
	if path := os.Getenv(programVariable); path != "" {
		return filepath.Abs(path)
	}
	return filepath.Join(dir, "slipway-cluster"), compile(ctx, dir, "", "./cmd/...")
}

// Ours links the programs' names to slipway-cluster in dir/ours and returns that folder.
func Ours(ctx context.Context, dir string) (string, error) {
	program, err := Program(ctx, dir)
	if err != nil {
		return "", err
	}
	folder := filepath.Join(dir, "ours")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	for _, name := range []string{"etcd", "kube-apiserver", "kubectl"} {
		if err := os.Symlink(program, filepath.Join(folder, name)); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	return folder, nil
}

// Stock builds upstream's programs of the same versions and returns their folder. A second call finds them built.
func Stock(ctx context.Context) (string, error) {
	version, err := KubernetesVersion(ctx)
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(cache, "slipway-bench", "kubernetes-"+version)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	for name, pkg := range map[string]string{
		"etcd":           "go.etcd.io/etcd/server/v3",
		"kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
		"kubectl":        "k8s.io/kubernetes/cmd/kubectl",
	} {
		if err := compile(ctx, filepath.Join(folder, name), releaseFlags(version), pkg); err != nil {
			return "", err
		}
	}
	return folder, nil
}

// releaseFlags tell the programs their version and leave out symbol tables, as Kubernetes' release build does.
func releaseFlags(version string) string {
	flags := []string{"-s", "-w"}
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		flags = append(flags,
			"-X", pkg+".gitVersion="+version,
			"-X", pkg+".gitMajor="+parts[0],
			"-X", pkg+".gitMinor="+parts[1])
	}
	return strings.Join(flags, " ")
}

// KubernetesVersion is the version that the cluster's module pins.
func KubernetesVersion(ctx context.Context) (string, error) {
	module, err := clusterModule(ctx)
	if err != nil {
		return "", err
	}
	out, err := exec.CommandContext(ctx, "go", "list", "-C", module, "-m", "-json", "k8s.io/kubernetes").Output()
	if err != nil {
		return "", fmt.Errorf("find the version of Kubernetes: %w", err)
	}
	var m struct{ Version string }
	if err := json.Unmarshal(out, &m); err != nil {
		return "", fmt.Errorf("find the version of Kubernetes: %w", err)
	}
	return m.Version, nil
}

func clusterModule(ctx context.Context) (string, error) {
	root, err := build.Root(ctx)
	return filepath.Join(root, "cluster"), err
}

// compile builds main packages as the cluster's module sees them, out being a program or the folder of several; go
// leaves a program that is up to date alone.
func compile(ctx context.Context, out, ldflags, packages string) error {
	module, err := clusterModule(ctx)
	if err != nil {
		return err
	}
	said, err := exec.CommandContext(ctx, "go", "build", "-C", module, "-ldflags", ldflags, "-o", out, packages).CombinedOutput()
	if err != nil {
		return fmt.Errorf("build %s: %w\n%s", packages, err, said)
	}
	return nil
}
