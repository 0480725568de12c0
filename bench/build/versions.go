package build

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/mod/semver"
)

const (
	tools          = "sigs.k8s.io/controller-tools"
	controllerGen  = tools + "/cmd/controller-gen"
	oldestLanguage = "1.22.0" // that the oracle's sources need; aliases are known since 1.23.0
)

// raised are the versions of golang.org/x/tools with which old versions of controller-tools are compiled: those that
// they require are no Go of today's.
var raised = map[string]string{"v0.14": "v0.26.0", "v0.15": "v0.26.0", "v0.16": "v0.26.0"}

// ControllerGenOf builds a version of controller-gen into dir and returns its path. Files that it writes name the
// version, if it compiles unchanged.
func ControllerGenOf(ctx context.Context, dir, version string) (string, error) {
	if raised[semver.MajorMinor(version)] != "" {
		return CompileWith(ctx, dir, "controller-gen", version, nil, controllerGen)
	}
	cmd := exec.CommandContext(ctx, "go", "install", controllerGen+"@"+version)
	cmd.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=", "CGO_ENABLED=0")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("install controller-gen %s: %w\n%s", version, err, out)
	}
	return filepath.Join(dir, "controller-gen"), nil
}

// CompileWith builds a main package that uses a version of controller-tools, in a module of its own in dir/module, and
// returns the program's path. Sources are the files of that module, by path; pkg may be in it or in controller-tools.
// The module has the language version of controller-tools, which decides what go/types knows.
func CompileWith(ctx context.Context, dir, name, version string, sources map[string]string, pkg string) (string, error) {
	language, err := languageOf(ctx, dir, version)
	if err != nil {
		return "", err
	}
	module := filepath.Join(dir, "module")
	text := fmt.Sprintf("module versions\n\ngo %s\n\nrequire %s %s\n", language, tools, version)
	if newer := raised[semver.MajorMinor(version)]; newer != "" {
		text += "require golang.org/x/tools " + newer + "\n"
	}
	files := map[string]string{"go.mod": text, "imports.go": "//go:build tools\n\npackage versions\n\nimport (\n\t_ \"" + strings.Join(imports, "\"\n\t_ \"") + "\"\n)\n"}
	for path, content := range sources {
		files[path] = content
	}
	for path, content := range files {
		path = filepath.Join(module, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return "", err
		}
	}
	tidy := exec.CommandContext(ctx, "go", "mod", "tidy")
	tidy.Dir, tidy.Env = module, append(os.Environ(), "GOFLAGS=-mod=mod")
	if out, err := tidy.CombinedOutput(); err != nil {
		return "", fmt.Errorf("find the modules of controller-tools %s: %w\n%s", version, err, out)
	}
	return Compile(ctx, module, dir, name, pkg)
}

// imports are the packages that a module of CompileWith can read besides its own.
var imports = []string{
	controllerGen, "k8s.io/api/core/v1", "k8s.io/api/apps/v1", "k8s.io/api/batch/v1", "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1",
	"k8s.io/apimachinery/pkg/apis/meta/v1", "k8s.io/apimachinery/pkg/api/resource", "k8s.io/apimachinery/pkg/runtime", "k8s.io/apimachinery/pkg/util/intstr",
}

// languageOf is the version of Go that a version of controller-tools is written in, if that is not too old.
func languageOf(ctx context.Context, dir, version string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", tools+"@"+version)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("download controller-tools %s: %w\n%s", version, err, out)
	}
	var info struct{ GoMod string }
	if err := json.Unmarshal(out, &info); err != nil {
		return "", err
	}
	text, err := os.ReadFile(info.GoMod)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		if language, is := strings.CutPrefix(strings.TrimSpace(line), "go "); is && semver.Compare("v"+language, "v"+oldestLanguage) > 0 {
			return language, nil
		}
	}
	return oldestLanguage, nil
}
