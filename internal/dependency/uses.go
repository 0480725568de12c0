package dependency

import (
	"path"
	"strings"

	"golang.org/x/mod/module"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// uses are the exported names that a project uses of packages, by import path.
type uses map[string]map[string]bool

func (u uses) add(pkg, name string) {
	if u[pkg] == nil {
		u[pkg] = map[string]bool{}
	}
	u[pkg][strings.TrimSuffix(name, "List")] = true
	u[pkg][name] = true
}

// versioned are the last elements of packages of API types: that of a version.
var versioned = lazy.Regexp(`^v[0-9]+((alpha|beta)[0-9]+)?$`)

// served are the modules that the API server itself serves the kinds of, or that have none.
var served = []string{"k8s.io/api", "k8s.io/apimachinery", "k8s.io/apiextensions-apiserver", "k8s.io/kube-aggregator", "k8s.io/client-go", "k8s.io/metrics"}

// usesOf are what the project's code and PROJECT use of packages that may have kinds.
func usesOf(p Project) (uses, error) {
	found := uses{}
	for _, r := range p.External {
		if r.Kind != "" && !isServed(r.Path) && module.CheckImportPath(r.Path) == nil {
			found.add(r.Path, r.Kind)
		}
	}
	modules := modulesOf(p)
	used, err := p.Code.Uses(func(pkg string) bool { return candidate(pkg, modules) && module.CheckImportPath(pkg) == nil })
	for pkg, names := range used {
		for _, name := range names {
			found.add(pkg, name)
		}
	}
	return found, err
}

// modulesOf are the modules that go.mod names: its own, with a true value, and those that it requires. Their roots,
// such as example.com/patch/v5, look like packages of a version.
func modulesOf(p Project) map[string]bool {
	own, required := p.Code.Modules()
	modules := map[string]bool{}
	for _, path := range required {
		modules[path] = false
	}
	if own != "" {
		modules[own] = true
	}
	return modules
}

// candidate reports whether a package may have kinds of another module.
func candidate(pkg string, modules map[string]bool) bool {
	if _, isModule := modules[pkg]; isModule || isServed(pkg) || !versioned().MatchString(path.Base(pkg)) {
		return false
	}
	first, _, _ := strings.Cut(pkg, "/")
	if !strings.Contains(first, ".") {
		return false // of the standard library
	}
	for path, own := range modules {
		if own && strings.HasPrefix(pkg, path+"/") {
			return modulesBelow(pkg, path, modules)
		}
	}
	return true
}

// modulesBelow reports whether a package below the project's own module is of another module that go.mod requires.
func modulesBelow(pkg, own string, modules map[string]bool) bool {
	for path := range modules {
		if strings.HasPrefix(path, own+"/") && strings.HasPrefix(pkg, path+"/") {
			return true
		}
	}
	return false
}

func isServed(pkg string) bool {
	for _, path := range served {
		if pkg == path || strings.HasPrefix(pkg, path+"/") {
			return true
		}
	}
	return false
}
