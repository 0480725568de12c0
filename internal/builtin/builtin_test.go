package builtin_test

import (
	"cmp"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/semver"

	"github.com/slipway-dev/slipway/internal/builtin"
)

var update = flag.Bool("update", false, "rewrite kinds.txt")

// constructor is how client-go makes a client: the type of its objects, the resource, and the namespace.
var constructor = regexp.MustCompile(`gentype\.New[A-Za-z]*\[\s*\*\w+\.(\w+)[,\]](?s:.*?)\(\s*"([a-z]+)",\s*c\.RESTClient\(\),\s*scheme\.ParameterCodec,\s*(namespace|""),`)

// TestKinds: the kinds are those of the types, and the resources those that there are clients for.
func TestKinds(t *testing.T) {
	api, version := module(t, "k8s.io/api")
	definitions, _ := module(t, "k8s.io/apiextensions-apiserver")
	clients, _ := module(t, "k8s.io/client-go")
	var lines []string
	for _, file := range slices.Concat(glob(t, api, "*/*/register.go"), glob(t, definitions, "pkg/apis/apiextensions/*/register.go")) {
		dir := filepath.Dir(file)
		folder := filepath.Join(filepath.Base(filepath.Dir(dir)), filepath.Base(dir))
		resources := map[string]string{}
		typed, err := filepath.Glob(filepath.Join(clients, "kubernetes", "typed", folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		more, err := filepath.Glob(filepath.Join(definitions, "pkg", "client", "clientset", "clientset", "typed", folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, client := range append(typed, more...) {
			for _, found := range constructor.FindAllStringSubmatch(text(t, client), -1) {
				resources[found[1]] = found[2] + map[string]string{`""`: "/cluster"}[found[3]]
			}
		}
		if strings.HasPrefix(folder, "apiserverinternal") || len(resources) == 0 {
			continue // not for clients
		}
		words := []string{groupOf(t, dir), filepath.Base(dir)}
		for _, kind := range objects(t, dir) {
			if resource := resources[kind]; resource != "" {
				kind += "=" + resource
			}
			words = append(words, kind)
		}
		lines = append(lines, strings.Join(words, " ")+"\n")
	}
	slices.Sort(lines)
	got := semver.MajorMinor(version) + "\n" + strings.Join(lines, "")
	if *update {
		if err := os.WriteFile("kinds.txt", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if text(t, "kinds.txt") != got {
		t.Errorf("kinds.txt is not up to date, run this test with -update:\n%s", got)
	}
}

// TestRead: what is asked for is in the list, a part of another resource among the kinds alone.
func TestRead(t *testing.T) {
	for _, want := range []struct {
		group string
		kind  builtin.Kind
	}{
		{"core", builtin.Kind{Version: "v1", Name: "Pod", Resource: "pods"}},
		{"core", builtin.Kind{Version: "v1", Name: "Binding"}},
		{"apps", builtin.Kind{Version: "v1beta1", Name: "Deployment", Resource: "deployments"}},
		{"rbac.authorization.k8s.io", builtin.Kind{Version: "v1", Name: "ClusterRole", Resource: "clusterroles", ClusterScoped: true}},
		{"apiextensions.k8s.io", builtin.Kind{Version: "v1", Name: "CustomResourceDefinition", Resource: "customresourcedefinitions", ClusterScoped: true}},
	} {
		if !slices.Contains(builtin.Kinds(want.group), want.kind) {
			t.Errorf("%s has no %v", want.group, want.kind)
		}
	}
	for _, absent := range []string{"PodList", "PodLogOptions", "PodSpec", "List"} {
		if slices.ContainsFunc(builtin.Kinds("core"), func(k builtin.Kind) bool { return k.Name == absent }) {
			t.Errorf("%s is no kind of objects", absent)
		}
	}
	if names := builtin.Resources("apps"); len(names) != 5 || slices.Contains(names, "") {
		t.Errorf("apps has the resources %q", names)
	}
	if builtin.Kinds("example.com") != nil || builtin.Resources("example.com") != nil {
		t.Error("example.com is Kubernetes' own")
	}
	if !semver.IsValid(builtin.Release()) {
		t.Errorf("the release is %q", builtin.Release())
	}
}

// module is the folder and the version of a module that slipway is built with.
func module(t *testing.T, path string) (dir, version string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}\n{{.Version}}", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	dir, version, _ = strings.Cut(strings.TrimSpace(string(out)), "\n")
	return dir, version
}

// objects are the names of the types of a package that have the metadata of objects.
func objects(t *testing.T, dir string) (names []string) {
	t.Helper()
	for _, file := range glob(t, dir, "*types*.go") {
		if strings.Contains(filepath.Base(file), "_generated") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, _ := n.(*ast.TypeSpec)
			if spec == nil {
				return true
			}
			fields, _ := spec.Type.(*ast.StructType)
			if fields != nil && embeds(fields, "TypeMeta") && embeds(fields, "ObjectMeta") {
				names = append(names, spec.Name.Name)
			}
			return false
		})
	}
	slices.Sort(names)
	return names
}

func embeds(fields *ast.StructType, name string) bool {
	return slices.ContainsFunc(fields.Fields.List, func(f *ast.Field) bool {
		selected, is := f.Type.(*ast.SelectorExpr)
		return is && len(f.Names) == 0 && selected.Sel.Name == name
	})
}

// groupOf is the name of the group whose types the package of a folder has; core is that without a name.
func groupOf(t *testing.T, dir string) string {
	t.Helper()
	found := regexp.MustCompile(`const GroupName = "([^"]*)"`).FindStringSubmatch(text(t, filepath.Join(dir, "register.go")))
	if found == nil {
		t.Fatalf("%s has no GroupName", dir)
	}
	return cmp.Or(found[1], "core")
}

// glob are the files below a folder that match a pattern.
func glob(t *testing.T, dir, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no %s: %v", dir, pattern, err)
	}
	return files
}

func text(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
