package repotest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// splitters are the files that judge addresses or cut text at an @, and what of. Names of images and addresses of
// registries are the business of internal/image/reference, and in the cluster's module of registry/places.
var splitters = map[string]string{
	"internal/image/reference/parts.go":           "it is the one for names of images",
	"internal/dev/webhookproxy/certificate.go":    "an IP address, not its text",
	"internal/explain/admission.go":               "the address that a webhook listens at",
	"internal/download/download.go":               "the address of a mirror",
	"internal/generate/internal/clients/apply.go": "options of a generator",
	"internal/operation/generation/generate.go":   "a module with a version",
	"internal/recipe/command.go":                  "a package with a version",
	"internal/makefile/tool.go":                   "a package with a version",
	"internal/makefile/tools.go":                  "a package with a version",
	"internal/scaffold/internal/gomod/fetch.go":   "a module with a version",
	"internal/scaffold/internal/kind/kind.go":     "a module with a version",
	"cluster/realnode/hostports/wanted.go":        "an IP address of a pod",
	"cluster/registry/peer/peer_linux.go":         "the address of a socket",
	"cluster/registry/places/places.go":           "it is the one of the cluster's module",
}

// namers are the packages that know the library for names of images; others ask them.
var namers = []string{"internal/image", "internal/clusterctl/loaded", "cluster/registry", "cluster/realnode/imagestore"}

// TestOneKnowsNamesOfImages: no other part takes such a name apart, or knows which addresses are this machine's.
func TestOneKnowsNamesOfImages(t *testing.T) {
	splits := regexp.MustCompile(`\.IsLoopback\(\)|strings\.(Cut|CutSuffix|Index|LastIndex|Split|SplitN)\([^\n]*"@"|strings\.\w*Byte\([^\n]*'@'`)
	var used []string
	for name, text := range goFiles(t) {
		if splits.MatchString(text) {
			used = append(used, name)
			if splitters[name] == "" {
				t.Errorf("%s splits text at an @ or judges an address: internal/image/reference does for images, or say here of what", name)
			}
		}
		if strings.Contains(text, `"github.com/google/go-containerregistry/pkg/name"`) && !slices.ContainsFunc(namers, func(n string) bool { return strings.HasPrefix(name, n+"/") }) {
			t.Errorf("%s knows names of images: ask internal/image/reference", name)
		}
	}
	for name := range splitters {
		if !slices.Contains(used, name) {
			t.Errorf("%s does not split text at an @, nor judge an address", name)
		}
	}
}

// goFiles are the texts of the packages that are shipped, by their paths below the root.
func goFiles(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, p := range packages(t) {
		if first, _, _ := strings.Cut(p.dir, "/"); !slices.Contains([]string{"internal", "project", "cmd", "cluster", "operator"}, first) {
			continue
		}
		files, err := filepath.Glob(filepath.Join(root, p.dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(file, "_test.go") {
				texts[p.dir+"/"+filepath.Base(file)] = string(text)
			}
		}
	}
	return texts
}
